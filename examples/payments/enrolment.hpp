// A learner whose payment was authorised gets a seat and a receipt: a consumer of events, which knows nothing of keys.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "idem/idem.hpp"

namespace payments {

/// A payment was authorised: what the service tells everybody who wants to know.
struct PaymentAuthorized {
  idem::EventIdentity identity;
  std::string payment_id;
  std::string principal;
  std::string offering_id;
};

/// The event of an authorised payment. Its source is "payments" and its id the payment's, so that it is the same event
/// whenever and by whomever it is told; that id has a time in it, which is the event's age.
[[nodiscard]] inline PaymentAuthorized payment_authorized(std::string payment_id, std::string principal,
                                                          std::string offering_id) {
  return {{"payments", payment_id}, payment_id, std::move(principal), std::move(offering_id)};
}

/// Where seats and receipts are written, inside a transaction of type Tx.
template <class Repository, class Tx>
concept EnrolmentRepository = requires(Repository& repository, Tx& tx, const PaymentAuthorized& event) {
  // Each does nothing where the fact is there already: the seat of this principal in this offering, this payment's
  // receipt.
  repository.add_seat(tx, event);
  repository.add_receipt(tx, event);
};

/// The only writer of seats and receipts. The inbox calls it once for each event; that the same fact may come under
/// another event id is what the repository's unique keys are for. As safe between threads as the repository, which must
/// outlive it.
template <class Repository>
class EnrolmentConsumer {
 public:
  static constexpr std::string_view name = "enrolment";

  explicit EnrolmentConsumer(Repository& repository) : repository_{repository} {}

  template <class Tx>
  requires EnrolmentRepository<Repository, Tx>
  void apply(Tx& tx, const PaymentAuthorized& event) {
    repository_.add_seat(tx, event);
    repository_.add_receipt(tx, event);
  }

 private:
  Repository& repository_;
};

/// The ids are made by the service's clock and judged by the database's. Where that of the service is ahead by more
/// than the skew, the age is unknown, and a paid seat must not be refused for it: applied. That no event comes after
/// the horizon of 7 days is certain either way: one is delivered again only while its payment's record is there, for 72
/// hours. (One that lay in the outbox for longer was not delivered before: see outbox_delivery.hpp.)
inline constexpr idem::InboxOptions enrolment_options{.unknown_age = idem::UnknownAge::apply};

}  // namespace payments
