// The flow as it is right, and two that are wrong on purpose: a harness that does not find them proves
// nothing.
#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "fault/charge.hpp"
#include "idem/downstream_key.hpp"
#include "idem/execute.hpp"
#include "idem/external_call.hpp"
#include "idem/uuid.hpp"

namespace idem::fault_test {

enum class Flow {
  right,  ///< external_call().
  /// The record is completed in a transaction of its own, after the payment was committed.
  second_transaction,
  /// What is not known to be done is done again, under a key of its own, and nothing is settled before.
  blind_retry,
};

inline std::string_view to_string(Flow flow) {
  switch (flow) {
    case Flow::second_transaction:
      return "second_transaction";
    case Flow::blind_retry:
      return "blind_retry";
    case Flow::right:
      break;
  }
  return "right";
}

namespace planted {

// Reserves and prepares as external_call() does. Empty where the key was acquired.
template <class Begin>
std::optional<Outcome> reserve(const postgres::Backend& backend, Begin& begin, const Request& request,
                               Charge& charge, const CallOptions& options, CallContext& context) {
  const ReserveOptions reserve = detail::call_reservation(options, charge.downstream());
  const auto enter = [&](const Lease& lease, How how) {
    context = {lease, how, downstream_key(lease.key, lease.fingerprint), reserve.call_deadline};
  };
  auto unit = begin();
  auto store = backend.store(unit.transaction());
  Reservation reservation = store.reserve(request.key, request.fingerprint, reserve);
  std::optional<Outcome> answered;
  if (const auto* acquired = std::get_if<Acquired>(&reservation)) {
    enter(acquired->lease, acquired->how);
    if (acquired->how == How::fresh) charge.prepare(unit.transaction(), context);
  } else {
    if (auto* unknown = std::get_if<Unknown>(&reservation); unknown && unknown->turned) {
      enter(*unknown->turned, How::took_over);
      unknown->response = charge.unknown(unit.transaction(), context);
      store.mark_unknown(context.lease, *unknown->response);
    }
    answered = detail::outcome_of(std::move(reservation));
  }
  unit.commit();
  return answered;
}

inline ChargeDecision decision_of(CallResult<ChargeDecision> result) {
  if (auto* decision = std::get_if<ChargeDecision>(&result)) return std::move(*decision);
  throw std::runtime_error{"the acquirer does not answer"};
}

template <class Store>
Outcome settle(Store& store, const Lease& lease, Decision decision) {
  const State state = decision.state();
  const TimePoint expires_at = state == State::completed ? store.complete(lease, decision.response())
                                                         : store.fail(lease, decision.response());
  return Executed{state, std::move(decision).response(), expires_at};
}

template <class Begin>
Outcome second_transaction(const postgres::Backend& backend, Begin& begin, const Request& request,
                           Charge& charge, const CallOptions& options) {
  CallContext context{{request.key, request.fingerprint, {}, 0, {}}, How::fresh, {}};
  if (auto answered = reserve(backend, begin, request, charge, options, context)) return *std::move(answered);
  if (!charge.downstream().window) {
    auto unit = begin();
    backend.store(unit.transaction()).mark_sent(context.lease);
    unit.commit();
  }
  const ChargeDecision answer = decision_of(charge.call(context));
  std::optional<Decision> decision;
  {
    auto unit = begin();
    backend.store(unit.transaction()).hold(context.lease);
    decision = charge.finish(unit.transaction(), context, answer);
    unit.commit();
  }
  auto unit = begin();
  auto store = backend.store(unit.transaction());
  Outcome outcome = settle(store, context.lease, *std::move(decision));
  unit.commit();
  return outcome;
}

template <class Begin>
Outcome blind_retry(const postgres::Backend& backend, Begin& begin, const Request& request, Charge& charge,
                    const CallOptions& options) {
  CallContext context{{request.key, request.fingerprint, {}, 0, {}}, How::fresh, {}};
  if (auto answered = reserve(backend, begin, request, charge, options, context)) return *std::move(answered);
  for (int tries = 1;; ++tries) {
    context.downstream_key = random_uuid_v4().to_string();
    const ChargeDecision answer = decision_of(charge.call(context));
    try {
      auto unit = begin();
      auto store = backend.store(unit.transaction());
      store.hold(context.lease);
      Outcome outcome = settle(store, context.lease, charge.finish(unit.transaction(), context, answer));
      unit.commit();
      return outcome;
    } catch (const LeaseLost&) {
      throw;
    } catch (const std::exception&) {
      if (tries == options.retry.max_tries) throw;
    }
  }
}

}  // namespace planted

template <class Begin>
Outcome run_flow(Flow flow, const postgres::Backend& backend, Begin begin, const Request& request,
                 Charge& charge, const CallOptions& options) {
  switch (flow) {
    case Flow::second_transaction:
      return planted::second_transaction(backend, begin, request, charge, options);
    case Flow::blind_retry:
      return planted::blind_retry(backend, begin, request, charge, options);
    case Flow::right:
      break;
  }
  return external_call(backend, begin, request, charge, options);
}

}  // namespace idem::fault_test
