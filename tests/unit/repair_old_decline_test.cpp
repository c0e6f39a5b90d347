// A key that is used again after its retention has its old record's downstream key (unless key_per_generation), and an old
// settlement file says what became of that one.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>

#include "idem/call/external_call.hpp"
#include "idem/memory/database.hpp"
#include "idem/settlement/repair.hpp"
#include "idem/testing/fake_acquirer.hpp"
#include "idem/testing/fake_clock.hpp"

namespace idem {
namespace {

using namespace std::chrono_literals;
using testing::FakeAcquirer;
using testing::FakeCharge;

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

}  // namespace
}  // namespace idem
