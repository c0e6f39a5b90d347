// What comes after the first attempt, until all is settled.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "fault/told.hpp"
#include "postgres/test_database.hpp"

namespace idem::fault_test {

/// Who settles what the first attempt left.
enum class Then {
  client_retries,
  sweep_alone,  ///< The client comes back when all is settled.
};

/// Moves the time past `lease` where a record in progress, of those that the SQL condition names, still has
/// one.
void lapse(const postgres_test::TestDatabase& database, const std::string& which,
           std::chrono::milliseconds lease);

/// Lets the client ask until it is told neither an error nor "in progress", and calls `lapse` after each of
/// these. `told` is continued. Throws std::runtime_error where that comes to no end.
void retry(const std::string& key, const std::function<Told()>& ask, const std::function<void()>& lapse,
           std::vector<Told>& told);

/// Calls `lapse` and sweeps, until `sweep` says that nothing is left. Throws std::runtime_error where that
/// comes to no end.
void sweep_all(const std::string& key, const std::function<void()>& lapse,
               const std::function<bool()>& sweep);

/// What the trials of one harness came to.
struct Judged {
  int points = 0;  ///< Tried; the first at which nothing happens is one more.
  int violating = 0;
  std::vector<std::string> violations{};

  /// What is wrong after one trial.
  void add(const std::vector<std::string>& wrong) {
    if (!wrong.empty()) ++violating;
    violations.insert(violations.end(), wrong.begin(), wrong.end());
  }
};

}  // namespace idem::fault_test
