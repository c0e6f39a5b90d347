// A company of the examples as a process of its own.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "examples/program.hpp"

namespace idem::examples_test {

/// Runs with an empty ledger on a free port of 127.0.0.1. Killed with the object where it still runs, and the
/// ledger is gone then. Throws std::runtime_error where it does not start, and for an answer that it should not
/// give. Not safe to share between threads, but for url().
class RunningCompany {
 public:
  explicit RunningCompany(std::string program);

  /// The same after a restart.
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] const std::string& ledger_file() const { return ledger_.path(); }

  /// Tells it how to behave; returns its whole behaviour. With `{}` it only tells.
  nlohmann::json control(const nlohmann::json& members) const;
  /// The commands that were decided, in their order.
  [[nodiscard]] nlohmann::json ledger() const;

  /// Ends it by that signal, and waits for its end.
  Finished stop(int signal = 15);
  /// Ends it by SIGKILL.
  Finished kill();
  /// Starts it again on the same ledger and port, once it was stopped or killed. It behaves as a new one.
  void restart();

 private:
  void start(const std::string& port);

  std::string program_;
  TemporaryFile ledger_{""};
  std::unique_ptr<Running> process_;
  std::string url_;
};

class RunningAcquirer : public RunningCompany {
 public:
  RunningAcquirer() : RunningCompany{ACQUIRER} {}
};

}  // namespace idem::examples_test
