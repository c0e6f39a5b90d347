// SIGKILL at crash point 1, 2, 3, … of a payment through an outside acquirer, until none fires.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "fault/charge_harness.hpp"
#include "fault/kills.hpp"
#include "fault/planted_bugs.hpp"

namespace idem::fault_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ChargeKill {
 public:
  explicit ChargeKill(Acquirer acquirer, Flow flow = Flow::right) : harness{acquirer}, flow_{flow} {}

  Judged at_every_point(Second second, Then then) {
    const auto worker = [this](const std::string& key, int point) -> std::vector<std::string> {
      return {CHARGE_WORKER,
              harness.database().url(),
              harness.database().schema(),
              harness.acquirer_url(),
              key,
              std::string{to_string(harness.acquirer())},
              std::string{to_string(flow_)},
              std::to_string(point)};
    };
    const auto ask = [&](const std::string& key) { return answer_of(worker(key, 0)); };
    return kill_at_every_point(harness, worker, ask, second, then);
  }

  ChargeHarness harness;

 private:
  Flow flow_;
};

struct Variant {
  Acquirer acquirer;
  Second second;
  Then then;
};

std::ostream& operator<<(std::ostream& out, const Variant& variant) {
  out << (variant.acquirer == Acquirer::deduplicates ? "Deduplicates" : "CannotDeduplicate");
  if (variant.second == Second::takes_over) out << "SecondTakesOver";
  if (variant.second == Second::dies) out << "SecondDiesToo";
  return out << (variant.then == Then::client_retries ? "ClientRetries" : "SweepAlone");
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const Acquirer acquirer : {Acquirer::deduplicates, Acquirer::cannot_deduplicate}) {
    for (const Second second : {Second::none, Second::takes_over, Second::dies}) {
      for (const Then then : {Then::client_retries, Then::sweep_alone})
        all.push_back({acquirer, second, then});
    }
  }
  return all;
}

class ChargeIsKilled : public ::testing::TestWithParam<Variant> {};

TEST_P(ChargeIsKilled, AtEveryPointAndItIsChargedOnce) {
  const auto& [acquirer, second, then] = GetParam();
  ChargeKill kill{acquirer};
  const Judged kills = kill.at_every_point(second, then);
  const Happened& happened = kill.harness.happened();
  std::cout << "killed at " << kills.points << " points; " << happened.taken_over << " taken over, "
            << happened.found_charged << " reconciled as charged, " << happened.found_not_charged
            << " as not charged, nothing left of " << happened.nothing_left << '\n';
  RecordProperty("crash_points", kills.points);
  EXPECT_THAT(kills.violations, IsEmpty());

  // Each side of each statement and of the call: ten statements at the least.
  EXPECT_GE(kills.points, 22);
  EXPECT_GT(happened.taken_over, 0);
  if (acquirer == Acquirer::cannot_deduplicate) {
    EXPECT_GT(happened.found_charged, 0);
    EXPECT_GT(happened.found_not_charged, 0);
  } else {
    EXPECT_EQ(happened.found_charged + happened.found_not_charged, 0) << "it can be asked again";
  }
  if (then == Then::sweep_alone && second != Second::takes_over) {
    EXPECT_GT(happened.nothing_left, 0);
  } else {
    EXPECT_EQ(happened.nothing_left, 0) << "somebody retried";
  }
}

INSTANTIATE_TEST_SUITE_P(Charge, ChargeIsKilled, ::testing::ValuesIn(variants()),
                         ::testing::PrintToStringParamName());

// A bug is found where it shows at some points, and not at all of them: uninterrupted it is right.
class PlantedBugIsKilled : public ::testing::TestWithParam<Acquirer> {
 protected:
  static void expect_found(Flow flow, const std::string& violation) {
    ChargeKill kill{GetParam(), flow};
    const Judged kills = kill.at_every_point(Second::none, Then::client_retries);
    std::cout << "the planted bug was found at " << kills.violating << " of " << kills.points
              << " points, by " << kills.violations.size() << " violations\n";
    RecordProperty("crash_points", kills.points);
    RecordProperty("violations", static_cast<int>(kills.violations.size()));
    EXPECT_THAT(kills.violations, ::testing::Contains(HasSubstr(violation)));
    EXPECT_LT(kills.violating, kills.points);
  }
};

TEST_P(PlantedBugIsKilled, ARecordCompletedInASecondTransactionIsFound) {
  expect_found(Flow::second_transaction, ": 2 events");
}

TEST_P(PlantedBugIsKilled, ABlindRetryIsFound) {
  expect_found(Flow::blind_retry, ": 2 charges");
}

INSTANTIATE_TEST_SUITE_P(Charge, PlantedBugIsKilled,
                         ::testing::Values(Acquirer::deduplicates, Acquirer::cannot_deduplicate),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace idem::fault_test
