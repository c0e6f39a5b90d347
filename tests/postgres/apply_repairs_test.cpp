// The queue of repairs is worked off: each in one transaction with its mark, and one that fails holds up no other.
#include "idem/postgres/apply_repairs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string>
#include <vector>

#include "idem/testing/fake_acquirer.hpp"
#include "idem/testing/race.hpp"
#include "postgres/test_database.hpp"
#include "postgres/test_unit.hpp"

namespace idem::postgres_test {
namespace {

using ::testing::ElementsAre;
using testing::FakeAcquirer;

class ApplyRepairs : public ::testing::Test {
 protected:
  // Charges a row whose state is what became of it.
  struct Charge {
    [[nodiscard]] static Downstream downstream() { return cannot_deduplicate("acquirer"); }
    void prepare(pqxx::dbtransaction& tx, const CallContext& context) const { put(tx, context, "PENDING"); }
    [[nodiscard]] static CallResult<FakeAcquirer::Answer> call(const CallContext&) {
      return ResultUnknown{"timed out"};
    }
    Decision finish(pqxx::dbtransaction& tx, const CallContext& context,
                    const FakeAcquirer::Answer& answer) const {
      put(tx, context, answer.approved ? "AUTHORIZED" : "DECLINED");
      return answer.approved ? completed(text_response(201, answer.reference))
                             : failed(text_response(402, answer.reference));
    }
    Response unknown(pqxx::dbtransaction& tx, const CallContext& context) const {
      put(tx, context, "UNKNOWN");
      return text_response(202, "not known yet");
    }
    [[nodiscard]] static FakeAcquirer::Answer answer_of(const Repair& repair) {
      return {repair.as == RepairAs::charged, repair.entry ? repair.entry->reference : ""};
    }

    void put(pqxx::dbtransaction& tx, const CallContext& context, const std::string& state) const {
      tx.exec("INSERT INTO \"" + test.database.schema() + "\".payment VALUES (" +
              tx.quote(context.lease.key.value) + ", " + tx.quote(state) +
              ") ON CONFLICT (id) DO UPDATE SET state = excluded.state");
    }

    ApplyRepairs& test;
  };

  ApplyRepairs() { database.execute("CREATE TABLE payment (id text PRIMARY KEY, state text NOT NULL)"); }

  auto begin() {
    return [this] { return TestUnit{database}; };
  }

  // An UNKNOWN record, and what the settlement says of it, queued.
  void queue(const std::string& value, SettlementOutcome outcome = SettlementOutcome::charged) {
    const Request request{{"p", "op", value}, Fingerprinter{}({.operation = "op", .body = "{}"})};
    Charge charge{*this};
    // Made so, where it is not there.
    ASSERT_TRUE(std::holds_alternative<Unknown>(external_call(database.backend(), begin(), request, charge)));
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    const Record record = database.backend().store(tx)->find(request.key).value();
    const std::string downstream = downstream_key(request.key, request.fingerprint);
    ASSERT_TRUE(postgres::queue_repair(tx, {},
                                       {.kind = FindingKind::theirs_only,
                                        .entry = SettlementEntry{.downstream_key = downstream,
                                                                 .outcome = outcome,
                                                                 .amount = 1290,
                                                                 .reference = "r",
                                                                 .at = record.created_at},
                                        .ours = OurSide{.key = request.key,
                                                        .state = State::unknown,
                                                        .holder = record.holder,
                                                        .generation = record.generation,
                                                        .created_at = record.created_at,
                                                        .downstream_key = downstream}},
                                       "ann"));
    tx.commit();
  }

  postgres::RepairPass apply(std::size_t page = 1000) {
    return postgres::apply_repairs(
        database.backend(), begin(),
        [this](pqxx::dbtransaction&, const LapsedRecord& record) {
          if (record.key.value.starts_with(poison)) throw std::runtime_error{"no row"};
          return Charge{*this};
        },
        {.operation = "op", .page = page, .on_error = [this](const Repair& repair, const auto&) {
           failures.push_back(repair.key.value);
         }});
  }

  [[nodiscard]] long long count(const std::string& where) const {
    return database.number("SELECT count(*) FROM " + where);
  }

