#include "payment_event.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace payments {

idem::OutboxMessage payment_event(const Payment& payment) {
  const bool authorized = payment.state == PaymentState::authorized;
  if (!authorized && payment.state != PaymentState::declined) {
    throw std::logic_error{"a payment that is not decided has no event"};
  }
  const nlohmann::ordered_json payload{{"payment_id", payment.id},
                                       {"principal", payment.principal},
                                       {"offering_id", payment.order.offering_id},
                                       {"amount_cents", payment.order.amount_cents},
                                       {"currency", payment.order.currency},
                                       {"charge_id", payment.charge_id}};
  return {.aggregate_type = "payment",
          .aggregate_id = payment.id,
          .event_type = authorized ? "PaymentAuthorized" : "PaymentDeclined",
          .payload = idem::text_payload(payload.dump()),
          .headers = {{"Content-Type", "application/json"}}};
}

}  // namespace payments
