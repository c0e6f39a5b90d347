// SIGKILL at crash point 1, 2, 3, … of a refund through three services, until none fires.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "fault/kills.hpp"
#include "fault/planted_bugs.hpp"
#include "fault/saga_harness.hpp"

namespace idem::fault_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Judged kill(SagaHarness& harness, Flow flow, Second second, Then then) {
  const auto worker = [&](const std::string& refund, int point) -> std::vector<std::string> {
    return {SAGA_WORKER, harness.database_url(),       harness.services_url(),
            refund,      std::string{to_string(flow)}, std::to_string(point)};
  };
  const auto ask = [&](const std::string& refund) { return harness.ask(flow, refund); };
  return kill_at_every_point(harness, worker, ask, second, then);
}

struct Variant {
  Story story;
  Second second;
  Then then;
};

std::ostream& operator<<(std::ostream& out, const Variant& variant) {
  out << to_string(variant.story);
  if (variant.second == Second::dies) out << "SecondDiesToo";
  return out << (variant.then == Then::client_retries ? "ClientRetries" : "SweepAlone");
}

// Not each with each, for the time that it takes: a refused e-mail is the way of a done refund, but for its
// end.
const std::vector<Variant> variants{
    {Story::done, Second::none, Then::client_retries},
    {Story::done, Second::none, Then::sweep_alone},
    {Story::done, Second::dies, Then::client_retries},
    {Story::payments_refuse, Second::none, Then::client_retries},
    {Story::payments_refuse, Second::none, Then::sweep_alone},
    {Story::payments_refuse, Second::dies, Then::sweep_alone},
    {Story::email_refused, Second::none, Then::client_retries},
    {Story::email_refused, Second::none, Then::sweep_alone},
};

class SagaIsKilled : public ::testing::TestWithParam<Variant> {};

TEST_P(SagaIsKilled, AtEveryPointAndEachServiceDoesItOnce) {
  const auto& [story, second, then] = GetParam();
  SagaHarness harness{story};
  const Judged kills = kill(harness, Flow::right, second, then);
  const SagaHappened& happened = harness.happened();
  std::cout << "killed at " << kills.points << " points; " << happened.taken_over
            << " calls taken over, nothing left of " << happened.nothing_left << '\n';
  RecordProperty("crash_points", kills.points);
  EXPECT_THAT(kills.violations, IsEmpty());

  // Each side of each statement and of the three calls: three transactions for each of them, and two before.
  EXPECT_GE(kills.points, 2 * (3 * 15 + 3));
  EXPECT_GT(happened.taken_over, 0);
  if (then == Then::sweep_alone) {
    EXPECT_GT(happened.nothing_left, 0);
  } else {
    EXPECT_EQ(happened.nothing_left, 0) << "somebody retried";
  }
}

INSTANTIATE_TEST_SUITE_P(Saga, SagaIsKilled, ::testing::ValuesIn(variants),
                         ::testing::PrintToStringParamName());

// A bug is found where it shows at some points, and not at all of them: uninterrupted it is right.
void expect_found(Flow flow, const std::string& violation) {
  SagaHarness harness{Story::done};
  const Judged kills = kill(harness, flow, Second::none, Then::client_retries);
  std::cout << "the planted bug was found at " << kills.violating << " of " << kills.points << " points, by "
            << kills.violations.size() << " violations\n";
  ::testing::Test::RecordProperty("crash_points", kills.points);
  ::testing::Test::RecordProperty("violations", static_cast<int>(kills.violations.size()));
  EXPECT_THAT(kills.violations, ::testing::Contains(HasSubstr(violation)));
  EXPECT_LT(kills.violating, kills.points);
}

TEST(PlantedBugOfASagaIsKilled, ARecordCompletedInASecondTransactionIsFound) {
  expect_found(Flow::second_transaction, "is left unsettled");
}

TEST(PlantedBugOfASagaIsKilled, ABlindRetryIsFound) {
  expect_found(Flow::blind_retry, ": 2 times enrolment/withdraw done");
}

}  // namespace
}  // namespace idem::fault_test
