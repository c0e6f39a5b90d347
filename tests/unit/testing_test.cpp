// The helpers that users' tests get.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "idem/base/error.hpp"
#include "idem/testing/fake_clock.hpp"
#include "idem/testing/race.hpp"

namespace idem::testing {
namespace {

using namespace std::chrono_literals;

TEST(FakeClock, MovesOnlyWhenItIsAdvanced) {
  FakeClock clock;
  EXPECT_EQ(clock.now(), FakeClock::default_start);
  clock.advance(1h + 1us);
  EXPECT_EQ(clock.now(), FakeClock::default_start + 1h + 1us);
  EXPECT_THROW(clock.advance(-1us), InvalidArgument);
  EXPECT_EQ(clock.now(), FakeClock::default_start + 1h + 1us);
}

TEST(FakeClock, IsSafeBetweenThreads) {
  FakeClock clock{TimePoint{}};
  race(8, [&](std::size_t) {
    for (int i = 0; i < 1000; ++i) clock.advance(1us);
  });
  EXPECT_EQ(clock.now(), TimePoint{} + 8ms);
}

TEST(Race, RunsEachIndexOnceAndAtTheSameTime) {
  std::vector<std::atomic<int>> runs(16);
  std::atomic<std::size_t> here{0};
  race(16, [&](std::size_t index) {
    ++runs[index];
    // Ends only if all have been started.
    ++here;
    while (here < 16) std::this_thread::yield();
  });
  for (const auto& count : runs) EXPECT_EQ(count, 1);
}

TEST(Race, ThrowsWhatAThreadThrewAfterAllHaveReturned) {
  std::atomic<int> returned{0};
  const auto run = [&](std::size_t index) {
    ++returned;
    if (index % 2 == 0) throw std::out_of_range{"thrown by a thread"};
  };
  EXPECT_THROW(race(4, run), std::out_of_range);
  EXPECT_EQ(returned, 4);
  EXPECT_EQ(race_errors(5, run).size(), 3U);
  EXPECT_TRUE(race_errors(2, [](std::size_t) {}).empty());
}

TEST(Race, RefusesNoThread) {
  EXPECT_THROW(race(0, [](std::size_t) {}), InvalidArgument);
}

}  // namespace
}  // namespace idem::testing
