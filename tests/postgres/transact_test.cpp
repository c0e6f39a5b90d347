// transact() on PostgreSQL: bounded retries, and a COMMIT whose answer was lost.
#include "idem/command/transact.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <pqxx/pqxx>
#include <string>
#include <thread>
#include <vector>

#include "idem/base/error.hpp"
#include "idem/request/fingerprint.hpp"
#include "postgres/test_database.hpp"

namespace idem::postgres_test {
namespace {

// A unit of work that owns its connection, and whose COMMIT a test can disturb.
struct Unit {
  explicit Unit(const TestDatabase& database)
      : connection{database.connect()}, work{std::make_unique<pqxx::work>(*connection)} {}

  pqxx::work& transaction() { return *work; }
  void commit() {
    if (before_commit) before_commit(*this);
    work->commit();
    if (after_commit) after_commit();
  }

  std::unique_ptr<pqxx::connection> connection;
  std::unique_ptr<pqxx::work> work;
  std::function<void(Unit&)> before_commit;
  std::function<void()> after_commit;
};

class Transact : public ::testing::Test {
 protected:
  Transact() { database.execute("CREATE TABLE effect (n int)"); }

  Decision effect(pqxx::work& tx) {
    ++handled;
    tx.exec("INSERT INTO effect VALUES (1)");
    return completed(text_response(201, "made by run " + std::to_string(handled)));
  }

  TransactOptions without_pauses() {
    return {.retry = {.pause = [this](std::chrono::milliseconds pause) { pauses.push_back(pause); }}};
  }

  [[nodiscard]] long long effects() const { return database.number("SELECT count(*) FROM effect"); }

