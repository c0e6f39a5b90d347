// Takes a payment and tells of it: the service's own logic, the same in production and in its unit tests.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>

#include "charge_operation.hpp"
#include "enrolment.hpp"
#include "idem/idem.hpp"
#include "payment.hpp"
#include "payment_responses.hpp"
#include "request_line.hpp"

namespace payments {

/// Where payments are written, inside a transaction of type Tx: PostgresRepository in production, a table in memory in
/// the unit tests.
template <class Repository, class Tx>
concept PaymentRepository = requires(Repository& repository, Tx& tx, const Payment& payment) {
  repository.add_payment(tx, payment);
};

/// Both must outlive it. As safe between threads as the repository, which is the enrolment's too.
template <class Backend, class Repository>
class PaymentService {
 public:
  PaymentService(const Backend& backend, Repository& repository)
      : backend_{backend}, repository_{repository} {}

  /// Decides by its own rule, once for this key, however often it is asked. `begin` as idem::transact() wants it.
  template <class Begin>
  [[nodiscard]] idem::Outcome pay(const Begin& begin, const PaymentRequest& request) const {
    return idem::transact(backend_, begin, request.command,
                          [&](auto& tx, const idem::Lease&) { return decide(tx, request); });
  }

  /// Charges through the acquirer, once for this key, however often it is asked and whatever dies meanwhile. The enrolment
  /// gets its event from the outbox. `begin` as idem::external_call() wants it.
  template <class Begin>
  [[nodiscard]] idem::Outcome charge(const Begin& begin, const PaymentRequest& request,
                                     const Charging& charging) const {
    ChargeOperation operation{backend_, begin, repository_, charging, &request};
    return idem::external_call(backend_, begin, request.command, operation, call_options(charging));
  }

  /// Goes once over the charges whose process is gone, for clients that never come back. `on_error` is told of each that an
  /// exception left as it was.
  template <class Begin>
  [[nodiscard]] idem::SweepPass sweep(
      const Begin& begin, const Charging& charging,
      std::function<void(const idem::LapsedRecord&, const std::exception_ptr&)> on_error) const {
    idem::SweepOptions options;
    options.on_error = std::move(on_error);
    return sweeping(begin, charging, std::move(options)).pass();
  }

  /// Does so again and again until a stop is requested. `on_failed_pass` is told of each pass that an exception ended.
  template <class Begin>
  void keep_sweeping(const std::stop_token& stop, const Begin& begin, const Charging& charging,
                     std::function<void(const idem::LapsedRecord&, const std::exception_ptr&)> on_error,
                     std::function<void(const std::exception_ptr&)> on_failed_pass) const {
    idem::SweepOptions options;
    // Its client may be waiting for it.
    options.interval = std::chrono::seconds{1};
    options.on_error = std::move(on_error);
    options.on_failed_pass = std::move(on_failed_pass);
    sweeping(begin, charging, std::move(options)).run(stop);
  }

  /// Delivers the event to the enrolment, which applies it once, however often it comes. Durable when you commit.
  template <class Tx>
  [[nodiscard]] idem::Delivery deliver(Tx& tx, const PaymentAuthorized& event) const {
    EnrolmentConsumer enrolment{repository_};
    idem::Inbox inbox{backend_, enrolment, enrolment_options};
    return inbox.deliver(tx, event);
  }

 private:
  // `begin` and `charging` must outlive it.
  template <class Begin>
  [[nodiscard]] auto sweeping(const Begin& begin, const Charging& charging,
                              idem::SweepOptions options) const {
    options.operation = operation_name;
    options.call = call_options(charging);
    const auto recover = [&](auto& /*tx*/, const idem::LapsedRecord& /*lapsed*/) {
      return ChargeOperation{backend_, begin, repository_, charging, nullptr};
    };
    return idem::Sweep{backend_, begin, recover, std::move(options)};
  }

  // Runs at most once for each key, as far as anybody can see: all of it commits with its answer, or nothing
  // does.
  template <class Tx>
  requires PaymentRepository<Repository, Tx> idem::Decision decide(Tx& tx, const PaymentRequest& request)
  const {
    const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    const Payment payment{idem::random_uuid_v7(now).to_string(),
                          request.command.key.principal,
                          request.order,
                          approve(request.order),
                          {}};
    repository_.add_payment(tx, payment);
    // A decline is a decision: its row and its answer are kept, and a retry gets the same decline.
    if (payment.state == PaymentState::declined) return idem::failed(declined_response(payment));
    // In the payment's own transaction, so that no crash falls between the two: there is no payment without its seat. A
    // consumer in another process would get the event from a broker.
    const idem::Delivery delivery =
        deliver(tx, payment_authorized(payment.id, payment.principal, payment.order.offering_id));
    if (delivery != idem::Delivery::applied) {
      // A new event is refused only where it seems old: rather no payment than one without its seat.
      throw std::runtime_error{
          "the new payment's event was not applied: is this machine's clock days behind the database's?"};
    }
    return idem::completed(authorized_response(payment));
  }

  const Backend& backend_;
  Repository& repository_;
};

}  // namespace payments
