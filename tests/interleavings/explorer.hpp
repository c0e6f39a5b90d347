// Runs the sessions of a scenario in every order that their steps can have, on a real server.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "interleavings/session.hpp"
#include "postgres/test_database.hpp"

namespace idem::interleavings {

// One call, during which no other session is let in, unless the call waits for one.
struct Step {
  std::string name{};
  std::function<void(Session&, Event&)> run{};
  // Where false, by what the session's own earlier steps were answered, the step is left out.
  std::function<bool(const Session&)> when{};
};

struct Scenario {
  std::string name{};
  std::vector<std::vector<Step>> sessions{};
  // The sessions whose steps every schedule begins with: what has happened before the orders differ.
  std::vector<std::size_t> prefix{};
  Level level = Level::read_committed;
  // False: the sessions do without idem's record, so that it is not asked for the answer.
  bool has_record = true;
};

struct Report {
  std::size_t schedules = 0;
  std::size_t violating = 0;
  std::string first_violation{};    // with its schedule
  std::set<std::string> answers{};  // every `step: answer` that was seen
};

// The business table, which has no unique key. Call once on each database.
void create_business_tables(const postgres_test::TestDatabase& database);

// Depth first over the choices; each schedule runs from its start, with a key of its own. Prints one line.
//
// A session that waits for another one cannot be chosen until its step has ended. Sessions that wait for one another in
// a circle are left to PostgreSQL, which ends one of the calls. Throws where a step fails in a way that no schedule
// explains, and where a schedule does not repeat.
Report explore(const postgres_test::TestDatabase& database, const Scenario& scenario);

}  // namespace idem::interleavings
