// execute and transact on any backend. Instantiated by each backend's test with a fixture of:
//
//     using Tx = …;                              // what a handler gets
//     const Backend& backend() const;
//     Unit begin();                              // a unit of work as transact() takes it; safe between threads
//     void pay(Tx&, const std::string& id);      // a business write: one row of a table, unique by id
//     std::size_t payments();                    // how many are committed
//     void conflict(Tx&);                        // throws what a serialization failure of this backend throws
//     void lose_next_commit(bool applied);       // the next unit's commit() throws as a lost connection does
//     void advance(std::chrono::milliseconds);   // as in store_conformance.hpp
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "idem/command/transact.hpp"
#include "idem/testing/race.hpp"

namespace idem::conformance {

template <class Fixture>
class ExecuteConformance : public ::testing::Test {
 protected:
  using Tx = typename Fixture::Tx;

  static Request request(std::string key = "k1", char content = 'a') {
    const Fingerprint fingerprint = Fingerprinter{}({.method = "POST",
                                                     .operation = "/payments",
                                                     .query = {},
                                                     .content_type = "text/plain",
                                                     .body = {&content, 1}});
    return {{"alice", "POST /payments", std::move(key)}, fingerprint};
  }

  // Pays, once more each time it runs, and answers 201.
  auto paying(const std::string& id = "p1") {
    return [this, id](Tx& tx, const Lease&) {
      ++runs;
      fixture.pay(tx, id);
      return completed(text_response(201, "paid"));
    };
  }
  auto begin() {
    return [this] { return fixture.begin(); };
  }
  Outcome transact(const Request& of = request(), const TransactOptions& options = quick()) {
    return idem::transact(fixture.backend(), begin(), of, paying(), options);
  }
  std::optional<Record> find(const Request& of = request()) {
    auto unit = fixture.begin();
    return fixture.backend().store(detail::transaction_of(unit))->find(of.key);
  }

  // Nothing sleeps.
  static TransactOptions quick() {
    TransactOptions options;
    options.retry.pause = [](std::chrono::milliseconds) {};
    return options;
  }

  static void expect_paid(const Outcome& outcome) {
    const auto* executed = std::get_if<Executed>(&outcome);
    ASSERT_NE(executed, nullptr) << "outcome " << outcome.index();
    EXPECT_EQ(executed->state, State::completed);
    EXPECT_EQ(executed->response, text_response(201, "paid"));
  }
  static void expect_replay(const Outcome& outcome) {
    const auto* replay = std::get_if<Replay>(&outcome);
    ASSERT_NE(replay, nullptr) << "outcome " << outcome.index();
    EXPECT_EQ(replay->state, State::completed);
    EXPECT_EQ(replay->response, text_response(201, "paid"));
  }

