// Tests that end in each way in which a process can end, for check-count. They are no tests of idem.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace {

TEST(Good, Passes) {}
TEST(Good, IsSkipped) {
  GTEST_SKIP() << "as it is meant to be";
}
TEST(Good, HasAChildThatDies) {
  const pid_t child = ::fork();
  if (child == 0) std::abort();
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
}
TEST(Good, HasAChildThatExits) {
  const pid_t child = ::fork();
  if (child == 0) std::exit(3);  // NOLINT(concurrency-mt-unsafe): one thread
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
}

TEST(Bad, Fails) {
  FAIL();
}
TEST(Bad, FailsAtItsEnd) {
  struct AtExit {
    ~AtExit() { std::_Exit(9); }
  };
  static const AtExit leak_checker;
}

TEST(Fatal, Aborts) {
  std::abort();
}
TEST(Fatal, Exits) {
  std::exit(0);  // NOLINT(concurrency-mt-unsafe): one thread
}
TEST(Fatal, Hangs) {
  for (;;) std::this_thread::sleep_for(std::chrono::hours{1});
}
TEST(Fatal, HasNoStackLeft) {
  struct Endless {
    // NOLINTNEXTLINE(misc-no-recursion): as it is meant to be
    int operator()(int depth) const {
      volatile int kept = depth;
      return kept == 0 ? 0 : (*this)(depth + 1) + kept;
    }
  };
  EXPECT_EQ(Endless{}(1), 0);
}
TEST(Fatal, WritesToNobody) {
  ::raise(SIGPIPE);
}

class SetUpFails : public testing::Test {
 protected:
  static void SetUpTestSuite() { FAIL(); }
};
TEST_F(SetUpFails, IsNotRun) {}

class SetUpExits : public testing::Test {
 protected:
  static void SetUpTestSuite() { std::exit(0); }  // NOLINT(concurrency-mt-unsafe): one thread
};
TEST_F(SetUpExits, IsNotReached) {}

class SetUpHangs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (;;) std::this_thread::sleep_for(std::chrono::hours{1});
  }
};
TEST_F(SetUpHangs, IsNotReached) {}

TEST(Disabled, DISABLED_IsCounted) {}

TEST(Later, IsNotReached) {}
TEST(Later, NeitherIsThis) {}

}  // namespace
