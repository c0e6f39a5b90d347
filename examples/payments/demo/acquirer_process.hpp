// The example acquirer, as a process of its own.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace payments::demo {

/// Runs with an empty ledger on a free port of 127.0.0.1, and ends with the object. Throws std::runtime_error where it does
/// not start, and where it does not answer. To be made while no other thread runs, as it forks.
class AcquirerProcess {
 public:
  AcquirerProcess();
  AcquirerProcess(const AcquirerProcess&) = delete;
  AcquirerProcess& operator=(const AcquirerProcess&) = delete;
  ~AcquirerProcess();

  [[nodiscard]] const std::string& url() const { return url_; }

  /// From now on one charge is made and never answered.
  void swallow_one_answer() const;
  /// How many charges took effect.
  [[nodiscard]] std::size_t charges() const;
  /// The id of the first.
  [[nodiscard]] std::string first_charge() const;

 private:
  void start();
  void stop();
  [[nodiscard]] std::string ledger() const;

  std::string ledger_file_;
  std::string url_;
  pid_t process_ = 0;
};

}  // namespace payments::demo
