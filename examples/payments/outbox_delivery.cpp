#include "outbox_delivery.hpp"

#include <vector>

#include "idem/postgres.hpp"
#include "payment_service.hpp"
#include "postgres_repository.hpp"

namespace payments {

void deliver_event(examples::Session& session, const PaymentAuthorized& event) {
  const idem::postgres::Backend backend;
  PostgresRepository repository;
  const PaymentService service{backend, repository};
  const auto tx = session.begin();
  if (service.deliver(*tx, event) == idem::Delivery::beyond_horizon) {
    EnrolmentConsumer{repository}.apply(*tx, event);
  }
  tx->commit();
}

void deliver_outbox(examples::Session& session) {
  // The transaction is over before the first delivery.
  const std::vector<PaymentAuthorized> events = undelivered(*session.begin());
  for (const PaymentAuthorized& event : events) deliver_event(session, event);
}

}  // namespace payments
