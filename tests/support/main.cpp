// The main() of every test binary: GoogleTest's, which also keeps a journal, takes only the tests that are asked for, and ends
// a test that hangs.
//
// The environment says so (tests/CMakeLists.txt and scripts/test set it; by hand nothing has to be set):
//
//   IDEM_TEST_JOURNALS  a folder: the process writes there what becomes of its tests, into
//   IDEM_TEST_PROCESS   a file of this name
//   IDEM_TEST_ONLY      an extended regular expression: only the tests whose names it matches
//   IDEM_TEST_NOT       and another: none of those
//   IDEM_TEST_ENTRY     what a test's name begins with for these two: "entry/Suite.Test"
//   IDEM_TEST_SECONDS   how long one test may take
//
// The journal has a line for each thing that happened, written at once, so that it is true up to where the process died:
//
//   tests N             how many it is to run
//   disabled N          how many of those that were asked for are disabled, where there are some
//   suite Suite         its tests follow, and what sets them up; `end Suite` when that is taken down
//   begin Suite.Test
//   passed Suite.Test   or `failed`, or `skipped`: that test has ended
//   outside Suite       what sets that suite up or takes it down has failed
//   expired             the test that runs, or what was done between two, took longer than it may; the process is about to be
//                       aborted
//   signal SEGV         it is about to end the process, if nobody handles it
//   done passed         or `done failed`, where something outside the tests failed too
//   exit N              the process called exit(N), as it does at its end
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace {

// The variable's value, which the programs that the tests start are not told.
std::string taken(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): there is one thread yet
  std::string copy = value == nullptr ? std::string{} : value;
  ::unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
  return copy;
}

class Regex {
 public:
  explicit Regex(const std::string& pattern) {
    if (::regcomp(&compiled_, pattern.c_str(), REG_EXTENDED | REG_NOSUB) != 0) {
      throw std::invalid_argument{"not an extended regular expression: " + pattern};
    }
  }
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;
  ~Regex() { ::regfree(&compiled_); }

