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

#include "idem/base/uuid.hpp"
#include "idem/call/downstream_key.hpp"
#include "idem/call/external_call.hpp"
#include "idem/command/detail/unit_of_work.hpp"
#include "idem/command/execute.hpp"
#include "idem/postgres/backend.hpp"

namespace idem::fault_test {

enum class Flow {
  right,  ///< external_call().
  /// The record is completed in a transaction of its own, after the business row was committed.
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

/// Throws std::invalid_argument for another name.
inline Flow flow_named(std::string_view name) {
  for (const Flow flow : {Flow::right, Flow::second_transaction, Flow::blind_retry}) {
    if (name == to_string(flow)) return flow;
  }
  throw std::invalid_argument{"no such flow"};
}

namespace planted {

// Reserves and prepares as external_call() does. Empty where the key was acquired.
template <class Begin, class Operation>
std::optional<Outcome> reserve(const postgres::Backend& backend, Begin& begin, const Request& request,
                               Operation& operation, const CallOptions& options, CallContext& context) {
  const ReserveOptions reserve = detail::call_reservation(options, operation.downstream());
  const auto enter = [&](const Lease& lease, How how) {
    context = {lease, how, downstream_key(lease.key, lease.fingerprint), reserve.call_deadline};
  };
  auto unit = begin();
  auto& tx = detail::transaction_of(unit);
  auto store = backend.store(tx);
  Reservation reservation = store->reserve(request.key, request.fingerprint, reserve);
  std::optional<Outcome> answered;
  if (const auto* acquired = std::get_if<Acquired>(&reservation)) {
    enter(acquired->lease, acquired->how);
    if (acquired->how == How::fresh) operation.prepare(tx, context);
  } else {
    if (auto* unknown = std::get_if<Unknown>(&reservation); unknown && unknown->turned) {
      enter(*unknown->turned, How::took_over);
      unknown->response = operation.unknown(tx, context);
      store->mark_unknown(context.lease, *unknown->response);
    }
    answered = detail::outcome_of(std::move(reservation));
  }
  detail::commit(unit);
  return answered;
}

template <class Answer>
Answer answered(CallResult<Answer> result) {
  if (auto* answer = std::get_if<Answer>(&result)) return std::move(*answer);
  throw std::runtime_error{"the downstream does not answer"};
}

template <class Store>
Outcome settle(Store& store, const Lease& lease, Decision decision) {
  const State state = decision.state();
  const TimePoint expires_at = state == State::completed ? store.complete(lease, decision.response())
                                                         : store.fail(lease, decision.response());
  return Executed{state, std::move(decision).response(), expires_at};
}

template <class Begin, class Operation>
Outcome second_transaction(const postgres::Backend& backend, Begin& begin, const Request& request,
                           Operation& operation, const CallOptions& options) {
  CallContext context{{request.key, request.fingerprint, {}, 0, {}}, How::fresh, {}};
  if (auto answered = reserve(backend, begin, request, operation, options, context))
    return *std::move(answered);
  if (!operation.downstream().window) {
    auto unit = begin();
    auto& tx = detail::transaction_of(unit);
    backend.store(tx)->mark_sent(context.lease);
    detail::commit(unit);
  }
  const auto answer = answered(operation.call(context));
  std::optional<Decision> decision;
  {
    auto unit = begin();
    auto& tx = detail::transaction_of(unit);
    backend.store(tx)->hold(context.lease);
    decision = operation.finish(tx, context, answer);
    detail::commit(unit);
  }
  auto unit = begin();
  auto& tx = detail::transaction_of(unit);
  auto store = backend.store(tx);
  Outcome outcome = settle(*store, context.lease, *std::move(decision));
  detail::commit(unit);
  return outcome;
}

template <class Begin, class Operation>
Outcome blind_retry(const postgres::Backend& backend, Begin& begin, const Request& request,
                    Operation& operation, const CallOptions& options) {
  CallContext context{{request.key, request.fingerprint, {}, 0, {}}, How::fresh, {}};
  if (auto answered = reserve(backend, begin, request, operation, options, context))
    return *std::move(answered);
  for (int tries = 1;; ++tries) {
    if (tries > 1 || context.how != How::fresh) context.downstream_key = random_uuid_v4().to_string();
    const auto answer = answered(operation.call(context));
    try {
      auto unit = begin();
      auto& tx = detail::transaction_of(unit);
      auto store = backend.store(tx);
      store->hold(context.lease);
      Outcome outcome = settle(*store, context.lease, operation.finish(tx, context, answer));
      detail::commit(unit);
      return outcome;
    } catch (const LeaseLost&) {
      throw;
    } catch (const std::exception&) {
      if (tries == options.retry.max_tries) throw;
    }
  }
}

}  // namespace planted

template <class Begin, class Operation>
Outcome run_flow(Flow flow, const postgres::Backend& backend, Begin begin, const Request& request,
                 Operation& operation, const CallOptions& options) {
  switch (flow) {
    case Flow::second_transaction:
      return planted::second_transaction(backend, begin, request, operation, options);
    case Flow::blind_retry:
      return planted::blind_retry(backend, begin, request, operation, options);
    case Flow::right:
      break;
  }
  return external_call(backend, begin, request, operation, options);
}

}  // namespace idem::fault_test
