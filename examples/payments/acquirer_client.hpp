// Asks the acquirer, over HTTP.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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

/// Nobody knows whether the charge was made: no answer in time, a connection that was lost (at any moment,
/// before the request too), an answer that is no decision about this charge. The same key asks again. Its
/// message holds nothing of what was sent or answered.
class AcquirerUnknown : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Sends each charge once, on a connection of its own. Safe to share between threads.
class AcquirerClient {
 public:
  /// `http://HOST:PORT`. The host is looked up here and not again, as a look-up keeps to no deadline. Throws
  /// std::invalid_argument for another URL, std::runtime_error for a host that is not found.
  explicit AcquirerClient(std::string_view url);

  /// The acquirer's decision. Returns or throws within the deadline, which holds for connecting, sending and reading
  /// together. Throws AcquirerUnknown; for a key that is not 1 to 255 visible ASCII characters without a
  /// percent sign, which some servers decode, std::invalid_argument, and nothing is sent.
  [[nodiscard]] ChargeAnswer charge(const std::string& idempotency_key, const Charge& charge,
                                    std::chrono::milliseconds deadline) const;

 private:
  std::string host_;
  int port_ = 0;
  std::string authority_;               // The Host header.
  std::vector<std::string> addresses_;  // In the order in which they are to be tried.
};

}  // namespace payments
