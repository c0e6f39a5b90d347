// What the acquirer is asked for, and what it decides.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include "not_known.hpp"

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

/// Asks an acquirer once, under an idempotency key, and returns its decision within the deadline or throws: AcquirerUnknown,
/// where nobody knows. AcquirerClient::charge() in production, a fake in the unit tests.
using AskAcquirer =
    std::function<ChargeAnswer(const std::string& key, const Charge&, std::chrono::milliseconds deadline)>;

}  // namespace payments
