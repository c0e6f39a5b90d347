#include "fault/settling.hpp"

#include <stdexcept>

namespace idem::fault_test {
namespace {

// A server that has not noticed yet that its client is gone keeps others off for a moment.
constexpr int most_tries = 2000;
constexpr int most_errors = 10;

}  // namespace

void lapse(const postgres_test::TestDatabase& database, const std::string& which,
           std::chrono::milliseconds lease) {
  const bool live = database.number("SELECT count(*) FROM idem_record WHERE state = 1 AND " + which +
                                    " AND lease_until > clock_timestamp()") != 0;
  // Waits for a session that is about to settle it, as the next one who comes does.
  if (live) database.advance(lease + std::chrono::seconds{1});
}

void retry(const std::string& key, const std::function<Told()>& ask, const std::function<void()>& lapse,
           std::vector<Told>& told) {
  int errors = 0;
  for (int tries = 0; tries < most_tries && errors < most_errors; ++tries) {
    told.push_back(ask());
    if (told.back().kind == "error") {
      ++errors;
    } else if (told.back().kind != "in_progress") {
      return;
    }
    lapse();
  }
  throw std::runtime_error{key + ": the client's retries come to no end; the last: " + to_line(told.back())};
}

void sweep_all(const std::string& key, const std::function<void()>& lapse,
               const std::function<bool()>& sweep) {
  for (int tries = 0; tries < most_tries; ++tries) {
    lapse();
    if (sweep()) return;
  }
  throw std::runtime_error{key + ": the sweep comes to no end"};
}

}  // namespace idem::fault_test
