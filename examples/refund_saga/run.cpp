#include "run.hpp"

#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <string_view>

#include "refund_table.hpp"
#include "session.hpp"

namespace refund_saga {

std::string line_of(const std::string& refund_id, const Standing& standing) {
  nlohmann::ordered_json told_steps = nlohmann::ordered_json::object();
  for (const Step& step : steps) {
    const auto found = standing.progress.find(step.name);
    if (found != standing.progress.end()) told_steps[found->first] = name(found->second);
  }
  const nlohmann::ordered_json told{
      {"refund", refund_id}, {"state", name(standing.state)}, {"steps", told_steps}};
  return told.dump() + '\n';
}

void run(Saga& saga, const Refund& refund, std::ostream& out) {
  if (saga.start(refund) == Started::another) {
    throw std::invalid_argument{"there is another refund with this id"};
  }
  out << line_of(refund.id, saga.proceed(refund.id)) << std::flush;
}

// Whatever a refund waits for: a call without an answer, and one that was not yet made, as the process ended between two
// steps. idem::Sweep looks for the former alone.
bool sweep(Saga& saga, examples::Session& session, std::ostream& out, std::ostream& err) {
  bool well = true;
  for (const std::string& id : unfinished_refunds(*session.begin())) {
    try {
      out << line_of(id, saga.proceed(id)) << std::flush;
    } catch (const std::exception& failure) {
      fail(id, failure, err);
      well = false;
    }
  }
  return well;
}

void fail(const std::string& refund_id, const std::exception& failure, std::ostream& err) {
  const std::string_view message = failure.what();
  // One line: further ones may repeat a statement.
  err << "refund_saga: " << refund_id << (refund_id.empty() ? "" : ": ")
      << message.substr(0, message.find('\n')) << '\n';
}

}  // namespace refund_saga
