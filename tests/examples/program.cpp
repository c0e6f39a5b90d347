#include "examples/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "idem/uuid.hpp"

namespace idem::examples_test {

TemporaryFile::TemporaryFile(const std::string& content)
    : path_{
          (std::filesystem::temp_directory_path() / ("idem-test-" + random_uuid_v4().to_string())).string()} {
  std::ofstream file{path_, std::ios::binary};
  file << content;
  if (!file.flush()) throw std::runtime_error{"cannot write " + path_};
}

TemporaryFile::~TemporaryFile() {
  unlink(path_.c_str());
}

std::string TemporaryFile::content() const {
  std::ifstream file{path_, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

Finished run_program(const std::vector<std::string>& words) {
  const TemporaryFile out{""};
  const TemporaryFile err{""};
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  arguments.reserve(copies.size() + 1);
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.path().c_str(), O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.path().c_str(), O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error{"cannot start " + words[0]};

  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out.content(), err.content()};
}

}  // namespace idem::examples_test
