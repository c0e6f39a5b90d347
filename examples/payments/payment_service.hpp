// Takes a payment and a seat: the service's own logic, the same in production and in its unit tests.
#pragma once

#include <concepts>

#include "idem/transact.hpp"
#include "idem/uuid.hpp"
#include "payment.hpp"
#include "payment_responses.hpp"
#include "request_line.hpp"

namespace payments {

/// Where payments, seats and receipts are written, inside a transaction of type Tx: PostgresRepository in
/// production, tables in memory in the unit tests.
template <class Repository, class Tx>
concept PaymentRepository = requires(Repository& repository, Tx& tx, const Payment& payment) {
  repository.add_payment(tx, payment);
  // False, with nothing changed, where the principal holds a seat in the offering already.
  { repository.take_seat(tx, payment) } -> std::same_as<bool>;
  repository.add_receipt(tx, payment);
};

/// Both must outlive it. As safe between threads as the repository.
template <class Backend, class Repository>
class PaymentService {
 public:
  PaymentService(const Backend& backend, Repository& repository)
      : backend_{backend}, repository_{repository} {}

  /// Charges once for this key, however often it is asked. `begin` as idem::transact() wants it.
  template <class Begin>
  [[nodiscard]] idem::Outcome pay(const Begin& begin, const PaymentRequest& request) const {
    return idem::transact(backend_, begin, request.command,
                          [&](auto& tx, const idem::Lease&) { return decide(tx, request); });
  }

 private:
  // Runs at most once for each key, as far as anybody can see: all of it commits with its answer, or nothing
  // does.
  template <class Tx>
  requires PaymentRepository<Repository, Tx> idem::Decision decide(Tx& tx, const PaymentRequest& request)
  const {
    const Payment payment{idem::random_uuid_v4().to_string(), request.command.key.principal, request.order,
                          approve(request.order)};
    repository_.add_payment(tx, payment);
    // A decline is a decision: its row and its answer are kept, and a retry gets the same decline.
    if (payment.approval == Approval::declined) return idem::failed(declined_response(payment));
    const bool seat_is_new = repository_.take_seat(tx, payment);
    repository_.add_receipt(tx, payment);
    return idem::completed(authorized_response(payment, seat_is_new));
  }

  const Backend& backend_;
  Repository& repository_;
};

}  // namespace payments