  TestDatabase database{};
  std::string poison = "none";
  std::vector<std::string> failures;
};

TEST_F(ApplyRepairs, SettlesRecordAndRowAndMarksTheRepairOnce) {
  queue("a");
  queue("b", SettlementOutcome::declined);
  database.advance(std::chrono::hours{1});
  const postgres::RepairPass pass = apply();
  EXPECT_EQ(pass.queued, 2U);
  EXPECT_EQ(pass.applied, 2U);
  EXPECT_EQ(count("payment WHERE id = 'a' AND state = 'AUTHORIZED'"), 1);
  EXPECT_EQ(count("payment WHERE id = 'b' AND state = 'DECLINED'"), 1);
  EXPECT_EQ(count("idem_record WHERE idempotency_key = 'a' AND state = 2 AND resolved_by = 'ann'"), 1);
  EXPECT_EQ(count("idem_record WHERE idempotency_key = 'b' AND state = 3 AND resolved_by = 'ann'"), 1);
  EXPECT_EQ(count("idem_repair WHERE done_at IS NOT NULL AND note = 'applied'"), 2);
  EXPECT_EQ(apply().queued, 0U);
}

TEST_F(ApplyRepairs, OneThatFailsHoldsUpNoOtherAndIsTriedAgain) {
  for (const char* value : {"a", "b", "c"}) queue(value);
  poison = "b";
  const postgres::RepairPass pass = apply();
  EXPECT_EQ(pass.applied, 2U);
  EXPECT_EQ(pass.failed, 1U);
  EXPECT_THAT(failures, ElementsAre("b"));
  EXPECT_EQ(count("idem_record WHERE idempotency_key = 'b' AND state = 4"), 1);
  EXPECT_EQ(count("idem_record WHERE operation = 'idem repair'"), 2);
  poison = "none";
  EXPECT_EQ(apply().applied, 1U);
}

TEST_F(ApplyRepairs, AsManyThatFailAsAPageHoldsKeepNoOtherFromItsTurn) {
  for (const char* value : {"bad 1", "bad 2", "bad 3", "good"}) queue(value);
  poison = "bad";
  const postgres::RepairPass pass = apply(2);
  EXPECT_EQ(pass.queued, 4U);
  EXPECT_EQ(pass.failed, 3U);
  EXPECT_EQ(count("payment WHERE id = 'good' AND state = 'AUTHORIZED'"), 1);
}

// A cut-off file, or an older one, says that it was declined; the next one has the charge.
TEST_F(ApplyRepairs, OfTwoThatContradictEachOtherTheChargeIsApplied) {
  queue("a", SettlementOutcome::declined);
  queue("a", SettlementOutcome::charged);
  database.advance(std::chrono::hours{1});
  const postgres::RepairPass pass = apply();
  EXPECT_EQ(pass.passed_over, 1U);
  EXPECT_EQ(pass.applied, 1U);
  EXPECT_EQ(count("payment WHERE id = 'a' AND state = 'AUTHORIZED'"), 1);
  EXPECT_EQ(apply().settled_already, 1U);
  EXPECT_EQ(count("payment WHERE id = 'a' AND state = 'AUTHORIZED'"), 1);
}

TEST_F(ApplyRepairs, WhatIsTooEarlyStaysInTheQueue) {
  queue("a", SettlementOutcome::declined);
  EXPECT_EQ(apply().failed, 1U);
  EXPECT_EQ(count("payment WHERE state = 'UNKNOWN'"), 1);
  EXPECT_EQ(count("idem_repair WHERE done_at IS NULL"), 1);
  database.advance(std::chrono::hours{1});
  EXPECT_EQ(apply().applied, 1U);
}

TEST_F(ApplyRepairs, WhatSomebodySettledMeanwhileIsDoneWithThatNote) {
  queue("a");
  database.execute("UPDATE idem_record SET fence = fence + 1");
  EXPECT_EQ(apply().settled_already, 1U);
  EXPECT_EQ(count("payment WHERE state = 'UNKNOWN'"), 1);
  EXPECT_EQ(count("idem_repair WHERE note = 'settled_already'"), 1);
}

TEST_F(ApplyRepairs, SeveralWorkersApplyEachRepairOnce) {
  constexpr int repairs = 12;
  for (int i = 0; i < repairs; ++i) queue("k" + std::to_string(i));
  std::atomic<std::size_t> applied{0};
  testing::race(4, [&](std::size_t) { applied += apply().applied; });
  EXPECT_EQ(applied, repairs);
  EXPECT_EQ(count("payment WHERE state = 'AUTHORIZED'"), repairs);
}

}  // namespace
}  // namespace idem::postgres_test
