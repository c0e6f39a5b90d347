// `payments serve` under load from several clients, killed and started again. IDEM_LOAD_SECONDS and IDEM_LOAD_KILLS make it
// longer: scripts/check-all runs it for 60 s with 10 kills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "fault/http_load.hpp"

namespace idem::fault_test {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

int number_in(const char* name, int otherwise) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets it
  return value == nullptr ? otherwise : std::stoi(value);
}

LoadReport reported(const LoadOptions& options) {
  LoadReport report = run_load(options);
  std::cout << report << std::flush;
  return report;
}

TEST(HttpLoad, EachIntentIsChargedOnceWhateverIsSentTwiceAndHoweverOftenTheServerDies) {
  const LoadOptions options{.duration = std::chrono::seconds{number_in("IDEM_LOAD_SECONDS", 6)},
                            .kills = number_in("IDEM_LOAD_KILLS", 2)};
  const LoadReport report = reported(options);
  EXPECT_THAT(report.violations, IsEmpty());
  EXPECT_EQ(report.charges, report.intents);
  // All that it is about has happened.
  EXPECT_EQ(report.kills, options.kills);
  EXPECT_GT(report.taken_over, 0U);
  EXPECT_GT(report.no_answers, 0U);
  EXPECT_GT(report.concurrent, 0U);
  EXPECT_GT(report.late, 0U);
  EXPECT_GT(report.replays, report.intents);
  EXPECT_GT(report.declines, 0U);
}

LoadOptions short_one() {
  return {.duration = 2s, .kills = 1, .lease = 1s, .acquirer_delay = 150ms};
}

// A load that does not find these proves nothing.
TEST(HttpLoadPlantedBug, AClientThatMintsAnotherKeyAfterNoAnswerIsFound) {
  LoadOptions options = short_one();
  options.mints_again = true;
  const LoadReport report = reported(options);
  EXPECT_GT(report.charges, report.intents);
  EXPECT_THAT(report.violations, Contains(HasSubstr(": 2 charges")));
  EXPECT_THAT(report.violations, Contains(HasSubstr(": 2 payments")));
}

TEST(HttpLoadPlantedBug, AnAcquirerThatForgetsItsKeysIsFound) {
  LoadOptions options = short_one();
  options.acquirer_forgets = true;
  const LoadReport report = reported(options);
  EXPECT_GT(report.charges, report.intents);
  EXPECT_THAT(report.violations, Contains(HasSubstr(": 2 charges")));
}

TEST(HttpLoadPlantedBug, AServerThatFailsEveryReplayAndAClientThatThrowsAreFound) {
  LoadOptions options = short_one();
  options.replays_fail = true;
  options.a_client_fails = true;
  const LoadReport report = reported(options);
  const auto number_of = [&](const std::string& what) {
    return static_cast<std::uint64_t>(std::ranges::count_if(
        report.violations,
        [&](const std::string& violation) { return violation.find(what) != std::string::npos; }));
  };
  EXPECT_GT(report.intents, 0U);
  EXPECT_EQ(number_of(": decided, and failed"), report.intents);
  EXPECT_EQ(number_of("a client failed: it was planted"), 1U);
  EXPECT_EQ(report.violations.size(), report.intents + 1);
}

}  // namespace
}  // namespace idem::fault_test
