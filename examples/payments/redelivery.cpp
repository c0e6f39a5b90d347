#include "redelivery.hpp"

#include <chrono>

#include "idem/idem.hpp"
#include "payment_responses.hpp"

namespace payments {

std::optional<PaymentAuthorized> event_of(const PaymentRequest& request, const Answer& answer) {
  if (answer.response.status != 201) return std::nullopt;
  // Principal and offering are the payment's: they are in the key and in the fingerprint that the record was found by.
  return payment_authorized(payment_id_in(answer.response), request.command.key.principal,
                            request.order.offering_id);
}

std::optional<PaymentAuthorized> event_to_redeliver(const PaymentRequest& request, const Answer& answer) {
  if (request.redelivery == Redelivery::none) return std::nullopt;
  std::optional<PaymentAuthorized> event = event_of(request, answer);
  if (event && request.redelivery == Redelivery::new_id) {
    const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    event->identity.id = idem::random_uuid_v7(now).to_string();
  }
  return event;
}

}  // namespace payments
