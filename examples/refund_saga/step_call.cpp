#include "step_call.hpp"

#include <string>

#include "idem/idem.hpp"
#include "refund_table.hpp"

namespace refund_saga {
namespace {

std::string_view path_of(const Action& action) {
  return action.undo ? action.step->undo_path : action.step->path;
}

}  // namespace

idem::Request request_of(const Refund& refund, const Action& action) {
  const std::string operation = "refund/" + std::string{action.step->name};
  // A compensation is a command of its own. Under its step's key it would be answered with the step's answer.
  std::string key = action.undo ? idem::compensation_key(refund.id, action.step->name)
                                : idem::step_key(refund.id, action.step->name);
  const std::string body = body_of(refund);
  return {{"refund_saga", operation, std::move(key)},
          idem::Fingerprinter{}({.method = "POST", .operation = path_of(action), .body = body})};
}

idem::Downstream StepCall::downstream() const {
  return idem::deduplicates_for("refund_services", services_window);
}

// Commits with the reservation: from here on somebody has to find out what became of the call.
void StepCall::prepare(pqxx::dbtransaction& tx, const idem::CallContext& /*context*/) const {
  // A step that is being undone stays done until that is.
  if (!action_.undo) set_step(tx, refund_.id, *action_.step, StepState::pending);
}

// No transaction is open. The key is made of request_of()'s, so it is the same on every run.
idem::CallResult<Answer> StepCall::call(const idem::CallContext& context) const {
  return services_.command(path_of(action_), refund_, context.downstream_key, context.deadline);
}

StepState StepCall::state_after(const Answer& answer) const {
  if (action_.undo) return answer.accepted ? StepState::compensated : StepState::stuck;
  return answer.accepted ? StepState::done : StepState::failed;
}

// In the transaction that stores the answer, so that neither is there without the other.
idem::Decision StepCall::finish(pqxx::dbtransaction& tx, const idem::CallContext& /*context*/,
                                const Answer& answer) const {
  set_step(tx, refund_.id, *action_.step, state_after(answer));
  return answer.accepted ? idem::completed(idem::text_response(201, answer.id))
                         : idem::failed(idem::text_response(402, answer.id));
}

// The window is over: the service may have forgotten the key, so nobody asks again.
idem::Response StepCall::unknown(pqxx::dbtransaction& tx, const idem::CallContext& /*context*/) const {
  set_step(tx, refund_.id, *action_.step, StepState::stuck);
  return idem::text_response(202, "not known");
}

}  // namespace refund_saga
