// Asks the acquirer, over HTTP.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "keyed_post.hpp"

namespace payments {

/// What the acquirer is asked for. The same key must always come with the same charge.
struct Charge {
  std::int64_t amount_cents = 0;
  std::string currency;
  std::string payment_method_token;  ///< Goes to the acquirer, and nowhere else.
  std::string reference;
};

struct Approved {
  std::string charge_id;  ///< The acquirer's own, 1 to 255 bytes without NUL.
  std::string at;         ///< RFC 3339, as the acquirer wrote it.

  friend bool operator==(const Approved&, const Approved&) = default;
};

struct Declined {
  std::string charge_id;
  std::string at;

  friend bool operator==(const Declined&, const Declined&) = default;
};

using ChargeAnswer = std::variant<Approved, Declined>;

/// Nobody knows whether the charge was made; the same key asks again.
using AcquirerUnknown = examples::NotKnown;

/// Sends each charge once, on a connection of its own. Safe to share between threads.
class AcquirerClient {
 public:
  /// `http://HOST:PORT`. Throws as KeyedPost does.
  explicit AcquirerClient(std::string_view url);

  /// The acquirer's decision. Returns or throws within the deadline. Throws AcquirerUnknown, and std::invalid_argument
  /// where nothing can be sent.
  [[nodiscard]] ChargeAnswer charge(const std::string& idempotency_key, const Charge& charge,
                                    std::chrono::milliseconds deadline) const;

 private:
  examples::KeyedPost post_;
};

}  // namespace payments