  TestDatabase database;
  Request request{{"p", "op", "k"},
                  Fingerprinter{}({.method = "POST", .operation = "op", .query = {}, .body = "{}"})};
  int handled = 0;
  std::vector<std::chrono::milliseconds> pauses;
};

TEST_F(Transact, CommitsOnceAndThenReplays) {
  const auto run = [&] {
    return transact(
        database.backend(), [&] { return Unit{database}; }, request,
        [&](pqxx::work& tx, const Lease&) { return effect(tx); }, without_pauses());
  };
  const Outcome first = run();
  const Outcome second = run();
  EXPECT_EQ(std::get<Executed>(first).response, std::get<Replay>(second).response);
  EXPECT_EQ(std::get<Executed>(first).expires_at, std::get<Replay>(second).expires_at);
  EXPECT_EQ(effects(), 1);
  EXPECT_TRUE(pauses.empty());
}

TEST_F(Transact, TakesAPointerToATransactionAsAUnitOfWork) {
  const auto connection = database.connect();
  const Outcome outcome = transact(
      database.backend(), [&] { return std::make_unique<pqxx::work>(*connection); }, request,
      [&](pqxx::work& tx, const Lease&) { return effect(tx); }, without_pauses());
  EXPECT_TRUE(std::holds_alternative<Executed>(outcome));
  EXPECT_EQ(effects(), 1);
}

TEST_F(Transact, ASerializationFailureRunsTheWholeAgain) {
  const Outcome outcome = transact(
      database.backend(), [&] { return Unit{database}; }, request,
      [&](pqxx::work& tx, const Lease&) {
        Decision decision = effect(tx);
        if (handled == 1) tx.exec("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$");
        if (handled == 2) tx.exec("DO $$ BEGIN RAISE SQLSTATE '40P01'; END $$");
        return decision;
      },
      without_pauses());
  EXPECT_EQ(body_text(std::get<Executed>(outcome).response), "made by run 3");
  EXPECT_EQ(effects(), 1);
  EXPECT_EQ(pauses.size(), 2U);
}

TEST_F(Transact, ASerializationFailureAtCommitRunsTheWholeAgain) {
  database.execute(
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
      "'BEGIN IF (SELECT count(*) FROM attempt) = 1 THEN RAISE SQLSTATE ''40001''; END IF; RETURN NEW; END';"
      "CREATE SEQUENCE tries; CREATE VIEW attempt AS SELECT 1 FROM tries WHERE last_value = 1 AND is_called;"
      "CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED FOR EACH ROW "
      "EXECUTE "
      "FUNCTION refuse()");
  const Outcome outcome = transact(
      database.backend(), [&] { return Unit{database}; }, request,
      [&](pqxx::work& tx, const Lease&) {
        tx.exec("SELECT nextval('tries')");
        return effect(tx);
      },
      without_pauses());
  EXPECT_EQ(body_text(std::get<Executed>(outcome).response), "made by run 2");
  EXPECT_EQ(effects(), 1);
}

TEST_F(Transact, RetriesAreBoundedAndTheLastFailureIsPassedOn) {
  TransactOptions options = without_pauses();
  options.retry.max_tries = 3;
  const auto run = [&] {
    static_cast<void>(transact(
        database.backend(), [&] { return Unit{database}; }, request,
        [&](pqxx::work& tx, const Lease&) {
          Decision decision = effect(tx);
          tx.exec("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$");
          return decision;
        },
        options));
  };
  EXPECT_THROW(run(), pqxx::serialization_failure);
  EXPECT_EQ(handled, 3);
  ASSERT_EQ(pauses.size(), 2U);
  EXPECT_LE(pauses[0], std::chrono::milliseconds{5});
  EXPECT_LE(pauses[1], std::chrono::milliseconds{10});
  EXPECT_EQ(effects(), 0);
  EXPECT_EQ(database.number("SELECT count(*) FROM idem_record"), 0);
}

TEST_F(Transact, AnyOtherExceptionIsPassedOnAtOnceAndNothingIsStored) {
  const auto run = [&] {
    static_cast<void>(transact(
        database.backend(), [&] { return Unit{database}; }, request,
        [&](pqxx::work& tx, const Lease&) -> Decision {
          static_cast<void>(effect(tx));
          throw std::domain_error{"no"};
        },
        without_pauses()));
  };
  EXPECT_THROW(run(), std::domain_error);
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(database.number("SELECT count(*) FROM idem_record"), 0);
}

TEST_F(Transact, ACommitThatTheDatabaseRefusedIsNotInDoubt) {
  database.execute(
      "CREATE TABLE parent (id int PRIMARY KEY); "
      "CREATE TABLE child (id int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)");
  const auto run = [&] {
    static_cast<void>(transact(
        database.backend(), [&] { return Unit{database}; }, request,
        [&](pqxx::work& tx, const Lease&) {
          tx.exec("INSERT INTO child VALUES (1)");
          return effect(tx);
        },
        without_pauses()));
  };
  EXPECT_THROW(run(), pqxx::foreign_key_violation);
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(effects(), 0);
}

// Fault 61 and rule 8, the three fates of a COMMIT whose answer was lost.
TEST_F(Transact, ALostCommitThatNeverArrivedRunsTheHandlerAgain) {
  int units = 0;
  const Outcome outcome = transact(
      database.backend(),
      [&] {
        Unit unit{database};
        if (++units == 1) {
          unit.before_commit = [&](Unit& dying) {
            const auto pid = std::to_string(dying.connection->backendpid());
            database.execute("SELECT pg_terminate_backend(" + pid + ", 60000)");
          };
        }
        return unit;
      },
      request, [&](pqxx::work& tx, const Lease&) { return effect(tx); }, without_pauses());
  EXPECT_EQ(body_text(std::get<Executed>(outcome).response), "made by run 2");
  EXPECT_EQ(effects(), 1);
}

TEST_F(Transact, ALostCommitThatArrivedIsReplayed) {
  int units = 0;
  const Outcome outcome = transact(
      database.backend(),
      [&] {
        Unit unit{database};
        if (++units == 1) unit.after_commit = [] { throw pqxx::in_doubt_error{"the connection was lost"}; };
        return unit;
      },
      request, [&](pqxx::work& tx, const Lease&) { return effect(tx); }, without_pauses());
  EXPECT_EQ(body_text(std::get<Replay>(outcome).response), "made by run 1");
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(effects(), 1);
}

// The client is gone while the server still commits: the row is not there to be seen, and yet it will be.
TEST_F(Transact, ALostCommitThatIsStillUnderWayIsWaitedFor) {
  database.execute(
      "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS "
      "'BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NEW; END';"
      "CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED FOR EACH ROW "
      "EXECUTE "
      "FUNCTION hold()");
  const auto holder = database.connect();
  auto holding = std::make_unique<pqxx::work>(*holder);
  holding->exec("SELECT pg_advisory_xact_lock(4711)");

  std::vector<std::thread> committers;
  int units = 0;
  std::jthread releaser;
  const Outcome outcome = transact(
      database.backend(),
      [&]() -> Unit {
        Unit unit{database};
        if (++units == 1) {
          unit.before_commit = [&](Unit& old) {
            const auto pid = std::to_string(old.connection->backendpid());
            // The COMMIT goes on in another thread, as it goes on in the server when the client's machine is gone.
            committers.emplace_back(
                [connection = std::move(old.connection), work = std::move(old.work)] { work->commit(); });
            wait_until(database, "SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = " + pid +
                                     " AND wait_event = 'advisory'");
            throw pqxx::in_doubt_error{"the connection was lost"};
          };
        } else {
          const auto pid = std::to_string(unit.connection->backendpid());
          releaser = std::jthread{[&, pid] {
            wait_until(database, "SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = " + pid +
                                     " AND wait_event = 'advisory'");
            holding.reset();
          }};
        }
        return unit;
      },
      request, [&](pqxx::work& tx, const Lease&) { return effect(tx); }, without_pauses());
  for (auto& committer : committers) committer.join();
  EXPECT_EQ(body_text(std::get<Replay>(outcome).response), "made by run 1");
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(effects(), 1);
}

TEST_F(Transact, ALostCommitThatCannotBeSettledSaysCallAgain) {
  TransactOptions options = without_pauses();
  options.retry.max_tries = 3;
  int units = 0;
  const auto run = [&] {
    return transact(
        database.backend(),
        [&]() -> Unit {
          if (++units > 1) throw pqxx::broken_connection{"no server"};
          Unit unit{database};
          unit.after_commit = [] { throw pqxx::in_doubt_error{"the connection was lost"}; };
          return unit;
        },
        request, [&](pqxx::work& tx, const Lease&) { return effect(tx); }, options);
  };
  try {
    static_cast<void>(run());
    FAIL() << "an unsettled COMMIT was given an answer";
  } catch (const CommitUnknown& unknown) {
    EXPECT_EQ(unknown.next_step(), NextStep::retry_call);
  }
  EXPECT_EQ(units, 3);
  EXPECT_EQ(effects(), 1);
}

TEST_F(Transact, AConnectionLostBeforeCommitRunsTheWholeAgainWithinItsBounds) {
  const auto run = [&](int losses, int tries) {
    TransactOptions options = without_pauses();
    options.retry.max_tries = tries;
    return transact(
        database.backend(), [&] { return Unit{database}; }, request,
        [&](pqxx::work& tx, const Lease&) {
          Decision decision = effect(tx);
          if (handled <= losses) {
            database.execute("SELECT pg_terminate_backend(" + std::to_string(tx.conn().backendpid()) +
                             ", 60000)");
          }
          return decision;
        },
        options);
  };
  EXPECT_ANY_THROW((void)run(3, 3));
  EXPECT_EQ(handled, 3);
  EXPECT_EQ(effects(), 0);
  EXPECT_EQ(database.number("SELECT count(*) FROM idem_record"), 0);
  EXPECT_TRUE(std::holds_alternative<Executed>(run(4, 3)));
  EXPECT_EQ(handled, 5);
  EXPECT_EQ(effects(), 1);
}

TEST_F(Transact, TheTurnToUnknownIsCommitted) {
  {
    Unit unit{database};
    ASSERT_TRUE(std::holds_alternative<Acquired>(
        database.backend().store(unit.transaction())->reserve(request.key, request.fingerprint)));
    unit.commit();
  }
  database.advance(std::chrono::seconds{31});
  const Outcome outcome = transact(
      database.backend(), [&] { return Unit{database}; }, request,
      [&](pqxx::work& tx, const Lease&) { return effect(tx); }, without_pauses());
  EXPECT_TRUE(std::holds_alternative<Unknown>(outcome));
  EXPECT_EQ(handled, 0);
  EXPECT_EQ(database.number("SELECT state FROM idem_record"), 4);
}

}  // namespace
}  // namespace idem::postgres_test
