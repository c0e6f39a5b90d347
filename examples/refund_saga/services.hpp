// The port to the other services: what a step needs of them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "idem/idem.hpp"
#include "refund.hpp"

namespace refund_saga {

/// A service's decision.
struct Answer {
  bool accepted = false;
  std::string id;  ///< The service's own, of the effect or of the refusal.
};

class Services {
 public:
  virtual ~Services() = default;

  /// Sends the command at `path` once, under the key. What is no decision about it, such as a time-out, is
  /// idem::ResultUnknown.
  [[nodiscard]] virtual idem::CallResult<Answer> command(std::string_view path, const Refund& refund,
                                                         const std::string& idempotency_key,
                                                         std::chrono::milliseconds deadline) const = 0;
};

/// What all of the commands say of a refund, as JSON.
[[nodiscard]] std::string body_of(const Refund& refund);

}  // namespace refund_saga
