// Which findings can be repaired, and as what.
#include "idem/settlement/repair.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "idem/base/error.hpp"

namespace idem {
namespace {

using std::chrono::seconds;

const TimePoint created_at{std::chrono::microseconds{1'780'000'000'000'000}};

Finding finding(FindingKind kind, State state, std::optional<SettlementOutcome> outcome) {
  Finding made{.kind = kind,
               .ours = OurSide{.key = {"p", "op", "k"},
                               .state = state,
                               .holder = {9, {}},
                               .generation = 7,
                               .created_at = created_at}};
  if (outcome)
    made.entry =
        SettlementEntry{.downstream_key = "x", .outcome = *outcome, .amount = 1290, .reference = "r"};
  return made;
}

Finding charge() {
  Finding made = finding(FindingKind::theirs_only, State::unknown, SettlementOutcome::charged);
  made.entry->at = created_at;
  return made;
}

Finding decline() {
  Finding made = finding(FindingKind::theirs_only, State::unknown, SettlementOutcome::declined);
  made.entry->at = created_at;
  return made;
}

Finding nothing() {
  return finding(FindingKind::ours_only, State::unknown, std::nullopt);
}

TEST(Repair, AnUnknownRecordBecomesWhatTheEntrySays) {
  for (const auto settlement : {Settlement::open, Settlement::closed}) {
    EXPECT_EQ(repairable_as(charge(), settlement), RepairAs::charged);
    EXPECT_EQ(repairable_as(decline(), settlement), RepairAs::declined);
  }
}

TEST(Repair, NoEntryMeansNotChargedOnlyOnceTheSettlementIsClosed) {
  EXPECT_FALSE(repairable_as(nothing()));
  EXPECT_EQ(repairable_as(nothing(), Settlement::closed), RepairAs::not_charged);
}

TEST(Repair, NothingElseIsRepaired) {
  for (const State state : {State::in_progress, State::completed, State::failed}) {
    EXPECT_FALSE(repairable_as(finding(FindingKind::theirs_only, state, SettlementOutcome::charged)));
    EXPECT_FALSE(repairable_as(finding(FindingKind::ours_only, state, std::nullopt), Settlement::closed));
  }
  // Charged twice, and a decline that a charge contradicts.
  EXPECT_FALSE(repairable_as(finding(FindingKind::differing, State::unknown, SettlementOutcome::charged)));
  EXPECT_FALSE(repairable_as(finding(FindingKind::matched, State::unknown, SettlementOutcome::charged)));
  Finding without_record = charge();
  without_record.ours.reset();
  EXPECT_FALSE(repairable_as(without_record, Settlement::closed));
}

TEST(Repair, AChargeFromBeforeTheRecordIsAnOlderOnes) {
  Finding made = charge();
  made.entry->at = created_at;
  EXPECT_EQ(repairable_as(made), RepairAs::charged);
  made.entry->at = created_at - std::chrono::microseconds{1};
  EXPECT_FALSE(repairable_as(made));
  // Nobody can tell.
  made.entry->at.reset();
  EXPECT_FALSE(repairable_as(made));
}

TEST(Repair, TheKeyIsFrozen) {
  // Computed by another program (Python's hashlib).
  EXPECT_EQ(repair_key(charge(), RepairAs::charged), "47ffa455-9660-8a67-931e-bdab039435fd");
  EXPECT_EQ(repair_key(nothing(), RepairAs::not_charged), "f4f9ecff-2ae3-8a62-8bbe-10614838f888");
}

TEST(Repair, TheKeyTellsApartWhatIsAnotherRepair) {
  std::set<std::string> keys{repair_key(charge(), RepairAs::charged),
                             repair_key(decline(), RepairAs::declined),
                             repair_key(nothing(), RepairAs::not_charged)};
  const auto changed = [&](auto change) {
    Finding other = charge();
    change(other);
    EXPECT_TRUE(keys.insert(repair_key(other, RepairAs::charged)).second);
  };
  changed([](Finding& each) { each.ours->key.principal = "q"; });
  changed([](Finding& each) { each.ours->key.operation = "oq"; });
  changed([](Finding& each) { each.ours->key.value = "l"; });
  changed([](Finding& each) { each.ours->generation = 8; });
  changed([](Finding& each) { each.entry->amount = 1291; });
  changed([](Finding& each) { each.entry->reference = "s"; });
  EXPECT_EQ(keys.size(), 9U);
}

TEST(Repair, TheKeyStaysTheSameOverTakeoversAndTimes) {
  Finding other = charge();
  other.ours->holder.fence = 100;
  other.entry->at = created_at + seconds{1};
  EXPECT_EQ(repair_key(other, RepairAs::charged), repair_key(charge(), RepairAs::charged));
}

TEST(Repair, WhatCannotBeRepairedHasNoKey) {
  EXPECT_THROW(static_cast<void>(repair_key(charge(), RepairAs::declined)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(
                   repair_key(finding(FindingKind::theirs_only, State::completed, SettlementOutcome::charged),
                              RepairAs::charged)),
               InvalidArgument);
}

TEST(Repair, TheNamesAreStable) {
  EXPECT_EQ(to_string(RepairAs::charged), "charged");
  EXPECT_EQ(to_string(RepairAs::declined), "declined");
  EXPECT_EQ(to_string(RepairAs::not_charged), "not_charged");
}

}  // namespace
}  // namespace idem
