#include "saga.hpp"

#include <optional>
#include <pqxx/pqxx>
#include <stdexcept>
#include <utility>
#include <variant>

#include "idem/idem.hpp"
#include "refund_table.hpp"
#include "session.hpp"
#include "step_call.hpp"

namespace refund_saga {

Saga::Saga(const idem::postgres::Backend& backend, examples::Session& session, const Services& services,
           idem::CallOptions options)
    : backend_{backend}, session_{session}, services_{services}, options_{std::move(options)} {
  options_.reserve.retention = retention;
}

Started Saga::start(const Refund& refund) {
  const std::string body = body_of(refund);
  const idem::Request request{{"refund_saga", "refund", refund.id},
                              idem::Fingerprinter{}({.operation = "refund", .body = body})};
  idem::TransactOptions options;
  options.retry = options_.retry;
  options.reserve.retention = retention;
  // To start takes one short transaction: whoever comes second waits for it, and goes on with the same refund.
  options.reserve.on_in_flight = idem::OnInFlight::wait(std::chrono::seconds{10});
  const idem::Outcome outcome = idem::transact(
      backend_, [this] { return session_.begin(); }, request,
      [&](pqxx::dbtransaction& tx, const idem::Lease&) {
        // Its row outlives the key: what was refunded long ago is not refunded again.
        const bool same = add_refund(tx, refund) || find_refund(tx, refund.id) == refund;
        return same ? idem::completed(idem::text_response(202, "started"))
                    : idem::failed(idem::text_response(409, "another refund has this id"));
      },
      options);
  if (const auto* executed = std::get_if<idem::Executed>(&outcome)) {
    return executed->state == idem::State::completed ? Started::yes : Started::another;
  }
  if (const auto* replay = std::get_if<idem::Replay>(&outcome)) {
    return replay->state == idem::State::completed ? Started::yes : Started::another;
  }
  if (std::holds_alternative<idem::Mismatch>(outcome)) return Started::another;
  throw std::runtime_error{"somebody else has been starting this refund for a while: run it again"};
}

Standing Saga::proceed(const std::string& refund_id) {
  const std::optional<Refund> refund = find_refund(*session_.begin(), refund_id);
  if (!refund) throw std::invalid_argument{"there is no such refund"};

  std::optional<Action> last;
  for (;;) {
    Progress progress = progress_of(refund_id);
    const std::optional<Action> action = next(progress);
    // An answer is stored with its step's state. Without that, asking again would go on for ever.
    if (action && action == last) throw std::logic_error{"a step's record is settled, and its row is not"};
    if (!action) return {state_of(progress), std::move(progress)};
    last = action;

    StepCall call{services_, *refund, *action};
    const idem::Outcome outcome = idem::external_call(
        backend_, [this] { return session_.begin(); }, request_of(*refund, *action), call, options_);
    if (std::holds_alternative<idem::Mismatch>(outcome)) {
      throw std::logic_error{"the refund's row was changed after its step had begun"};
    }
    // Settled now, or by somebody else since the progress was read: on to the next.
    if (std::holds_alternative<idem::Executed>(outcome) || std::holds_alternative<idem::Replay>(outcome))
      continue;
    progress = progress_of(refund_id);
    return {state_of(progress), std::move(progress)};
  }
}

Progress Saga::progress_of(const std::string& refund_id) {
  return read_progress(*session_.begin(), refund_id);
}

}  // namespace refund_saga
