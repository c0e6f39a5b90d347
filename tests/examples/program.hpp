// Runs one of the example programs as a user would.
#pragma once

#include <string>
#include <vector>

namespace idem::examples_test {

struct Finished {
  int status = -1;  ///< The exit status; -1 where a signal ended it.
  std::string out;
  std::string err;
};

/// Runs `words[0]` with the other words as arguments, to its end. Throws std::runtime_error where it cannot
/// be started.
[[nodiscard]] Finished run_program(const std::vector<std::string>& words);

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

}  // namespace idem::examples_test
