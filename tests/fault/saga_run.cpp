#include "fault/saga_run.hpp"

#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <variant>

#include "idem/postgres/backend.hpp"
#include "refund_table.hpp"
#include "run.hpp"
#include "saga.hpp"
#include "step_call.hpp"

namespace idem::fault_test {
namespace {

using refund_saga::Saga;
using refund_saga::Standing;

// Saga::proceed(), but for the flow.
Standing proceed(Flow flow, const postgres::Backend& backend, examples::Session& session,
                 const refund_saga::Services& services, const refund_saga::Refund& refund,
                 const CallOptions& options) {
  std::optional<refund_saga::Action> last;
  for (;;) {
    refund_saga::Progress progress = refund_saga::read_progress(*session.begin(), refund.id);
    const std::optional<refund_saga::Action> action = refund_saga::next(progress);
    if (action && action == last) throw std::logic_error{"a step's record is settled, and its row is not"};
    if (!action) return {refund_saga::state_of(progress), std::move(progress)};
    last = action;
    refund_saga::StepCall call{services, refund, *action};
    const Outcome outcome = run_flow(
        flow, backend, [&] { return session.begin(); }, refund_saga::request_of(refund, *action), call,
        options);
    if (std::holds_alternative<Executed>(outcome) || std::holds_alternative<Replay>(outcome)) continue;
    progress = refund_saga::read_progress(*session.begin(), refund.id);
    return {refund_saga::state_of(progress), std::move(progress)};
  }
}

}  // namespace

CallOptions saga_options() {
  CallOptions options;
  options.reserve.lease = saga_lease;
  options.retry.pause = [](std::chrono::milliseconds) {};
  return options;
}

refund_saga::Refund refund_of(const std::string& id) {
  return {id, "the payment of " + id, 1290};
}

CallResult<refund_saga::Answer> PointedServices::command(std::string_view path,
                                                         const refund_saga::Refund& refund,
                                                         const std::string& idempotency_key,
                                                         std::chrono::milliseconds deadline) const {
  point_();
  CallResult<refund_saga::Answer> result = services_.command(path, refund, idempotency_key, deadline);
  point_();
  return result;
}

Told run_refund(Flow flow, examples::Session& session, const refund_saga::Services& services,
                const std::string& id, const CallOptions& options) {
  const refund_saga::Refund refund = refund_of(id);
  const postgres::Backend backend;
  Saga saga{backend, session, services, options};
  std::ostringstream out;
  if (flow == Flow::right) {
    refund_saga::run(saga, refund, out);
  } else {
    if (saga.start(refund) != refund_saga::Started::yes) throw std::logic_error{"another refund"};
    CallOptions kept = options;
    kept.reserve.retention = refund_saga::retention;
    out << refund_saga::line_of(id, proceed(flow, backend, session, services, refund, kept));
  }
  const std::string line = std::move(out).str();
  const bool is_open = line.find(R"("state":"in_progress")") != std::string::npos;
  return {is_open ? "in_progress" : "executed", line};
}

}  // namespace idem::fault_test
