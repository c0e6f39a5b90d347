// The caller's transaction stays the caller's: what is refused outside one, and what is left as it was inside.
#include <gtest/gtest.h>

#include <functional>
#include <pqxx/pqxx>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "idem/base/error.hpp"
#include "idem/command/execute.hpp"
#include "idem/event/inbox.hpp"
#include "idem/event/version_guard.hpp"
#include "idem/request/fingerprint.hpp"
#include "postgres/test_database.hpp"

namespace idem::postgres_test {
namespace {

const Key key{"alice", "POST /payments", "k1"};

Fingerprint fingerprint_of(std::string_view body) {
  return Fingerprinter{}({.method = "POST", .operation = "POST /payments", .query = {}, .body = body});
}

class Transaction : public ::testing::Test {
 protected:
  Transaction() { database.execute("CREATE TABLE business (id int PRIMARY KEY)"); }

  [[nodiscard]] long long records() const { return database.number("SELECT count(*) FROM idem_record"); }
  [[nodiscard]] long long business() const { return database.number("SELECT count(*) FROM business"); }

  TestDatabase database;
  Fingerprint fingerprint = fingerprint_of("{}");
};

// Every public call, each on a record that it could change.
std::vector<std::pair<std::string, std::function<void(IdempotencyStore&, const Lease&)>>> every_call() {
  const Response response = text_response(200, "x");
  return {
      {"reserve",
       [](auto& store, const Lease& lease) {
         static_cast<void>(store.reserve({"p", "o", "n"}, lease.fingerprint));
       }},
      {"complete", [=](auto& store, const Lease& lease) { store.complete(lease, response); }},
      {"fail", [=](auto& store, const Lease& lease) { store.fail(lease, response); }},
      {"mark_unknown", [=](auto& store, const Lease& lease) { store.mark_unknown(lease, response); }},
      {"mark_sent", [](auto& store, const Lease& lease) { store.mark_sent(lease); }},
      {"renew",
       [](auto& store, const Lease& lease) { static_cast<void>(store.renew(lease, std::chrono::hours{9})); }},
      {"lapse", [](auto& store, const Lease& lease) { store.lapse(lease); }},
      {"release", [](auto& store, const Lease& lease) { store.release(lease); }},
      {"resolve",
       [=](auto& store, const Lease& lease) {
         store.resolve(lease.key, lease.holder, State::completed, response,
                       {.who = "w", .why = "y", .generation = lease.generation});
       }},
      {"find", [](auto& store, const Lease& lease) { static_cast<void>(store.find(lease.key)); }},
  };
}

// libpqxx runs parameterised statements of a closed transaction in autocommit.
TEST_F(Transaction, EveryCallOnAClosedTransactionIsRefusedAndWritesNothing) {
  for (const bool committed : {true, false}) {
    for (const auto& [name, call] : every_call()) {
      database.execute("TRUNCATE idem_record");
      const auto connection = database.connect();
      Lease lease = [&] {
        pqxx::work tx{*connection};
        Lease acquired = std::get<Acquired>(database.backend().store(tx)->reserve(key, fingerprint)).lease;
        tx.commit();
        return acquired;
      }();
      const auto image = [&] {
        return database.number("SELECT hashtext(string_agg(r::text, '')) FROM idem_record r");
      };
      const long long before = image();
      pqxx::work tx{*connection};
      auto store = database.backend().store(tx);
      if (committed) {
        tx.commit();
      } else {
        tx.abort();
      }
      EXPECT_THROW(call(*store, lease), TransactionClosed) << name;
      EXPECT_EQ(image(), before) << name;
    }
  }
}

TEST_F(Transaction, ACallAfterAFailedStatementIsRefused) {
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  EXPECT_THROW(tx.exec("SELECT 1/0"), pqxx::sql_error);
  EXPECT_THROW(static_cast<void>(database.backend().store(tx)->reserve(key, fingerprint)), TransactionClosed);
}

// On libpqxx 6 a subtransaction sends its SAVEPOINT with its first plain statement only.
TEST_F(Transaction, AnAbortedSubtransactionLeavesNothingAndTheOuterOneUsable) {
  const auto connection = database.connect();
  pqxx::work outer{*connection};
  {
    pqxx::subtransaction inner{outer, "inner"};
    ASSERT_TRUE(std::holds_alternative<Acquired>(database.backend().store(inner)->reserve(key, fingerprint)));
    inner.abort();
  }
  EXPECT_FALSE(database.backend().store(outer)->find(key));
  ASSERT_TRUE(std::holds_alternative<Acquired>(database.backend().store(outer)->reserve(key, fingerprint)));
  outer.commit();
  EXPECT_EQ(records(), 1);
}

TEST_F(Transaction, ExecuteInASubtransactionIsKeptWithIt) {
  const auto connection = database.connect();
  pqxx::work outer{*connection};
  {
    pqxx::subtransaction inner{outer, "inner"};
    const Outcome outcome =
        execute(database.backend(), inner, {key, fingerprint}, [](auto& tx, const Lease&) {
          tx.exec("INSERT INTO business VALUES (1)");
          return completed(text_response(201, "made"));
        });
    EXPECT_TRUE(std::holds_alternative<Executed>(outcome));
    inner.commit();
  }
  outer.commit();
  EXPECT_EQ(business(), 1);
  EXPECT_EQ(records(), 1);
}

// A subtransaction's own row has another xid than its transaction.
TEST_F(Transaction, AReservationMadeInASubtransactionIsTheTransactionsOwn) {
  const auto connection = database.connect();
  pqxx::work outer{*connection};
  {
    pqxx::subtransaction inner{outer, "inner"};
    ASSERT_TRUE(std::holds_alternative<Acquired>(database.backend().store(inner)->reserve(key, fingerprint)));
    inner.commit();
  }
  EXPECT_THROW(static_cast<void>(database.backend().store(outer)->reserve(key, fingerprint)),
               AlreadyReserved);
  outer.exec("INSERT INTO business VALUES (1)");
  outer.commit();
  EXPECT_EQ(business(), 1);
}

TEST_F(Transaction, LeaseLostInASubtransactionIsUndoneWithIt) {
  const auto connection = database.connect();
  pqxx::work outer{*connection};
  const Lease lease = std::get<Acquired>(database.backend().store(outer)->reserve(key, fingerprint)).lease;
  {
    pqxx::subtransaction inner{outer, "inner"};
    auto store = database.backend().store(inner);
    Lease stolen = lease;
    ++stolen.holder.fence;
    EXPECT_THROW(store->complete(stolen, text_response(200, "x")), LeaseLost);
    EXPECT_THROW(static_cast<void>(store->find(key)), TransactionClosed);
    inner.abort();
  }
  database.backend().store(outer)->complete(lease, text_response(200, "done"));
  outer.commit();
  EXPECT_EQ(database.number("SELECT state FROM idem_record"), 2);
}

// What made the write miss may also be a row that cannot be read.
TEST_F(Transaction, ALossThatCannotBeExplainedCommitsNothingEither) {
  const auto connection = database.connect();
  const Lease lease = [&] {
    pqxx::work tx{*connection};
    Lease held = std::get<Acquired>(database.backend().store(tx)->reserve(key, fingerprint)).lease;
    tx.commit();
    return held;
  }();
  database.execute("UPDATE idem_record SET fence = fence + 1, principal = 'somebody else'");
  for (const bool releasing : {false, true}) {
    pqxx::work tx{*connection};
    auto store = database.backend().store(tx);
    tx.exec("INSERT INTO business VALUES (1)");
    if (releasing) {
      EXPECT_THROW(store->release(lease), StoredDataError);
    } else {
      EXPECT_THROW(store->complete(lease, text_response(200, "x")), StoredDataError);
    }
    commit_what_cannot_be(tx);
  }
  EXPECT_EQ(business(), 0);
}

struct Happened {
  EventIdentity identity;
  std::string entity = "e";
  int version = 1;
};

// Swallows what aborts its transaction, as one does who means to pass over a duplicate.
struct Swallowing {
  static constexpr std::string_view name = "swallowing";
  void apply(pqxx::work& tx, const Happened&) const {
    try {
      tx.exec("SELECT 1 / 0");
    } catch (const pqxx::sql_error&) {
      // Goes on.
    }
  }
};

// libpqxx 7 would return from commit() as if it were applied, and the message would be acknowledged.
TEST_F(Transaction, AnEventWhoseConsumerSwallowedAnErrorIsNotTakenForApplied) {
  const auto connection = database.connect();
  Swallowing consumer;
  Inbox inbox{database.backend(), consumer, {.unknown_age = UnknownAge::apply}};
  VersionGuard guard{database.backend(), consumer};
  const Happened event{{"s", "e", std::nullopt}};
  const auto delivered = [&](const auto& deliver) {
    try {
      pqxx::work tx{*connection};
      deliver(tx);
      tx.commit();
      return true;
    } catch (const std::exception&) {
      return false;
    }
  };
  EXPECT_FALSE(delivered([&](pqxx::work& tx) { static_cast<void>(inbox.deliver(tx, event)); }));
  EXPECT_FALSE(
      delivered([&](pqxx::work& tx) { static_cast<void>(inbox.deliver_batch(tx, std::vector{event})); }));
  EXPECT_FALSE(delivered([&](pqxx::work& tx) { static_cast<void>(guard.deliver(tx, event)); }));
  EXPECT_EQ(database.number("SELECT count(*) FROM idem_inbox"), 0);
  EXPECT_EQ(database.number("SELECT count(*) FROM idem_version_guard"), 0);
}

struct Throwing {
  static constexpr std::string_view name = "throwing";
  void apply(pqxx::dbtransaction& tx, const Happened&) const {
    tx.exec("INSERT INTO business VALUES (1)");
    throw std::runtime_error{"after the business write"};
  }
};

TEST_F(Transaction, AConsumersExceptionInASubtransactionLeavesTheOuterOneUsable) {
  const auto connection = database.connect();
  Throwing consumer;
  Inbox inbox{database.backend(), consumer, {.unknown_age = UnknownAge::apply}};
  pqxx::work tx{*connection};
  tx.exec("INSERT INTO business VALUES (2)");
  {
    pqxx::subtransaction inner{tx, "event"};
    EXPECT_THROW(static_cast<void>(inbox.deliver(inner, Happened{{"s", "e", std::nullopt}})),
                 std::runtime_error);
  }
  tx.commit();
  EXPECT_EQ(business(), 1);
  EXPECT_EQ(database.number("SELECT count(*) FROM idem_inbox"), 0);
}

TEST_F(Transaction, ARobustTransactionIsAccepted) {
  const auto connection = database.connect();
  pqxx::robusttransaction<> tx{*connection};
  EXPECT_TRUE(std::holds_alternative<Acquired>(database.backend().store(tx)->reserve(key, fingerprint)));
  tx.commit();
  EXPECT_EQ(records(), 1);
}

// Fault 48: a duplicate inside the caller's transaction must not abort it.
TEST_F(Transaction, AfterAReplayTheTransactionsOwnWritesCommit) {
  const auto connection = database.connect();
  const auto pay = [&](pqxx::work& tx) {
    return execute(database.backend(), tx, {key, fingerprint},
                   [](pqxx::work&, const Lease&) { return completed(text_response(201, "made")); });
  };
  {
    pqxx::work tx{*connection};
    ASSERT_TRUE(std::holds_alternative<Executed>(pay(tx)));
    tx.commit();
  }
  pqxx::work tx{*connection};
  tx.exec("INSERT INTO business VALUES (1)");
  ASSERT_TRUE(std::holds_alternative<Replay>(pay(tx)));
  tx.exec("SELECT 1");
  tx.commit();
  EXPECT_EQ(business(), 1);
}

// Fault 49: an error of the handler's own statement is not taken for a duplicate.
TEST_F(Transaction, AUniqueOrForeignKeyViolationOfTheHandlerIsPassedOnAndNothingIsStored) {
  database.execute("CREATE TABLE child (id int REFERENCES business); INSERT INTO business VALUES (1)");
  const auto connection = database.connect();
  const auto run = [&](const char* statement) {
    pqxx::work tx{*connection};
    static_cast<void>(
        execute(database.backend(), tx, {key, fingerprint}, [&](pqxx::work& open, const Lease&) {
          open.exec(statement);
          return completed(text_response(201, "made"));
        }));
    tx.commit();
  };
  EXPECT_THROW(run("INSERT INTO child VALUES (9)"), pqxx::foreign_key_violation);
  EXPECT_THROW(run("INSERT INTO business VALUES (1)"), pqxx::unique_violation);
  EXPECT_EQ(records(), 0);
}

// Faults 5 and 50: whatever a handler throws rolls back, and is never stored as an answer.
TEST_F(Transaction, WhateverTheHandlerThrowsLeavesTheKeyFree) {
  const auto connection = database.connect();
  const auto run = [&](const std::function<void(pqxx::work&)>& misbehave) {
    pqxx::work tx{*connection};
    static_cast<void>(
        execute(database.backend(), tx, {key, fingerprint}, [&](pqxx::work& open, const Lease&) {
          open.exec("INSERT INTO business VALUES (1)");
          misbehave(open);
          return completed(text_response(201, "made"));
        }));
    tx.commit();
  };
  EXPECT_THROW(run([](pqxx::work&) { throw 7; }), int);
  EXPECT_THROW(run([](pqxx::work&) { throw std::runtime_error{"no"}; }), std::runtime_error);
  EXPECT_ANY_THROW(run([](pqxx::work& tx) { tx.exec("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$"); }));
  EXPECT_ANY_THROW(run([](pqxx::work& tx) { tx.exec("DO $$ BEGIN RAISE SQLSTATE '40P01'; END $$"); }));
  EXPECT_EQ(records(), 0);
  EXPECT_EQ(business(), 0);
  run([](pqxx::work&) {});
  EXPECT_EQ(business(), 1);
}

// Rule 12: no setting is changed, and the transaction is still the same one.
TEST_F(Transaction, SettingsAndTransactionAreAsBefore) {
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  tx.exec("SET LOCAL lock_timeout = '12345ms'");
  const auto image = [&] {
    const pqxx::result rows = tx.exec(
        "SELECT pg_current_xact_id()::text || now()::text || (SELECT string_agg(name || setting, ',' ORDER "
        "BY name) "
        "FROM pg_settings)");
    return rows[0][0].as<std::string>();
  };
  const std::string before = image();
  auto store = database.backend().store(tx);
  const Lease lease = std::get<Acquired>(store->reserve(key, fingerprint)).lease;
  static_cast<void>(store->renew(lease, std::chrono::hours{1}));
  store->mark_unknown(lease, text_response(202, "unknown"));
  store->complete(lease, text_response(200, "done"));
  ASSERT_TRUE(std::holds_alternative<Replay>(store->reserve(key, fingerprint)));
  ASSERT_TRUE(std::holds_alternative<Mismatch>(store->reserve(key, fingerprint_of("[1]"))));
  EXPECT_EQ(image(), before);
}

TEST_F(Transaction, TheCallersWayOfShowingBytesAndTextDoesNotMatter) {
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  tx.exec(
      "SET LOCAL bytea_output = 'escape'; SET LOCAL standard_conforming_strings = off; "
      "SET LOCAL datestyle = 'SQL, DMY'; SET LOCAL timezone = 'Asia/Kathmandu'; SET LOCAL intervalstyle = "
      "'iso_8601'; "
      "SET LOCAL extra_float_digits = -15");
  auto store = database.backend().store(tx);
  const Key odd{"a\\b'c", "o\"p", "\\x41''"};
  const Lease lease = std::get<Acquired>(store->reserve(odd, fingerprint)).lease;
  const Response response{200, {{"X", "\\ ' \""}}, {std::byte{0}, std::byte{'\\'}, std::byte{0xff}}};
  const TimePoint expires_at = store->complete(lease, response);
  const Replay replay = std::get<Replay>(store->reserve(odd, fingerprint));
  EXPECT_EQ(replay.response, response);
  EXPECT_EQ(replay.expires_at, expires_at);
  EXPECT_EQ(store->find(odd)->key, odd);
}

// Rule 11: now() stands still in a transaction; a lease that began with it would be short by the transaction's age.
TEST_F(Transaction, ALeaseIsCountedFromTheCallNotFromTheTransactionsBegin) {
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  tx.exec("SELECT now()");
  const auto clock = [&] {
    const pqxx::result rows = tx.exec("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
    return TimePoint{std::chrono::microseconds{rows[0][0].as<long long>()}};
  };
  auto store = database.backend().store(tx);
  const TimePoint before = clock();
  Lease lease =
      std::get<Acquired>(store->reserve(key, fingerprint, {.lease = std::chrono::minutes{1}})).lease;
  EXPECT_GE(lease.lease_until, before + std::chrono::minutes{1});
  const TimePoint before_renewal = clock();
  lease = store->renew(lease, std::chrono::minutes{2});
  EXPECT_GE(lease.lease_until, before_renewal + std::chrono::minutes{2});
  const TimePoint before_settling = clock();
  EXPECT_GE(store->complete(lease, text_response(200, "x")), before_settling + std::chrono::hours{72});
}

TEST_F(Transaction, ALeaseThatLapsedAfterTheTransactionBeganHasLapsed) {
  const auto connection = database.connect();
  {
    pqxx::work tx{*connection};
    ASSERT_TRUE(std::holds_alternative<Acquired>(database.backend().store(tx)->reserve(key, fingerprint)));
    tx.commit();
  }
  pqxx::work tx{*connection};
  tx.exec("SELECT now()");
  database.execute("UPDATE idem_record SET lease_until = clock_timestamp()");
  EXPECT_TRUE(std::holds_alternative<Unknown>(database.backend().store(tx)->reserve(key, fingerprint)));
}

}  // namespace
}  // namespace idem::postgres_test
