// The queue of repairs: queued once, given to one worker, done once.
#include "idem/postgres/repair.hpp"

#include <gtest/gtest.h>

#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "idem/base/error.hpp"
#include "idem/call/downstream_key.hpp"
#include "idem/postgres/schema.hpp"
#include "idem/request/fingerprint.hpp"
#include "postgres/test_database.hpp"

namespace idem::postgres_test {
namespace {

class RepairQueue : public ::testing::Test {
 protected:
  // An UNKNOWN record that the settlement has a charge of.
  static Finding charge(const std::string& value, const std::string& operation = "op") {
    const Key key{"p", operation, value};
    const std::string downstream = downstream_key(key, Fingerprinter{}({.operation = "op", .body = "{}"}));
    return {.kind = FindingKind::theirs_only,
            .entry =
                SettlementEntry{
                    .downstream_key = downstream, .amount = 1290, .reference = "r", .at = TimePoint{}},
            .ours = OurSide{.key = key,
                            .state = State::unknown,
                            .holder = {9, random_uuid_v4()},
                            .generation = 7,
                            .downstream_key = downstream}};
  }

  static Finding nothing(const std::string& value) {
    Finding finding = charge(value);
    finding.kind = FindingKind::ours_only;
    finding.entry.reset();
    return finding;
  }

  bool queue(const Finding& finding, Settlement settlement = Settlement::open) const {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    const bool queued = postgres::queue_repair(tx, {}, finding, "ann", settlement);
    tx.commit();
    return queued;
  }

  [[nodiscard]] std::vector<Repair> list(const postgres::RepairFilter& filter = {}) const {
    const auto connection = database.connect();
    pqxx::read_transaction tx{*connection};
    return postgres::list_repairs(tx, {}, filter);
  }

  static std::vector<std::string> values(const std::vector<Repair>& repairs) {
    std::vector<std::string> all;
    for (const Repair& each : repairs) all.push_back(each.key.value);
    return all;
  }

  using Values = std::vector<std::string>;