  Fixture fixture;
  std::atomic<int> runs{0};
};

TYPED_TEST_SUITE_P(ExecuteConformance);

// ---- execute

TYPED_TEST_P(ExecuteConformance, ExecuteRunsTheHandlerOnceAndThenReplays) {
  {
    auto unit = this->fixture.begin();
    auto& tx = detail::transaction_of(unit);
    const Outcome outcome = execute(this->fixture.backend(), tx, this->request(), this->paying());
    this->expect_paid(outcome);
    EXPECT_EQ(this->fixture.payments(), 0U) << "committed by execute itself";
    detail::commit(unit);
    EXPECT_EQ(this->find()->expires_at, std::get<Executed>(outcome).expires_at);
  }
  auto unit = this->fixture.begin();
  auto& tx = detail::transaction_of(unit);
  this->expect_replay(execute(this->fixture.backend(), tx, this->request(), this->paying("p2")));
  detail::commit(unit);
  EXPECT_EQ(this->runs, 1);
  EXPECT_EQ(this->fixture.payments(), 1U);
}

TYPED_TEST_P(ExecuteConformance, ExecuteHandsTheHandlerTheVeryTransactionAndTheLease) {
  auto unit = this->fixture.begin();
  auto& tx = detail::transaction_of(unit);
  const Outcome outcome =
      execute(this->fixture.backend(), tx, this->request(), [&](auto& given, const Lease& lease) {
        EXPECT_EQ(&given, &tx);
        EXPECT_EQ(lease.key, this->request().key);
        EXPECT_EQ(this->fixture.backend().store(given)->find(lease.key)->holder, lease.holder);
        return completed(Response{204, {}, {}});
      });
  EXPECT_EQ(std::get<Executed>(outcome).response, (Response{204, {}, {}}));
}

TYPED_TEST_P(ExecuteConformance, ExecuteRolledBackLeavesNothing) {
  {
    auto unit = this->fixture.begin();
    auto& tx = detail::transaction_of(unit);
    this->expect_paid(execute(this->fixture.backend(), tx, this->request(), this->paying()));
  }
  EXPECT_EQ(this->fixture.payments(), 0U);
  EXPECT_FALSE(this->find());
}

// A decline is a fact: its business writes stay, and it is replayed.
TYPED_TEST_P(ExecuteConformance, ExecuteWhoseHandlersExceptionIsSwallowedCommitsNothing) {
  {
    auto unit = this->fixture.begin();
    auto& tx = detail::transaction_of(unit);
    const auto pay_and_throw = [&](typename TypeParam::Tx& given, const Lease&) -> Decision {
      this->fixture.pay(given, "p1");
      throw std::runtime_error{"after the business write"};
    };
    EXPECT_THROW((void)execute(this->fixture.backend(), tx, this->request(), pay_and_throw),
                 std::runtime_error);
    try {
      detail::commit(unit);
    } catch (const std::exception&) {
      // May say that nothing can be committed.
    }
  }
  EXPECT_EQ(this->fixture.payments(), 0U);
  EXPECT_FALSE(this->find());
}

TYPED_TEST_P(ExecuteConformance, ExecuteKeepsTheBusinessWritesOfAFailedDecision) {
  {
    auto unit = this->fixture.begin();
    auto& tx = detail::transaction_of(unit);
    const Outcome outcome =
        execute(this->fixture.backend(), tx, this->request(), [&](auto& given, const Lease&) {
          this->fixture.pay(given, "declined attempt");
          return failed(text_response(402, "declined"));
        });
    EXPECT_EQ(std::get<Executed>(outcome).state, State::failed);
    detail::commit(unit);
  }
  EXPECT_EQ(this->fixture.payments(), 1U);
  const Outcome again = this->transact();
  EXPECT_EQ(std::get<Replay>(again).state, State::failed);
  EXPECT_EQ(std::get<Replay>(again).response, text_response(402, "declined"));
  EXPECT_EQ(this->runs, 0);
}

TYPED_TEST_P(ExecuteConformance, ExecuteAnswersADuplicateWhileTheFirstIsOpen) {
  auto first = this->fixture.begin();
  auto& first_tx = detail::transaction_of(first);
  this->expect_paid(execute(this->fixture.backend(), first_tx, this->request(), this->paying()));
  {
    auto second = this->fixture.begin();
    auto& second_tx = detail::transaction_of(second);
    const Outcome outcome = execute(this->fixture.backend(), second_tx, this->request(), this->paying());
    EXPECT_TRUE(std::holds_alternative<InProgress>(outcome));
    detail::commit(second);
  }
  detail::commit(first);
  EXPECT_EQ(this->runs, 1);
}

TYPED_TEST_P(ExecuteConformance, ExecuteAnswersAnotherRequestWithMismatch) {
  this->expect_paid(this->transact());
  EXPECT_TRUE(std::holds_alternative<Mismatch>(this->transact(this->request("k1", 'b'))));
  EXPECT_EQ(this->runs, 1);
  EXPECT_EQ(this->fixture.payments(), 1U);
}

TYPED_TEST_P(ExecuteConformance, ExecuteInsideItselfUnderTheSameKeyIsAlreadyReserved) {
  auto unit = this->fixture.begin();
  auto& tx = detail::transaction_of(unit);
  const Outcome outcome =
      execute(this->fixture.backend(), tx, this->request(), [&](auto& given, const Lease&) {
        EXPECT_THROW((void)execute(this->fixture.backend(), given, this->request(), this->paying()),
                     AlreadyReserved);
        return completed(text_response(201, "paid"));
      });
  this->expect_paid(outcome);
  detail::commit(unit);
  EXPECT_EQ(this->runs, 0);
}

// ---- transact

TYPED_TEST_P(ExecuteConformance, TransactCommitsAndThenReplays) {
  const Outcome outcome = this->transact();
  this->expect_paid(outcome);
  EXPECT_EQ(this->find()->expires_at, std::get<Executed>(outcome).expires_at);
  this->expect_replay(this->transact());
  EXPECT_EQ(this->runs, 1);
  EXPECT_EQ(this->fixture.payments(), 1U);
}

// Faults 5, 7: a handler that throws leaves nothing behind that blocks the retry.
TYPED_TEST_P(ExecuteConformance, TransactRollsBackWhatTheHandlerThrowsAndTheKeyIsFree) {
  const auto throwing = [&](const auto& error) {
    return idem::transact(
        this->fixture.backend(), this->begin(), this->request(),
        [&](auto& tx, const Lease&) -> Decision {
          ++this->runs;
          this->fixture.pay(tx, "gone");
          throw error;
        },
        this->quick());
  };
  EXPECT_THROW((void)throwing(std::runtime_error{"no such offering"}), std::runtime_error);
  EXPECT_THROW((void)throwing(7), int);
  EXPECT_EQ(this->runs, 2) << "run again although nothing says that it would go better";
  EXPECT_EQ(this->fixture.payments(), 0U);
  EXPECT_FALSE(this->find());
  this->expect_paid(this->transact());
}

// Fault 50: a conflict is no decision.
TYPED_TEST_P(ExecuteConformance, TransactRunsAgainAfterAConflictAndHasOneEffect) {
  std::vector<std::chrono::milliseconds> pauses;
  TransactOptions options;
  options.retry.pause = [&](std::chrono::milliseconds pause) { pauses.push_back(pause); };
  const Outcome outcome = idem::transact(
      this->fixture.backend(), this->begin(), this->request(),
      [&](auto& tx, const Lease& lease) {
        Decision decision = this->paying()(tx, lease);
        if (this->runs < 3) this->fixture.conflict(tx);
        return decision;
      },
      options);
  this->expect_paid(outcome);
  EXPECT_EQ(this->runs, 3);
  EXPECT_EQ(this->fixture.payments(), 1U);
  ASSERT_EQ(pauses.size(), 2U);
  EXPECT_LE(pauses[0], options.retry.first_pause);
  EXPECT_LE(pauses[1], 2 * options.retry.first_pause);
}

TYPED_TEST_P(ExecuteConformance, TransactGivesUpAfterTheTriesThatItWasGiven) {
  TransactOptions options = this->quick();
  options.retry.max_tries = 3;
  bool definite = true;
  try {
    (void)idem::transact(
        this->fixture.backend(), this->begin(), this->request(),
        [&](auto& tx, const Lease& lease) {
          Decision decision = this->paying()(tx, lease);
          this->fixture.conflict(tx);
          return decision;
        },
        options);
    ADD_FAILURE() << "an answer, though every try was rolled back";
  } catch (...) {
    definite = this->fixture.backend().failure_of(std::current_exception()) != Failure::transient;
  }
  EXPECT_FALSE(definite) << "not the last conflict itself";
  EXPECT_EQ(this->runs, 3);
  EXPECT_EQ(this->fixture.payments(), 0U);
  EXPECT_FALSE(this->find());
}

// Fault 61.
TYPED_TEST_P(ExecuteConformance, TransactSettlesALostCommitThatWasApplied) {
  this->fixture.lose_next_commit(true);
  this->expect_replay(this->transact());
  EXPECT_EQ(this->runs, 1);
  EXPECT_EQ(this->fixture.payments(), 1U);
}

TYPED_TEST_P(ExecuteConformance, TransactRunsAgainAfterALostCommitThatWasNotApplied) {
  this->fixture.lose_next_commit(false);
  this->expect_paid(this->transact());
  EXPECT_EQ(this->runs, 2);
  EXPECT_EQ(this->fixture.payments(), 1U);
}

TYPED_TEST_P(ExecuteConformance, TransactSettlesACommitThatIsLostTimeAndAgain) {
  int begun = 0;
  const auto losing = [&] {
    if (++begun <= 3) this->fixture.lose_next_commit(begun == 3);
    return this->fixture.begin();
  };
  this->expect_replay(
      idem::transact(this->fixture.backend(), losing, this->request(), this->paying(), this->quick()));
  EXPECT_EQ(this->runs, 3);
  EXPECT_EQ(this->fixture.payments(), 1U);
}

TYPED_TEST_P(ExecuteConformance, TransactSaysThatACommitIsUnknownWhereItCannotSettleIt) {
  TransactOptions options = this->quick();
  options.retry.max_tries = 3;
  const auto losing = [&] {
    this->fixture.lose_next_commit(false);
    return this->fixture.begin();
  };
  EXPECT_THROW(
      (void)idem::transact(this->fixture.backend(), losing, this->request(), this->paying(), options),
      CommitUnknown);
  EXPECT_EQ(this->runs, 3);
  this->expect_paid(this->transact());
  EXPECT_EQ(this->fixture.payments(), 1U);
}

TYPED_TEST_P(ExecuteConformance, TransactSaysThatACommitIsUnknownWhereTheDatabaseIsGoneAfterIt) {
  TransactOptions options = this->quick();
  options.retry.max_tries = 3;
  int begun = 0;
  const auto vanishing = [&] {
    if (++begun > 1) throw std::runtime_error{"no connection"};
    this->fixture.lose_next_commit(true);
    return this->fixture.begin();
  };
  EXPECT_THROW(
      (void)idem::transact(this->fixture.backend(), vanishing, this->request(), this->paying(), options),
      CommitUnknown);
  EXPECT_EQ(begun, 3);
  this->expect_replay(this->transact());
  EXPECT_EQ(this->runs, 1);
  EXPECT_EQ(this->fixture.payments(), 1U);
}

// As where the retry reaches a server that refuses every write, such as a standby after a failover.
TYPED_TEST_P(ExecuteConformance, TransactSaysThatACommitIsUnknownWhereSettlingItIsRefused) {
  TransactOptions settling_an_older_one = this->quick();
  settling_an_older_one.reserve.attempt = random_uuid_v4();
  for (const TransactOptions& options : {this->quick(), settling_an_older_one}) {
    const std::string id = options.reserve.attempt ? "k2" : "k1";
    int begun = 0;
    const auto refusing = [&] {
      if (++begun > 1) throw StoredDataError{"refused"};
      this->fixture.lose_next_commit(true);
      return this->fixture.begin();
    };
    try {
      (void)idem::transact(this->fixture.backend(), refusing, this->request(id), this->paying(id), options);
      ADD_FAILURE() << "an answer, though the COMMIT's is not known";
    } catch (const CommitUnknown& unknown) {
      EXPECT_EQ(unknown.next_step(), NextStep::retry_call);
      EXPECT_THROW(std::rethrow_if_nested(unknown), StoredDataError);
    }
    EXPECT_EQ(begun, 2);
    this->expect_replay(this->transact(this->request(id)));
  }
  EXPECT_EQ(this->runs, 2);
  EXPECT_EQ(this->fixture.payments(), 2U);
}

TYPED_TEST_P(ExecuteConformance, TransactSaysThatACommitIsUnknownWhereThePauseGivesUp) {
  TransactOptions giving_up;
  giving_up.retry.pause = [](std::chrono::milliseconds) { throw std::runtime_error{"shutting down"}; };
  this->fixture.lose_next_commit(true);
  EXPECT_THROW((void)this->transact(this->request(), giving_up), CommitUnknown);
  this->expect_replay(this->transact());
  EXPECT_EQ(this->runs, 1);
}

TYPED_TEST_P(ExecuteConformance, TransactPassesOnARefusalWhereNoCommitOfItsOwnIsInDoubt) {
  TransactOptions settling = this->quick();
  settling.reserve.attempt = random_uuid_v4();
  settling.reserve.lease = std::chrono::milliseconds{0};
  EXPECT_THROW((void)this->transact(this->request(), settling), InvalidArgument);
  EXPECT_EQ(this->runs, 0);
}

// Nothing was executed, so the answer is true whether or not this COMMIT arrived.
TYPED_TEST_P(ExecuteConformance, TransactAnswersAReplayThoughItsCommitIsLost) {
  this->expect_paid(this->transact());
  for (const bool applied : {true, false}) {
    this->fixture.lose_next_commit(applied);
    this->expect_replay(this->transact());
  }
  EXPECT_EQ(this->runs, 1);
}

// Fault 24: without a reservation nothing runs.
TYPED_TEST_P(ExecuteConformance, TransactDoesNotRunTheHandlerWhereTheDatabaseIsGone) {
  const auto gone = [&]() -> decltype(this->fixture.begin()) { throw std::runtime_error{"no connection"}; };
  EXPECT_THROW(
      (void)idem::transact(this->fixture.backend(), gone, this->request(), this->paying(), this->quick()),
      std::runtime_error);
  EXPECT_EQ(this->runs, 0);
}

TYPED_TEST_P(ExecuteConformance, TransactCommitsTheTurnOfALapsedRecordToUnknown) {
  {
    auto unit = this->fixture.begin();
    auto store = this->fixture.backend().store(detail::transaction_of(unit));
    EXPECT_TRUE(
        std::holds_alternative<Acquired>(store->reserve(this->request().key, this->request().fingerprint)));
    detail::commit(unit);
  }
  this->fixture.advance(std::chrono::hours{1});
  EXPECT_TRUE(std::holds_alternative<Unknown>(this->transact()));
  EXPECT_EQ(this->find()->state, State::unknown);
  EXPECT_EQ(this->runs, 0);
}

// A handler that settles the record itself has broken the rules: nothing of it is kept.
TYPED_TEST_P(ExecuteConformance, TransactCommitsNothingWhereTheHandlerSettledTheRecordItself) {
  EXPECT_THROW((void)idem::transact(
                   this->fixture.backend(), this->begin(), this->request(),
                   [&](auto& tx, const Lease& lease) {
                     Decision decision = this->paying()(tx, lease);
                     auto store = this->fixture.backend().store(tx);
                     store->complete(lease, decision.response());
                     return decision;
                   },
                   this->quick()),
               AlreadySettled);
  EXPECT_EQ(this->runs, 1);
  EXPECT_EQ(this->fixture.payments(), 0U);
  EXPECT_FALSE(this->find());
}

TYPED_TEST_P(ExecuteConformance, TransactRefusesBoundsThatAreNone) {
  TransactOptions no_tries = this->quick();
  no_tries.retry.max_tries = 0;
  TransactOptions backwards = this->quick();
  backwards.retry.longest_pause = backwards.retry.first_pause - std::chrono::milliseconds{1};
  TransactOptions negative = this->quick();
  negative.retry.first_pause = std::chrono::milliseconds{-1};
  for (const TransactOptions& refused : {no_tries, backwards, negative}) {
    EXPECT_THROW((void)this->transact(this->request(), refused), InvalidArgument);
  }
  EXPECT_EQ(this->runs, 0);
}

// Faults 17, 59: a double-click by 16.
TYPED_TEST_P(ExecuteConformance, TransactOf16ThreadsHasOneEffect) {
  std::atomic<int> executed{0};
  std::atomic<int> others{0};
  const auto thrown = testing::race_errors(16, [&](std::size_t) {
    const Outcome outcome = this->transact();
    if (std::holds_alternative<Executed>(outcome)) {
      ++executed;
    } else if (std::holds_alternative<InProgress>(outcome) || std::holds_alternative<Replay>(outcome)) {
      ++others;
    }
  });
  EXPECT_TRUE(thrown.empty());
  EXPECT_EQ(executed, 1);
  EXPECT_EQ(others, 15);
  EXPECT_EQ(this->runs, 1);
  EXPECT_EQ(this->fixture.payments(), 1U);
}

REGISTER_TYPED_TEST_SUITE_P(
    ExecuteConformance, ExecuteRunsTheHandlerOnceAndThenReplays,
    ExecuteHandsTheHandlerTheVeryTransactionAndTheLease, ExecuteRolledBackLeavesNothing,
    ExecuteWhoseHandlersExceptionIsSwallowedCommitsNothing, ExecuteKeepsTheBusinessWritesOfAFailedDecision,
    ExecuteAnswersADuplicateWhileTheFirstIsOpen, ExecuteAnswersAnotherRequestWithMismatch,
    ExecuteInsideItselfUnderTheSameKeyIsAlreadyReserved, TransactCommitsAndThenReplays,
    TransactRollsBackWhatTheHandlerThrowsAndTheKeyIsFree, TransactRunsAgainAfterAConflictAndHasOneEffect,
    TransactGivesUpAfterTheTriesThatItWasGiven, TransactSettlesALostCommitThatWasApplied,
    TransactRunsAgainAfterALostCommitThatWasNotApplied, TransactSettlesACommitThatIsLostTimeAndAgain,
    TransactSaysThatACommitIsUnknownWhereItCannotSettleIt,
    TransactSaysThatACommitIsUnknownWhereTheDatabaseIsGoneAfterIt,
    TransactSaysThatACommitIsUnknownWhereSettlingItIsRefused,
    TransactSaysThatACommitIsUnknownWhereThePauseGivesUp,
    TransactPassesOnARefusalWhereNoCommitOfItsOwnIsInDoubt, TransactAnswersAReplayThoughItsCommitIsLost,
    TransactDoesNotRunTheHandlerWhereTheDatabaseIsGone, TransactCommitsTheTurnOfALapsedRecordToUnknown,
    TransactCommitsNothingWhereTheHandlerSettledTheRecordItself, TransactRefusesBoundsThatAreNone,
    TransactOf16ThreadsHasOneEffect);

}  // namespace idem::conformance
