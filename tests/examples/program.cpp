#include "examples/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "idem/base/uuid.hpp"

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

Running::Running(const std::vector<std::string>& words) {
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  arguments.reserve(copies.size() + 1);
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_.path().c_str(), O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_.path().c_str(), O_WRONLY, 0);
  const int failed = posix_spawn(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error{"cannot start " + words[0]};
}

Running::~Running() {
  if (process_ != 0) (void)kill();
}

void Running::expect_not_waited_for() const {
  // Process 0 would be this program, with all that it has started.
  if (process_ == 0) throw std::logic_error{"the program was waited for already"};
}

Finished Running::wait() {
  expect_not_waited_for();
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out_.content(), err_.content(),
          WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

Finished Running::wait_at_most(std::chrono::seconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!ended()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error{"a program does not end"};
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return wait();
}

std::string Running::url_once_listening() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  std::string told;
  while (!(told = out()).ends_with('\n')) {
    if (ended()) throw std::runtime_error{"the server ended: " + wait().err};
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error{"the server does not start"};
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  constexpr std::string_view head = "listening on ";
  if (!told.starts_with(head)) throw std::runtime_error{"the server says: " + told};
  return told.substr(head.size(), told.size() - head.size() - 1);
}

Finished Running::kill() {
  signal(SIGKILL);
  return wait();
}

void Running::signal(int number) {
  expect_not_waited_for();
  ::kill(process_, number);
}

bool Running::ended() const {
  expect_not_waited_for();
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid != 0;
}

Finished run_program(const std::vector<std::string>& words) {
  return Running{words}.wait();
}

}  // namespace idem::examples_test
