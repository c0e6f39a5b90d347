// SIGKILL of a worker process at crash point 1, 2, 3, … until none fires.
#pragma once

#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/program.hpp"
#include "fault/settling.hpp"
#include "fault/told.hpp"

namespace idem::fault_test {

/// What comes once the lease of the killed worker has lapsed, before the client or the sweep.
enum class Second {
  none,
  takes_over,
  dies,  ///< It takes over, and is killed at the same point.
};

/// Runs a worker. True where it was killed; otherwise what its client is told goes to `told`.
inline bool killed(const std::vector<std::string>& worker, std::vector<Told>& told) {
  const examples_test::Finished finished = examples_test::run_program(worker);
  if (finished.signal == SIGKILL && finished.out.empty()) return true;
  told.push_back(finished.status == 0 ? from_line(finished.out) : Told{"error", finished.err});
  return false;
}

/// Runs a worker that nobody kills. What its client is told.
inline Told answer_of(const std::vector<std::string>& worker) {
  std::vector<Told> told;
  if (killed(worker, told)) throw std::runtime_error{"a worker was killed by somebody else"};
  return told.back();
}

/// `worker(key, point)` is the command line of a worker that dies at that point, 0 for none; `ask(key)` is
/// the client that asks again. The harness brings what they leave to its end and judges it: `lapse(key)`
/// and `settle(key, then, ask, told)`.
template <class Harness, class Worker, class Ask>
Judged kill_at_every_point(Harness& harness, const Worker& worker, const Ask& ask, Second second, Then then) {
  Judged kills;
  for (int point = 1;; ++point) {
    // No other test's: where the schema is the search path's, the gate is everybody's.
    const std::string key = "killed at " + std::to_string(point) + " in " + harness.database().schema();
    std::vector<Told> told;
    const bool was_killed = killed(worker(key, point), told);
    if (was_killed && second != Second::none) {
      harness.lapse(key);
      killed(worker(key, second == Second::dies ? point : 0), told);
    }
    std::vector<std::string> wrong = harness.settle(
        key, then, [&] { return ask(key); }, told);
    for (const Told& one : told) {
      if (one.kind == "error") wrong.push_back(key + ": a worker failed: " + one.bytes);
    }
    kills.add(wrong);
    if (!was_killed) return kills;
    kills.points = point;
  }
}

}  // namespace idem::fault_test
