// A settlement with times in whole seconds, as docs/reconciliation.md's own example has them.
#include <gtest/gtest.h>

#include "idem/settlement/repair.hpp"

namespace idem {
namespace {

using namespace std::chrono_literals;

const TimePoint second{std::chrono::sys_days{std::chrono::year{2026} / 1 / 30} + 14h + 2min + 11s};

Finding finding(SettlementOutcome outcome, std::optional<TimePoint> at, TimePoint created_at) {
  return {.kind = FindingKind::theirs_only,
          .entry = SettlementEntry{.downstream_key = "3c52b1c4-b7b4-8e4a-9a0e-2f4b0f6c6c1d",
                                   .outcome = outcome,
                                   .amount = 1290,
                                   .reference = "ch_81",
                                   .at = at},
          .ours = OurSide{.key = {"p", "op", "k"}, .state = State::unknown, .created_at = created_at}};
}

// Reserved at 14:02:11.300, charged at 14:02:11.350; the settlement says 14:02:11.
TEST(RepairWholeSecond, AChargeInTheSecondOfItsReservationCanBeRepaired) {
  EXPECT_EQ(repairable_as(finding(SettlementOutcome::charged, second, second + 300ms)), RepairAs::charged);
}

TEST(RepairWholeSecond, AChargeOfTheSecondBeforeIsStillAnOlderRecords) {
  EXPECT_EQ(repairable_as(finding(SettlementOutcome::charged, second - 1s, second + 300ms)), std::nullopt);
}

}  // namespace
}  // namespace idem
