// Which findings can be repaired, and as what.
#include "idem/settlement/repair.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "idem/base/error.hpp"
#include "idem/call/external_call.hpp"
#include "idem/memory/database.hpp"
#include "idem/testing/fake_acquirer.hpp"
#include "idem/testing/fake_clock.hpp"

namespace idem {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;
using testing::FakeAcquirer;
using testing::FakeCharge;

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

// ---- A key that is used again after its retention has its old record's downstream key (unless key_per_generation), and an old
// settlement file says what became of that one.

Finding declined_at(std::optional<TimePoint> at, TimePoint created_at) {
  return {.kind = FindingKind::theirs_only,
          .entry = SettlementEntry{.downstream_key = "3c52b1c4-b7b4-8e4a-9a0e-2f4b0f6c6c1d",
                                   .outcome = SettlementOutcome::declined,
                                   .amount = 1290,
                                   .reference = "ch_1",
                                   .at = at},
          .ours = OurSide{.key = {"p", "op", "k"}, .state = State::unknown, .created_at = created_at}};
}

TEST(RepairOldDecline, ADeclineBeforeTheRecordIsAnOlderOnes) {
  const TimePoint created{std::chrono::sys_days{std::chrono::year{2026} / 1 / 30}};
  EXPECT_EQ(repairable_as(declined_at(created - 24h * 4, created)), std::nullopt);
}

struct Charge {
  FakeAcquirer& acquirer;
  [[nodiscard]] static Downstream downstream() { return cannot_deduplicate("acquirer"); }
  template <class Tx>
  void prepare(Tx&, const CallContext&) {}
  CallResult<FakeAcquirer::Answer> call(const CallContext& context) {
    return acquirer.charge(context.downstream_key, "1290 EUR");
  }
  template <class Tx>
  Decision finish(Tx&, const CallContext&, const FakeAcquirer::Answer& answer) {
    return answer.approved ? completed(text_response(201, answer.reference))
                           : failed(text_response(402, answer.reference));
  }
  template <class Tx>
  Response unknown(Tx&, const CallContext&) {
    return text_response(202, "not known yet");
  }
  [[nodiscard]] static FakeAcquirer::Answer answer_of(const Repair& repair) {
    return {repair.as == RepairAs::charged, repair.entry->reference};
  }
};

// Whole: declined on day 1; the same key again on day 5 is charged, and the answer is lost. Then day 1's file is compared
// again ("it is safe to repeat, with the same file too").
TEST(RepairOldDecline, AChargeIsNotAnsweredByTheOldRecordsDecline) {
  const auto clock = std::make_shared<testing::FakeClock>();
  memory::Database database{clock};
  const auto begin = [&] { return database.begin(); };
  FakeAcquirer acquirer{false};
  Charge charge{acquirer};
  const Request request{{"p", "op", "k"}, Fingerprinter{}({.operation = "op", .body = "{}"})};

  acquirer.then(FakeCharge::decline);
  ASSERT_TRUE(std::holds_alternative<Executed>(external_call(database, begin, request, charge)));
  const TimePoint declined_at = clock->now();
  clock->advance(24h * 4);
  acquirer.then(FakeCharge::time_out_after);
  ASSERT_TRUE(std::holds_alternative<Unknown>(external_call(database, begin, request, charge)));
  clock->advance(1h);

  auto tx = database.begin();
  const Record record = database.store(tx)->find(request.key).value();
  const std::string key = downstream_key(request.key, request.fingerprint);
  const SettlementEntry old{.downstream_key = key,
                            .outcome = SettlementOutcome::declined,
                            .amount = 1290,
                            .reference = "ch_1",
                            .at = declined_at};
  const OurSide ours{.key = request.key,
                     .state = record.state,
                     .holder = record.holder,
                     .generation = record.generation,
                     .created_at = record.created_at,
                     .downstream_key = key};
  const auto finding = compare(old, ours);
  ASSERT_TRUE(finding);
  if (const auto as = repairable_as(*finding)) {
    const Repair repair{.repair_key = repair_key(*finding, *as),
                        .key = request.key,
                        .holder = record.holder,
                        .generation = record.generation,
                        .as = *as,
                        .downstream_key = key,
                        .entry = old,
                        .queued_by = "idemctl reconcile"};
    (void)apply_repair(database, tx, repair, [&](auto&, const LapsedRecord&) { return charge; });
    tx.commit();
  }
  auto after = database.begin();
  EXPECT_NE(database.store(after)->find(request.key)->state, State::failed)
      << "the client of a charge that was made is told that it was declined";
}

// ---- A settlement with times in whole seconds, as docs/reconciliation.md's own example has them.

const TimePoint second{std::chrono::sys_days{std::chrono::year{2026} / 1 / 30} + 14h + 2min + 11s};

Finding entry_of(SettlementOutcome outcome, std::optional<TimePoint> at, TimePoint created_at) {
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
  EXPECT_EQ(repairable_as(entry_of(SettlementOutcome::charged, second, second + 300ms)), RepairAs::charged);
}

TEST(RepairWholeSecond, AChargeOfTheSecondBeforeIsStillAnOlderRecords) {
  EXPECT_EQ(repairable_as(entry_of(SettlementOutcome::charged, second - 1s, second + 300ms)), std::nullopt);
}

}  // namespace
}  // namespace idem
