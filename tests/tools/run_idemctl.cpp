#include "tools/run_idemctl.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace idem::test {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
};
// Files rather than pipes: neither side can wait for the other.
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error{error, std::generic_category(), what};
}

File temporary(const std::string& content) {
  File file{std::tmpfile()};
  if (!file || std::fwrite(content.data(), 1, content.size(), file.get()) != content.size())
    fail(errno, "tmpfile");
  std::rewind(file.get());
  return file;
}

File opened(const std::string& path, const char* mode) {
  File file{std::fopen(path.c_str(), mode)};
  if (!file) fail(errno, path);
  return file;
}

std::string content_of(std::FILE* file) {
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  return text;
}

class FileActions {
 public:
  FileActions() {
    if (const int error = posix_spawn_file_actions_init(&actions_))
      fail(error, "posix_spawn_file_actions_init");
  }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }

  void use(std::FILE* file, int as) {
    if (const int error = posix_spawn_file_actions_adddup2(&actions_, fileno(file), as))
      fail(error, "adddup2");
  }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

Ended run_idemctl(std::vector<std::string> arguments, const Streams& streams) {
  const File in = streams.in_file.empty() ? temporary(streams.in) : opened(streams.in_file, "rb");
  const File out = streams.out_file.empty() ? temporary({}) : opened(streams.out_file, "wb");
  const File error = temporary({});
  FileActions actions;
  actions.use(in.get(), STDIN_FILENO);
  actions.use(out.get(), STDOUT_FILENO);
  actions.use(error.get(), STDERR_FILENO);

  arguments.insert(arguments.begin(), IDEMCTL_PATH);
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& word : arguments) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (const int failure = posix_spawn(&child, argv.front(), actions.get(), nullptr, argv.data(), environ)) {
    fail(failure, IDEMCTL_PATH);
  }
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child) fail(errno, "wait4");

  Ended run;
  if (WIFEXITED(status)) run.exit_code = WEXITSTATUS(status);
  if (streams.out_file.empty()) run.out = content_of(out.get());
  run.error = content_of(error.get());
  run.peak_kib = usage.ru_maxrss;  // NOLINT(cppcoreguidelines-pro-type-union-access): glibc's own way
  return run;
}

void expect_refused(const Ended& run, const std::string& message) {
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.error, "idemctl: " + message + "\n");
}

}  // namespace idem::test
