// What is bought, and what became of it.
#pragma once

#include <cstdint>
#include <string>

namespace payments {

/// What a client asks for. The payment method's token is not here: it tells one request from another (it is
/// in the fingerprint), and is kept no longer than the acquirer may have to be asked with it.
struct Order {
  std::int64_t amount_cents = 0;
  std::string currency;
  std::string offering_id;
};

enum class PaymentState {
  pending,  ///< The acquirer was not asked yet, or its answer is not known yet: it is asked again.
  authorized,
  declined,
  unknown,  ///< Nobody knows, and the acquirer must not be asked again: reconciliation finds out.
};

/// Stands for the acquirer's decision where there is none: a pure rule, so that no outside call is made with a
/// transaction open.
[[nodiscard]] constexpr PaymentState approve(const Order& order) {
  return order.amount_cents % 100 == 13 ? PaymentState::declined : PaymentState::authorized;
}

/// One row of the payments. Declined ones are kept too.
struct Payment {
  std::string id;  ///< A version 7 UUID.
  std::string principal;
  Order order;
  PaymentState state = PaymentState::pending;
  std::string charge_id{};  ///< The acquirer's own, once it has decided; empty where none was asked.
};

/// A payment that the acquirer is being asked about.
struct PendingCharge {
  Payment payment;
  std::string downstream_key;        ///< Under which the acquirer knows it.
  std::string payment_method_token;  ///< As long as it is pending.
};

}  // namespace payments