  [[nodiscard]] bool matches(const std::string& text) const {
    return ::regexec(&compiled_, text.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t compiled_{};
};

std::string full_name(const testing::TestInfo& test) {
  return std::string{test.test_suite_name()} + "." + test.name();
}

// Takes those tests out that `only` does not match or `never` does, by the filter that GoogleTest has for it.
void narrow(const std::string& entry, const std::string& only, const std::string& never) {
  if (only.empty() && never.empty()) return;
  const Regex wanted{only};
  std::optional<Regex> unwanted;
  if (!never.empty()) unwanted.emplace(never);

  std::string filter = GTEST_FLAG_GET(filter);
  char separator = filter.find('-') == std::string::npos ? '-' : ':';
  const auto& all = *testing::UnitTest::GetInstance();
  for (int suite = 0; suite < all.total_test_suite_count(); ++suite) {
    const auto& tests = *all.GetTestSuite(suite);
    for (int number = 0; number < tests.total_test_count(); ++number) {
      const std::string name = full_name(*tests.GetTestInfo(number));
      const std::string told = entry + "/" + name;
      if (wanted.matches(told) && !(unwanted && unwanted->matches(told))) continue;
      filter += separator + name;
      separator = ':';
    }
  }
  GTEST_FLAG_SET(filter, filter);
}

// The journal. Only this process writes it: a child of a test has it open, and says nothing.
struct Journal {
  int file = -1;
  pid_t writer = 0;

  void open(const std::string& path) {
    file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) throw std::system_error{errno, std::generic_category(), path};
    writer = ::getpid();
  }
  // Safe in a signal handler.
  void write(std::string_view line) const {
    if (file < 0 || ::getpid() != writer) return;
    while (!line.empty()) {
      const auto written = ::write(file, line.data(), line.size());
      if (written < 0 && errno != EINTR) ::abort();  // what is not counted must not pass for well
      if (written > 0) line.remove_prefix(static_cast<std::size_t>(written));
    }
  }
};

// Of the process, as a signal handler and exit() have no other way to it.
Journal journal;

struct Fatal {
  int number;
  std::string_view line;
  struct sigaction former {};
};
std::array<Fatal, 11> fatal_signals{{{SIGSEGV, "signal SEGV\n"},
                                     {SIGBUS, "signal BUS\n"},
                                     {SIGILL, "signal ILL\n"},
                                     {SIGFPE, "signal FPE\n"},
                                     {SIGABRT, "signal ABRT\n"},
                                     {SIGTERM, "signal TERM\n"},
                                     {SIGINT, "signal INT\n"},
                                     {SIGHUP, "signal HUP\n"},
                                     {SIGPIPE, "signal PIPE\n"},
                                     {SIGUSR1, "signal USR1\n"},
                                     {SIGUSR2, "signal USR2\n"}}};

// Notes the signal and leaves it to whoever had it before: a sanitizer, or the system. It has a stack of its own, as a test that
// has used all of its own has none left.
void note_signals() {
  static std::array<char, 64 * 1024> stack;
  stack_t own{};
  own.ss_sp = stack.data();
  own.ss_size = stack.size();
  stack_t before{};
  if (::sigaltstack(nullptr, &before) == 0 && (before.ss_flags & SS_DISABLE) != 0)
    ::sigaltstack(&own, nullptr);
  for (Fatal& each : fatal_signals) {
    struct sigaction action {};
    action.sa_flags = SA_ONSTACK;
    action.sa_handler = [](int number) {
      for (const Fatal& one : fatal_signals) {
        if (one.number != number) continue;
        journal.write(one.line);
        ::sigaction(number, &one.former, nullptr);
      }
      // The others come again when the instruction that failed is tried again, and abort() sends its own again.
      constexpr std::array comes_again{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
      if (std::find(comes_again.begin(), comes_again.end(), number) == comes_again.end()) ::raise(number);
    };
    ::sigaction(each.number, &action, &each.former);
  }
}

class Keeper : public testing::EmptyTestEventListener {
 public:
  void OnTestProgramStart(const testing::UnitTest& all) override {
    journal.write("tests " + std::to_string(all.test_to_run_count()) + "\n");
    const int disabled = all.reportable_disabled_test_count();
    if (disabled > 0) journal.write("disabled " + std::to_string(disabled) + "\n");
  }
  void OnTestSuiteStart(const testing::TestSuite& suite) override {
    journal.write("suite " + std::string{suite.name()} + "\n");
  }
  void OnTestSuiteEnd(const testing::TestSuite& suite) override {
    if (suite.ad_hoc_test_result().Failed()) journal.write("outside " + std::string{suite.name()} + "\n");
    journal.write("end " + std::string{suite.name()} + "\n");
  }
  void OnTestStart(const testing::TestInfo& test) override {
    journal.write("begin " + full_name(test) + "\n");
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    const testing::TestResult& result = *test.result();
    const char* const what = result.Skipped() ? "skipped " : result.Passed() ? "passed " : "failed ";
    journal.write(what + full_name(test) + "\n");
  }
  void OnTestProgramEnd(const testing::UnitTest& all) override {
    journal.write(all.Passed() ? "done passed\n" : "done failed\n");
  }
};

class Limit : public testing::EmptyTestEventListener {
 public:
  explicit Limit(unsigned seconds) : seconds_{seconds} {
    struct sigaction action {};
    action.sa_handler = [](int) {
      constexpr std::string_view told = "the test has taken longer than it may: the process is aborted\n";
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, told.data(), told.size());
      journal.write("expired\n");
      ::abort();
    };
    ::sigaction(SIGALRM, &action, nullptr);
  }
  // What sets up and takes down may take as long as a test, and so may the end of the process.
  void OnTestProgramStart(const testing::UnitTest&) override { begin_again(); }
  void OnEnvironmentsSetUpEnd(const testing::UnitTest&) override { begin_again(); }
  void OnTestSuiteStart(const testing::TestSuite&) override { begin_again(); }
  void OnTestStart(const testing::TestInfo&) override { begin_again(); }
  void OnTestEnd(const testing::TestInfo&) override { begin_again(); }
  void OnTestSuiteEnd(const testing::TestSuite&) override { begin_again(); }
  void OnEnvironmentsTearDownStart(const testing::UnitTest&) override { begin_again(); }
  void OnTestProgramEnd(const testing::UnitTest&) override { begin_again(); }

 private:
  void begin_again() const { ::alarm(seconds_); }

  unsigned seconds_;
};

void prepare() {
  const std::string entry = taken("IDEM_TEST_ENTRY");
  narrow(entry, taken("IDEM_TEST_ONLY"), taken("IDEM_TEST_NOT"));

  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  const std::string folder = taken("IDEM_TEST_JOURNALS");
  const std::string process = taken("IDEM_TEST_PROCESS");
  if (!folder.empty() && !process.empty()) {
    journal.open(folder + "/" + process);
#ifdef __GLIBC__
    ::on_exit([](int status, void*) { journal.write("exit " + std::to_string(status) + "\n"); }, nullptr);
#endif
    note_signals();
    listeners.Append(new Keeper);  // NOLINT(cppcoreguidelines-owning-memory): GoogleTest deletes it
  }
  if (const std::string limit = taken("IDEM_TEST_SECONDS"); !limit.empty()) {
    unsigned seconds = 0;
    const char* const end = limit.data() + limit.size();
    if (std::from_chars(limit.data(), end, seconds).ptr != end || seconds == 0) {
      throw std::invalid_argument{"IDEM_TEST_SECONDS is no number of seconds: " + limit};
    }
    listeners.Append(new Limit{seconds});  // NOLINT(cppcoreguidelines-owning-memory)
  }
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  try {
    prepare();
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return RUN_ALL_TESTS();
}
