// What is bought, and what became of it.
#pragma once

#include <cstdint>
#include <string>

namespace payments {

/// What a client asks for. The payment method's token is not here: it tells one request from another (it is
/// in the fingerprint) and is kept nowhere.
struct Order {
  std::int64_t amount_cents = 0;
  std::string currency;
  std::string offering_id;
};

enum class Approval { authorized, declined };

/// Stands for the acquirer's decision: a pure rule, so that no outside call is made with a transaction open.
[[nodiscard]] constexpr Approval approve(const Order& order) {
  return order.amount_cents % 100 == 13 ? Approval::declined : Approval::authorized;
}

/// One row of the payments. Declined ones are kept too.
struct Payment {
  std::string id;  ///< A version 7 UUID.
  std::string principal;
  Order order;
  Approval approval = Approval::declined;
};

}  // namespace payments