  const TestDatabase database{};
};

TEST_F(RepairQueue, HoldsTheRecordAndTheEntry) {
  Finding finding = charge("k");
  finding.entry->at = TimePoint{std::chrono::microseconds{1'780'000'000'123'456}};
  ASSERT_TRUE(queue(finding));
  const std::vector<Repair> listed = list();
  ASSERT_EQ(listed.size(), 1U);
  const Repair expected{.repair_key = repair_key(finding, RepairAs::charged),
                        .key = finding.ours->key,
                        .holder = finding.ours->holder,
                        .generation = 7,
                        .as = RepairAs::charged,
                        .downstream_key = finding.ours->downstream_key,
                        .entry = finding.entry,
                        .queued_at = listed[0].queued_at,
                        .queued_by = "ann"};
  EXPECT_EQ(listed[0], expected);
  EXPECT_EQ(
      database.number("SELECT count(*) FROM idem_repair WHERE queued_at BETWEEN now() - interval '1 hour' "
                      "AND clock_timestamp()"),
      1);
}

TEST_F(RepairQueue, HoldsADeclineAndWhatWasNotCharged) {
  Finding decline = charge("declined");
  decline.entry->outcome = SettlementOutcome::declined;
  decline.entry->amount = 0;
  decline.entry->reference.clear();
  ASSERT_TRUE(queue(decline));
  ASSERT_TRUE(queue(nothing("nothing"), Settlement::closed));
  const std::vector<Repair> listed = list();
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].as, RepairAs::declined);
  EXPECT_EQ(listed[0].entry, decline.entry);
  EXPECT_EQ(listed[1].as, RepairAs::not_charged);
  EXPECT_EQ(listed[1].entry, std::nullopt);
}

TEST_F(RepairQueue, TheSameIsQueuedOnceAlsoWhenItIsDone) {
  const Finding finding = charge("k");
  EXPECT_TRUE(queue(finding));
  EXPECT_FALSE(queue(finding));
  Finding another = finding;
  another.entry->amount = 1291;
  EXPECT_TRUE(queue(another));
  EXPECT_EQ(list().size(), 2U);
  {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    ASSERT_TRUE(postgres::finish_repair(tx, {}, repair_key(finding, RepairAs::charged), "settled"));
    tx.commit();
  }
  EXPECT_FALSE(queue(finding));
  EXPECT_EQ(list({.with_done = true}).size(), 2U);
}

TEST_F(RepairQueue, ARollbackQueuesNothing) {
  {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    EXPECT_TRUE(postgres::queue_repair(tx, {}, charge("k"), "ann"));
  }
  EXPECT_TRUE(list().empty());
}

TEST_F(RepairQueue, RefusesWhatIsNotRepairable) {
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  EXPECT_THROW(postgres::queue_repair(tx, {}, nothing("k"), "ann"), InvalidArgument);
  Finding decided = charge("k");
  decided.ours->state = State::completed;
  EXPECT_THROW(postgres::queue_repair(tx, {}, decided, "ann"), InvalidArgument);
  EXPECT_THROW(postgres::queue_repair(tx, {}, charge("k"), ""), InvalidArgument);
  EXPECT_TRUE(postgres::queue_repair(tx, {}, charge("k"), "ann"));  // the transaction is usable
}

TEST_F(RepairQueue, ListsTheFirstQueuedFirstOfTheOperationAskedFor) {
  queue(charge("1", "POST /payments"));
  queue(charge("2", "POST /mail"));
  queue(charge("3", "POST /payments"));
  EXPECT_EQ(values(list()), (Values{"1", "2", "3"}));
  EXPECT_EQ(values(list({.operation = "POST /payments"})), (Values{"1", "3"}));
  EXPECT_EQ(values(list({.limit = 2})), (Values{"1", "2"}));
  EXPECT_THROW(static_cast<void>(list({.limit = 0})), InvalidArgument);
  EXPECT_THROW(static_cast<void>(list({.operation = ""})), InvalidArgument);
}

TEST_F(RepairQueue, TwoWorkersNeverHaveTheSameOne) {
  for (const char* value : {"1", "2", "3"}) queue(charge(value));
  queue(charge("other", "another operation"));
  const auto first = database.connect();
  const auto second = database.connect();
  pqxx::work one{*first};
  pqxx::work other{*second};
  EXPECT_EQ(values(postgres::next_repairs(one, {}, "op", 2)), (Values{"1", "2"}));
  EXPECT_EQ(values(postgres::next_repairs(other, {}, "op", 2)), Values{"3"});
  one.abort();
  EXPECT_EQ(values(postgres::next_repairs(other, {}, "op", 3)), (Values{"1", "2", "3"}));
}

TEST_F(RepairQueue, IsDoneOnceAndNotGivenAgain) {
  const Finding finding = charge("k");
  queue(finding);
  const std::string key = repair_key(finding, RepairAs::charged);
  {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    ASSERT_EQ(postgres::next_repairs(tx, {}, "op", 10).size(), 1U);
    EXPECT_TRUE(postgres::finish_repair(tx, {}, key, "settled as COMPLETED"));
    EXPECT_FALSE(postgres::finish_repair(tx, {}, key, "again"));
    EXPECT_TRUE(postgres::next_repairs(tx, {}, "op", 10).empty());
    tx.commit();
  }
  EXPECT_TRUE(list().empty());
  const std::vector<Repair> done = list({.with_done = true});
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].note, "settled as COMPLETED");
  EXPECT_TRUE(done[0].done_at);
}

TEST_F(RepairQueue, FinishingRefusesWhatNamesNoRepair) {
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  EXPECT_FALSE(postgres::finish_repair(tx, {}, random_uuid_v4().to_string(), "note"));
  EXPECT_THROW(static_cast<void>(postgres::finish_repair(tx, {}, "k", "note")), InvalidArgument);
  EXPECT_THROW(static_cast<void>(postgres::finish_repair(tx, {}, random_uuid_v4().to_string(), "")),
               InvalidArgument);
}

TEST_F(RepairQueue, EveryNameMayNeedQuoting) {
  const postgres::Names odd{.schema = database.schema() + " \"x'", .repair = "re{record}pair $1'"};
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  ASSERT_EQ(postgres::install_schema(tx, odd), 0);
  const Finding finding = charge("k'");
  EXPECT_TRUE(postgres::queue_repair(tx, odd, finding, "ann"));
  EXPECT_EQ(postgres::list_repairs(tx, odd).size(), 1U);
  EXPECT_EQ(postgres::next_repairs(tx, odd, "op", 1).size(), 1U);
  EXPECT_TRUE(postgres::finish_repair(tx, odd, repair_key(finding, RepairAs::charged), "note"));
}

// Half-made rows are refused by the table, whoever writes them.
TEST_F(RepairQueue, RowsThatMustNotExistAreRefusedByTheTable) {
  queue(charge("k"));
  for (const char* const change :
       {"amount = NULL", "amount = -1", "reference = NULL", "repair_as = 3", "repair_as = 4", "fence = 0",
        "generation = fence + 1", "done_at = now()", "note = 'x'", "queued_by = ''", "principal = ''"}) {
    EXPECT_THROW(database.execute(std::string{"UPDATE idem_repair SET "} + change),
                 pqxx::integrity_constraint_violation)
        << change;
  }
}

}  // namespace
}  // namespace idem::postgres_test
