// What the client of one request is told.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "idem/idem.hpp"

namespace payments {

struct Answer {
  std::string_view outcome;  ///< executed, replayed, in_progress, mismatch, unknown or invalid.
  idem::Response response;
  std::optional<std::chrono::milliseconds> retry_after{};
  std::optional<std::string> reason{};
  std::optional<idem::Delivery>
      redelivery{};  ///< What the payment's event came to, where it was delivered again.
};

/// 201 or 402 executed, the first answer's own replayed, 409 in_progress, 422 mismatch, unknown with the answer that is
/// stored (202), and 503 where there is none.
[[nodiscard]] Answer answer_to(const idem::Outcome& outcome);
/// 400 invalid.
[[nodiscard]] Answer refusal(std::string reason);

/// The lower-case hex digits of the SHA-256 of the body's bytes.
[[nodiscard]] std::string body_sha256(const idem::Response& response);

/// `{"line":N,"outcome":O,"status":S,"body_sha256":H}`, with `retry_after_ms` for 409, `reason` for 400,
/// and `redelivery` where there was one.
[[nodiscard]] std::string to_json(std::size_t line, const Answer& answer);

}  // namespace payments
