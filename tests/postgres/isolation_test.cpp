// Races that are lost under REPEATABLE READ and SERIALIZABLE are errors that say "run the transaction again", never answers.
#include <gtest/gtest.h>

#include <pqxx/pqxx>

#include "idem/base/error.hpp"
#include "idem/command/execute.hpp"
#include "idem/request/fingerprint.hpp"
#include "postgres/test_database.hpp"

namespace idem::postgres_test {
namespace {

using RepeatableRead = pqxx::transaction<pqxx::repeatable_read>;
using Serializable = pqxx::transaction<pqxx::serializable>;

template <class Tx>
class StrictIsolation : public ::testing::Test {
 protected:
  Outcome run(pqxx::dbtransaction& tx) {
    return execute(database.backend(), tx, request, [this](pqxx::dbtransaction& open, const Lease&) {
      ++handled;
      open.exec("INSERT INTO effect VALUES (1)");
      return completed(text_response(201, "made"));
    });
  }

  TestDatabase database;
  Request request{{"p", "op", "k"},
                  Fingerprinter{}({.method = "POST", .operation = "op", .query = {}, .body = "{}"})};
  int handled = 0;
};

using Levels = ::testing::Types<RepeatableRead, Serializable>;
TYPED_TEST_SUITE(StrictIsolation, Levels);

// Fault 52.
TYPED_TEST(StrictIsolation, AKeyTakenAfterTheSnapshotIsAConflictAndTheNextTryReplays) {
  this->database.execute("CREATE TABLE effect (n int)");
  const auto slow = this->database.connect();
  const auto fast = this->database.connect();
  {
    TypeParam late{*slow};
    late.exec("SELECT count(*) FROM effect");
    {
      TypeParam winner{*fast};
      ASSERT_TRUE(std::holds_alternative<Executed>(this->run(winner)));
      winner.commit();
    }
    EXPECT_THROW(static_cast<void>(this->run(late)), TransactionConflict);
    EXPECT_THROW(static_cast<void>(this->run(late)), TransactionClosed);
  }
  TypeParam again{*slow};
  EXPECT_TRUE(std::holds_alternative<Replay>(this->run(again)));
  again.commit();
  EXPECT_EQ(this->handled, 1);
  EXPECT_EQ(this->database.number("SELECT count(*) FROM effect"), 1);
}

TYPED_TEST(StrictIsolation, AKeyInFlightIsRefusedAtOnce) {
  this->database.execute("CREATE TABLE effect (n int)");
  const auto first = this->database.connect();
  const auto second = this->database.connect();
  TypeParam winner{*first};
  ASSERT_TRUE(std::holds_alternative<Executed>(this->run(winner)));
  TypeParam loser{*second};
  EXPECT_TRUE(std::holds_alternative<InProgress>(this->run(loser)));
  loser.commit();
  winner.commit();
}

TYPED_TEST(StrictIsolation, ALapsedRecordTakenOverAfterTheSnapshotIsAConflict) {
  const ReserveOptions resumable{.resumable = true,
                                 .downstream = deduplicates_for("acquirer", std::chrono::hours{1})};
  const auto slow = this->database.connect();
  const auto fast = this->database.connect();
  {
    TypeParam tx{*fast};
    ASSERT_TRUE(std::holds_alternative<Acquired>(this->database.backend().store(tx)->reserve(
        this->request.key, this->request.fingerprint, resumable)));
    tx.commit();
  }
  this->database.advance(std::chrono::seconds{31});
  TypeParam late{*slow};
  late.exec("SELECT 1 FROM idem_record");
  {
    TypeParam tx{*fast};
    const auto reservation =
        this->database.backend().store(tx)->reserve(this->request.key, this->request.fingerprint, resumable);
    ASSERT_EQ(std::get<Acquired>(reservation).how, How::took_over);
    tx.commit();
  }
  EXPECT_THROW(static_cast<void>(this->database.backend().store(late)->reserve(
                   this->request.key, this->request.fingerprint, resumable)),
               TransactionConflict);
}

TYPED_TEST(StrictIsolation, SettlingARecordThatChangedAfterTheSnapshotIsAConflictAndCommitsNothing) {
  this->database.execute("CREATE TABLE effect (n int)");
  const auto slow = this->database.connect();
  Lease lease = [&] {
    TypeParam tx{*slow};
    Lease held = std::get<Acquired>(this->database.backend().store(tx)->reserve(this->request.key,
                                                                                this->request.fingerprint))
                     .lease;
    tx.commit();
    return held;
  }();
  TypeParam late{*slow};
  late.exec("INSERT INTO effect VALUES (1)");
  this->database.advance(std::chrono::seconds{1});
  EXPECT_THROW(this->database.backend().store(late)->complete(lease, text_response(200, "x")),
               TransactionConflict);
  commit_what_cannot_be(late);
  EXPECT_EQ(this->database.number("SELECT count(*) FROM effect"), 0);
}

}  // namespace
}  // namespace idem::postgres_test
