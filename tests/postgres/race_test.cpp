// Simultaneous duplicates on PostgreSQL: one effect a key, and answers that nobody waits for.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <exception>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <thread>
#include <vector>

#include "idem/command/execute.hpp"
#include "idem/request/fingerprint.hpp"
#include "idem/testing/race.hpp"
#include "postgres/test_database.hpp"

namespace idem::postgres_test {
namespace {

Fingerprint fingerprint_of(std::string_view body) {
  return Fingerprinter{}({.method = "POST", .operation = "op", .query = {}, .body = body});
}

// The caller's loop: runs a whole transaction again where a race refused it, as happens at the stricter levels.
template <class Whole>
void until_answered(const TestDatabase& database, const Whole& whole) {
  for (;;) {
    try {
      whole();
      return;
    } catch (...) {
      if (database.backend().failure_of(std::current_exception()) != Failure::transient) throw;
    }
  }
}

class Race : public ::testing::TestWithParam<TransactionKind> {};

INSTANTIATE_TEST_SUITE_P(ReadCommitted, Race, ::testing::Values(read_committed));
INSTANTIATE_TEST_SUITE_P(RepeatableRead, Race, ::testing::Values(repeatable_read));
INSTANTIATE_TEST_SUITE_P(Serializable, Race, ::testing::Values(serializable));

TEST_P(Race, SimultaneousDuplicatesOfManyKeysHaveOneEffectEach) {
  constexpr std::size_t duplicates = 8;
  constexpr std::size_t groups = 8;
  constexpr std::size_t keys_of_a_group = 250;
  constexpr std::size_t calls = groups * keys_of_a_group * duplicates;
  const TestDatabase database{{}, GetParam()};
  database.execute("CREATE TABLE effect (key text NOT NULL)");
  const Fingerprint fingerprint = fingerprint_of(R"({"amount":1})");
  const Fingerprint other = fingerprint_of(R"({"amount":2})");

  std::array<std::atomic<std::size_t>, std::variant_size_v<Outcome>> counts{};
  std::atomic<std::size_t> wrong_answers{0};
  std::vector<std::unique_ptr<std::barrier<>>> lines;
  for (std::size_t group = 0; group < groups; ++group) {
    lines.push_back(std::make_unique<std::barrier<>>(duplicates));
  }
  const auto thrown = testing::race_errors(groups * duplicates, [&](std::size_t thread) {
    const std::size_t group = thread / duplicates;
    const auto connection = database.connect();
    for (std::size_t number = 0; number < keys_of_a_group; ++number) {
      const std::string name = std::to_string(group) + "/" + std::to_string(number);
      // One in eight of the duplicates of every fourth key brings another payload.
      const bool differs = number % 4 == 0 && thread % duplicates == 7;
      lines[group]->arrive_and_wait();
      until_answered(database, [&] {
        pqxx::work tx{*connection};
        const Outcome outcome =
            execute(database.backend(), tx, {{"p", "op", name}, differs ? other : fingerprint},
                    [&](pqxx::work& open, const Lease&) {
                      open.exec("INSERT INTO effect VALUES (" + open.quote(name) + ")");
                      return completed(text_response(201, name));
                    });
        tx.commit();
        ++counts.at(outcome.index());
        const auto* replay = std::get_if<Replay>(&outcome);
        const bool right = replay == nullptr || (replay->response == text_response(201, name) &&
                                                 replay->state == State::completed);
        if (!right) ++wrong_answers;
      });
    }
  });

  const std::size_t executed = counts[0];
  const std::size_t replayed = counts[1];
  const std::size_t in_progress = counts[2];
  const std::size_t mismatched = counts[3];
  std::cout << calls << " calls by " << groups * duplicates << " threads: " << executed << " executed, "
            << replayed << " replayed, " << in_progress << " in progress, " << mismatched << " mismatched\n";
  EXPECT_TRUE(thrown.empty());
  EXPECT_EQ(executed, groups * keys_of_a_group);
  EXPECT_EQ(database.number("SELECT count(*) FROM effect"), groups * keys_of_a_group);
  EXPECT_EQ(database.number("SELECT count(DISTINCT key) FROM effect"), groups * keys_of_a_group);
  EXPECT_EQ(wrong_answers, 0U);
  EXPECT_EQ(counts[4], 0U) << "Unknown";
  EXPECT_EQ(executed + replayed + in_progress + mismatched, calls);
  EXPECT_GE(in_progress * 20, calls) << "too few duplicates met in flight: the run proves nothing";
  EXPECT_GT(replayed, 0U);
  EXPECT_GT(mismatched, 0U);
}

// The winner is released by the loser's answer alone, so a loser that waited for it would hang here.
TEST_P(Race, TheLoserIsAnsweredWhileTheWinnerIsOpenAndItsTransactionIsUsable) {
  const TestDatabase database{{}, GetParam()};
  database.execute("CREATE TABLE effect (who text NOT NULL)");
  const Request request{{"p", "op", "k"}, fingerprint_of("{}")};
  std::promise<void> winner_is_open;
  std::promise<void> loser_is_answered;

  std::jthread winner{[&] {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    const Outcome outcome = execute(database.backend(), tx, request, [&](pqxx::work& open, const Lease&) {
      open.exec("INSERT INTO effect VALUES ('winner')");
      winner_is_open.set_value();
      loser_is_answered.get_future().wait();
      return completed(text_response(201, "winner"));
    });
    tx.commit();
    EXPECT_TRUE(std::holds_alternative<Executed>(outcome));
  }};

  winner_is_open.get_future().wait();
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  const Outcome outcome = execute(database.backend(), tx, request, [](pqxx::work&, const Lease&) {
    ADD_FAILURE() << "the loser ran";
    return completed(text_response(201, "loser"));
  });
  ASSERT_TRUE(std::holds_alternative<InProgress>(outcome));
  EXPECT_EQ(std::get<InProgress>(outcome).retry_after, std::chrono::seconds{1});
  tx.exec("INSERT INTO effect VALUES ('loser''s own')");
  tx.commit();
  loser_is_answered.set_value();
  winner.join();
  EXPECT_EQ(database.number("SELECT count(*) FROM effect"), 2);
}

// A takeover that is not committed yet holds the row, so the next one is told to come back at once too.
TEST_P(Race, ATakeoverInFlightRefusesTheNextOne) {
  const TestDatabase database{{}, GetParam()};
  const Key key{"p", "op", "k"};
  const Fingerprint fingerprint = fingerprint_of("{}");
  const ReserveOptions resumable{.resumable = true,
                                 .downstream = deduplicates_for("acquirer", std::chrono::hours{1})};
  const auto first = database.connect();
  const auto second = database.connect();
  {
    pqxx::work tx{*first};
    ASSERT_TRUE(
        std::holds_alternative<Acquired>(database.backend().store(tx)->reserve(key, fingerprint, resumable)));
    tx.commit();
  }
  database.advance(std::chrono::seconds{31});
  pqxx::work taking_over{*first};
  auto reservation = database.backend().store(taking_over)->reserve(key, fingerprint, resumable);
  ASSERT_EQ(std::get<Acquired>(reservation).how, How::took_over);
  pqxx::work late{*second};
  EXPECT_TRUE(std::holds_alternative<InProgress>(
      database.backend().store(late)->reserve(key, fingerprint, resumable)));
  late.commit();
  taking_over.commit();
}

// The mark comes between the taker's look and its write: what was judged resumable must not be called again.
TEST_P(Race, ATakeoverNoticesThatTheCallWasMarkedAsSentMeanwhile) {
  const TestDatabase database{{}, GetParam()};
  database.execute(
      "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS "
      "'BEGIN IF current_setting(''application_name'') = ''taker'' THEN PERFORM pg_advisory_xact_lock(4712); "
      "END IF; "
      "RETURN NULL; END';"
      "CREATE TRIGGER hold BEFORE UPDATE ON idem_record FOR EACH STATEMENT EXECUTE FUNCTION hold()");
  const Key key{"p", "op", "k"};
  const Fingerprint fingerprint = fingerprint_of("{}");
  const ReserveOptions resumable{.resumable = true, .downstream = cannot_deduplicate("acquirer")};
  const auto slow = database.connect();
  const auto taker = database.connect();
  const auto gate = database.connect();
  Lease lease = [&] {
    pqxx::work tx{*slow};
    Lease held = std::get<Acquired>(database.backend().store(tx)->reserve(key, fingerprint, resumable)).lease;
    tx.commit();
    return held;
  }();
  database.advance(std::chrono::seconds{31});

  auto closed = std::make_unique<pqxx::work>(*gate);
  closed->exec("SELECT pg_advisory_xact_lock(4712)");
  std::optional<Reservation> answer;
  std::jthread taking_over{[&] {
    until_answered(database, [&] {
      pqxx::work tx{*taker};
      tx.exec("SET LOCAL application_name = 'taker'");
      answer = database.backend().store(tx)->reserve(key, fingerprint, resumable);
      tx.commit();
    });
  }};
  wait_until(database, "SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = " +
                           std::to_string(taker->backendpid()) + " AND wait_event = 'advisory'");
  {
    pqxx::work tx{*slow};
    database.backend().store(tx)->mark_sent(lease);
    tx.commit();
  }
  closed.reset();
  taking_over.join();
  ASSERT_TRUE(answer);
  EXPECT_TRUE(std::holds_alternative<Unknown>(*answer));
  EXPECT_EQ(database.number("SELECT state FROM idem_record"), 4);
}

// Whoever settles a lost COMMIT runs the handler again: its duplicates must not wait for that.
TEST_P(Race, AReservationThatWaitedForItsOwnLostCommitRefusesDuplicatesAtOnce) {
  const TestDatabase database{{}, GetParam()};
  const Key key{"p", "op", "k"};
  const Fingerprint fingerprint = fingerprint_of("{}");
  const auto first = database.connect();
  const auto second = database.connect();
  pqxx::work open{*first};
  ASSERT_TRUE(std::holds_alternative<Acquired>(
      database.backend().store(open)->reserve(key, fingerprint, {.attempt = random_uuid_v4()})));
  pqxx::work duplicate{*second};
  EXPECT_TRUE(
      std::holds_alternative<InProgress>(database.backend().store(duplicate)->reserve(key, fingerprint)));
}

// Advisory locks are the whole database's: another service's table in it must not be answered for.
TEST_P(Race, TheSameKeyInAnotherTableIsAnotherKey) {
  const TestDatabase first{{}, GetParam()};
  const TestDatabase second{{}, GetParam()};
  const Key key{"p", "op", "k"};
  const auto one = first.connect();
  const auto other = second.connect();
  pqxx::work open{*one};
  ASSERT_TRUE(
      std::holds_alternative<Acquired>(first.backend().store(open)->reserve(key, fingerprint_of("{}"))));
  pqxx::work tx{*other};
  EXPECT_TRUE(
      std::holds_alternative<Acquired>(second.backend().store(tx)->reserve(key, fingerprint_of("{}"))));
}

// Without advisory locks a duplicate waits, and the primary key is still the guarantee.
TEST_P(Race, WithoutTheGateDuplicatesWaitAndNothingRunsTwice) {
  const TestDatabase database{{.gate = postgres::Gate::none}, GetParam()};
  database.execute("CREATE TABLE effect (who int NOT NULL)");
  const Request request{{"p", "op", "k"}, fingerprint_of("{}")};
  std::atomic<int> executed{0};
  testing::race(16, [&](std::size_t) {
    const auto connection = database.connect();
    until_answered(database, [&] {
      pqxx::work tx{*connection};
      const Outcome outcome = execute(database.backend(), tx, request, [](pqxx::work& open, const Lease&) {
        open.exec("INSERT INTO effect VALUES (1)");
        return completed(text_response(201, "made"));
      });
      tx.commit();
      if (std::holds_alternative<Executed>(outcome)) {
        ++executed;
      } else {
        EXPECT_TRUE(std::holds_alternative<Replay>(outcome));
      }
    });
  });
  EXPECT_EQ(executed, 1);
  EXPECT_EQ(database.number("SELECT count(*) FROM effect"), 1);
}

// Fault 53: a statement whose snapshot is older than the winner's row must never end in "no row".
TEST_P(Race, ARaceOfTwoAlwaysEndsInAnAnswer) {
  const TestDatabase database{{}, GetParam()};
  const Fingerprint fingerprint = fingerprint_of("{}");
  constexpr std::size_t rounds = 1000;
  std::barrier line{2};
  std::atomic<std::size_t> executed{0};
  const auto thrown = testing::race_errors(2, [&](std::size_t) {
    const auto connection = database.connect();
    for (std::size_t round = 0; round < rounds; ++round) {
      line.arrive_and_wait();
      until_answered(database, [&] {
        pqxx::work tx{*connection};
        const Outcome outcome =
            execute(database.backend(), tx, {{"p", "op", std::to_string(round)}, fingerprint},
                    [](pqxx::work&, const Lease&) { return completed(text_response(201, "made")); });
        tx.commit();
        if (std::holds_alternative<Executed>(outcome)) ++executed;
      });
    }
  });
  EXPECT_TRUE(thrown.empty());
  EXPECT_EQ(executed, rounds);
}

}  // namespace
}  // namespace idem::postgres_test
