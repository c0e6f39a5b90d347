// The connection to the database lost at every protocol message of a refund, in each direction, before and
// after it arrives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "fault/cuts.hpp"
#include "fault/planted_bugs.hpp"
#include "fault/saga_harness.hpp"
#include "session.hpp"

namespace idem::fault_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Cuts cut(SagaHarness& harness, Flow flow, const CallOptions& options, Then then,
         const std::vector<Direction>& directions = both_directions) {
  const auto open = [&](const std::string& url, const std::string& refund) -> Client {
    return [&harness, flow, options, url, refund, is_first = true]() mutable -> Told {
      if (!std::exchange(is_first, false)) return harness.ask(flow, refund);
      examples::Session session{url};
      return run_refund(flow, session, harness.services(), refund, options);
    };
  };
  return cut_at_every_message(harness, open, then, directions);
}

struct Variant {
  Story story;
  int tries;  ///< The library's own.
  Then then;
};

std::ostream& operator<<(std::ostream& out, const Variant& variant) {
  return out << to_string(variant.story) << (variant.tries > 1 ? "ItRetries" : "ItGivesUp")
             << (variant.then == Then::client_retries ? "ClientRetries" : "SweepAlone");
}

// Each pair of two, for the time that it takes.
const std::vector<Variant> variants{
    {Story::done, RetryOptions{}.max_tries, Then::client_retries},
    {Story::done, 1, Then::sweep_alone},
    {Story::payments_refuse, RetryOptions{}.max_tries, Then::sweep_alone},
    {Story::payments_refuse, 1, Then::client_retries},
};

class SagaIsCutOff : public ::testing::TestWithParam<Variant> {};

TEST_P(SagaIsCutOff, AtEveryMessageAndEachServiceDoesItOnce) {
  const auto& [story, tries, then] = GetParam();
  SagaHarness harness{story};
  CallOptions options = saga_options();
  options.retry.max_tries = tries;
  options.settle_tries = tries;
  const Cuts cuts = cut(harness, Flow::right, options, then);
  const SagaHappened& happened = harness.happened();
  std::cout << "cut off " << cuts.points << " times, " << cuts.to_server << " on the way to the server; "
            << cuts.errors << " clients told nothing, " << happened.taken_over
            << " calls taken over, nothing left of " << happened.nothing_left << '\n';
  RecordProperty("cuts", cuts.points);
  EXPECT_THAT(cuts.violations, IsEmpty());

  // The start and each statement, before and after; an answer is at least two messages.
  EXPECT_GE(cuts.to_server, 2 * (1 + 3 * 15));
  EXPECT_GE(cuts.points - cuts.to_server, 2 * 2 * (1 + 3 * 15));
  EXPECT_GT(cuts.errors, 0) << "what is lost while the saga reads is the client's to retry";
  if (tries > 1) {
    EXPECT_EQ(happened.taken_over, 0) << "one lost connection is what a call gets over by itself";
  } else {
    EXPECT_GT(happened.taken_over, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Saga, SagaIsCutOff, ::testing::ValuesIn(variants),
                         ::testing::PrintToStringParamName());

// A bug is found where it shows at some cuts, and not at all of them: uninterrupted it is right.
void expect_found(Flow flow, const std::string& violation) {
  SagaHarness harness{Story::done};
  const Cuts cuts = cut(harness, flow, saga_options(), Then::client_retries, {Direction::to_server});
  std::cout << "the planted bug was found by " << cuts.violating << " of " << cuts.points << " cuts, by "
            << cuts.violations.size() << " violations\n";
  ::testing::Test::RecordProperty("cuts", cuts.points);
  ::testing::Test::RecordProperty("violations", static_cast<int>(cuts.violations.size()));
  EXPECT_THAT(cuts.violations, ::testing::Contains(HasSubstr(violation)));
  EXPECT_LT(cuts.violating, cuts.points);
}

TEST(PlantedBugOfASagaIsCutOff, ARecordCompletedInASecondTransactionIsFound) {
  expect_found(Flow::second_transaction, "is left unsettled");
}

TEST(PlantedBugOfASagaIsCutOff, ABlindRetryIsFound) {
  expect_found(Flow::blind_retry, ": 2 times enrolment/withdraw done");
}

}  // namespace
}  // namespace idem::fault_test
