// Runs one of the example programs as a user would.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace idem::examples_test {

struct Finished {
  int status = -1;  ///< The exit status; -1 where a signal ended it.
  std::string out;
  std::string err;
  int signal = 0;  ///< Which one ended it; 0 where none did.
};

/// A file with that content in the temporary folder, gone with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string content() const;

 private:
  std::string path_;
};

/// A program that was started. Once it was waited for, its functions but out() and err() throw std::logic_error.
class Running {
 public:
  /// Runs `words[0]` with the other words as arguments. Throws std::runtime_error where it cannot be started.
  explicit Running(const std::vector<std::string>& words);
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  /// Kills it where it still runs.
  ~Running();

  /// Waits for its end.
  [[nodiscard]] Finished wait();
  /// Waits for its end; throws std::runtime_error where that does not come.
  [[nodiscard]] Finished wait_at_most(std::chrono::seconds patience);
  /// Ends it by SIGKILL.
  [[nodiscard]] Finished kill();
  void signal(int number);
  /// Has it ended, not waited for yet?
  [[nodiscard]] bool ended() const;
  /// What it has written to stdout so far.
  [[nodiscard]] std::string out() const { return out_.content(); }
  /// And to stderr.
  [[nodiscard]] std::string err() const { return err_.content(); }
  /// The URL of a server, once it tells `listening on URL`. Throws std::runtime_error where it does not.
  [[nodiscard]] std::string url_once_listening();

 private:
  void expect_not_waited_for() const;

  TemporaryFile out_{""};
  TemporaryFile err_{""};
  pid_t process_ = 0;
};

/// Runs `words[0]` with the other words as arguments, to its end. Throws std::runtime_error where it cannot
/// be started.
[[nodiscard]] Finished run_program(const std::vector<std::string>& words);

}  // namespace idem::examples_test
