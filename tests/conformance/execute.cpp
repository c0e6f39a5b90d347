// execute and transact on any backend.
#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "conformance/suites.hpp"
#include "idem/base/error.hpp"
#include "idem/command/transact.hpp"
#include "idem/testing/race.hpp"

namespace idem::conformance {

class ExecuteConformance : public Conformance {
 public:
  explicit ExecuteConformance(const MakeFixture& make) : Conformance{make} { fixture.make_tables(); }

 protected:
  // Pays, once more each time it runs, and answers 201.
  auto paying(const std::string& id = "p1") {
    return [this, id](Tx& tx, const Lease&) {
      ++runs;
      fixture.pay(tx, id);
      return completed(text_response(201, "paid"));
    };
  }
  Outcome transact(const Request& of = request(), const TransactOptions& options = quick()) {
    return idem::transact(backend(), begin(), of, paying(), options);
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

  std::atomic<int> runs{0};
};

namespace {

CONFORMANCE_TESTS_OF(ExecuteConformance);

// ---- execute

CONFORMANCE_TEST(ExecuteConformance, ExecuteRunsTheHandlerOnceAndThenReplays) {
  {
    auto unit = fixture.begin();
    Tx& tx = unit->transaction();
    const Outcome outcome = execute(backend(), tx, request(), paying());
    expect_paid(outcome);
    EXPECT_EQ(fixture.payments(), 0U) << "committed by execute itself";
    unit->commit();
    EXPECT_EQ(find()->expires_at, std::get<Executed>(outcome).expires_at);
  }
  auto unit = fixture.begin();
  Tx& tx = unit->transaction();
  expect_replay(execute(backend(), tx, request(), paying("p2")));
  unit->commit();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(fixture.payments(), 1U);
}

CONFORMANCE_TEST(ExecuteConformance, ExecuteHandsTheHandlerTheVeryTransactionAndTheLease) {
  auto unit = fixture.begin();
  Tx& tx = unit->transaction();
  const Outcome outcome = execute(backend(), tx, request(), [&](Tx& given, const Lease& lease) {
    EXPECT_EQ(&given, &tx);
    EXPECT_EQ(lease.key, request().key);
    EXPECT_EQ(backend().store(given)->find(lease.key)->holder, lease.holder);
    return completed(Response{204, {}, {}});
  });
  EXPECT_EQ(std::get<Executed>(outcome).response, (Response{204, {}, {}}));
}

CONFORMANCE_TEST(ExecuteConformance, ExecuteRolledBackLeavesNothing) {
  {
    auto unit = fixture.begin();
    Tx& tx = unit->transaction();
    expect_paid(execute(backend(), tx, request(), paying()));
  }
  EXPECT_EQ(fixture.payments(), 0U);
  EXPECT_FALSE(find());
}

// A decline is a fact: its business writes stay, and it is replayed.
CONFORMANCE_TEST(ExecuteConformance, ExecuteWhoseHandlersExceptionIsSwallowedCommitsNothing) {
  {
    auto unit = fixture.begin();
    Tx& tx = unit->transaction();
    const auto pay_and_throw = [&](Tx& given, const Lease&) -> Decision {
      fixture.pay(given, "p1");
      throw std::runtime_error{"after the business write"};
    };
    EXPECT_THROW((void)execute(backend(), tx, request(), pay_and_throw), std::runtime_error);
    try {
      unit->commit();
    } catch (const std::exception&) {
      // May say that nothing can be committed.
    }
  }
  EXPECT_EQ(fixture.payments(), 0U);
  EXPECT_FALSE(find());
}

CONFORMANCE_TEST(ExecuteConformance, ExecuteKeepsTheBusinessWritesOfAFailedDecision) {
  {
    auto unit = fixture.begin();
    Tx& tx = unit->transaction();
    const Outcome outcome = execute(backend(), tx, request(), [&](Tx& given, const Lease&) {
      fixture.pay(given, "declined attempt");
      return failed(text_response(402, "declined"));
    });
    EXPECT_EQ(std::get<Executed>(outcome).state, State::failed);
    unit->commit();
  }
  EXPECT_EQ(fixture.payments(), 1U);
  const Outcome again = transact();
  EXPECT_EQ(std::get<Replay>(again).state, State::failed);
  EXPECT_EQ(std::get<Replay>(again).response, text_response(402, "declined"));
  EXPECT_EQ(runs, 0);
}

CONFORMANCE_TEST(ExecuteConformance, ExecuteAnswersADuplicateWhileTheFirstIsOpen) {
  auto first = fixture.begin();
  Tx& first_tx = first->transaction();
  expect_paid(execute(backend(), first_tx, request(), paying()));
  {
    auto second = fixture.begin();
    Tx& second_tx = second->transaction();
    const Outcome outcome = execute(backend(), second_tx, request(), paying());
    EXPECT_TRUE(std::holds_alternative<InProgress>(outcome));
    second->commit();
  }
  first->commit();
  EXPECT_EQ(runs, 1);
}

CONFORMANCE_TEST(ExecuteConformance, ExecuteAnswersAnotherRequestWithMismatch) {
  expect_paid(transact());
  EXPECT_TRUE(std::holds_alternative<Mismatch>(transact(request("k1", 'b'))));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(fixture.payments(), 1U);
}

CONFORMANCE_TEST(ExecuteConformance, ExecuteInsideItselfUnderTheSameKeyIsAlreadyReserved) {
  auto unit = fixture.begin();
  Tx& tx = unit->transaction();
  const Outcome outcome = execute(backend(), tx, request(), [&](Tx& given, const Lease&) {
    EXPECT_THROW((void)execute(backend(), given, request(), paying()), AlreadyReserved);
    return completed(text_response(201, "paid"));
  });
  expect_paid(outcome);
  unit->commit();
  EXPECT_EQ(runs, 0);
}

// ---- transact

CONFORMANCE_TEST(ExecuteConformance, TransactCommitsAndThenReplays) {
  const Outcome outcome = transact();
  expect_paid(outcome);
  EXPECT_EQ(find()->expires_at, std::get<Executed>(outcome).expires_at);
  expect_replay(transact());
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(fixture.payments(), 1U);
}

// Faults 5, 7: a handler that throws leaves nothing behind that blocks the retry.
CONFORMANCE_TEST(ExecuteConformance, TransactRollsBackWhatTheHandlerThrowsAndTheKeyIsFree) {
  const auto throwing = [&](const auto& error) {
    return idem::transact(
        backend(), begin(), request(),
        [&](Tx& tx, const Lease&) -> Decision {
          ++runs;
          fixture.pay(tx, "gone");
          throw error;
        },
        quick());
  };
  EXPECT_THROW((void)throwing(std::runtime_error{"no such offering"}), std::runtime_error);
  EXPECT_THROW((void)throwing(7), int);
  EXPECT_EQ(runs, 2) << "run again although nothing says that it would go better";
  EXPECT_EQ(fixture.payments(), 0U);
  EXPECT_FALSE(find());
  expect_paid(transact());
}

// Fault 50: a conflict is no decision.
CONFORMANCE_TEST(ExecuteConformance, TransactRunsAgainAfterAConflictAndHasOneEffect) {
  std::vector<std::chrono::milliseconds> pauses;
  TransactOptions options;
  options.retry.pause = [&](std::chrono::milliseconds pause) { pauses.push_back(pause); };
  const Outcome outcome = idem::transact(
      backend(), begin(), request(),
      [&](Tx& tx, const Lease& lease) {
        Decision decision = paying()(tx, lease);
        if (runs < 3) fixture.conflict(tx);
        return decision;
      },
      options);
  expect_paid(outcome);
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(fixture.payments(), 1U);
  ASSERT_EQ(pauses.size(), 2U);
  EXPECT_LE(pauses[0], options.retry.first_pause);
  EXPECT_LE(pauses[1], 2 * options.retry.first_pause);
}

CONFORMANCE_TEST(ExecuteConformance, TransactGivesUpAfterTheTriesThatItWasGiven) {
  TransactOptions options = quick();
  options.retry.max_tries = 3;
  bool definite = true;
  try {
    (void)idem::transact(
        backend(), begin(), request(),
        [&](Tx& tx, const Lease& lease) {
          Decision decision = paying()(tx, lease);
          fixture.conflict(tx);
          return decision;
        },
        options);
    ADD_FAILURE() << "an answer, though every try was rolled back";
  } catch (...) {
    definite = backend().failure_of(std::current_exception()) != Failure::transient;
  }
  EXPECT_FALSE(definite) << "not the last conflict itself";
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(fixture.payments(), 0U);
  EXPECT_FALSE(find());
}

// Fault 61.
CONFORMANCE_TEST(ExecuteConformance, TransactSettlesALostCommitThatWasApplied) {
  fixture.lose_next_commit(true);
  expect_replay(transact());
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(fixture.payments(), 1U);
}

CONFORMANCE_TEST(ExecuteConformance, TransactRunsAgainAfterALostCommitThatWasNotApplied) {
  fixture.lose_next_commit(false);
  expect_paid(transact());
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(fixture.payments(), 1U);
}

CONFORMANCE_TEST(ExecuteConformance, TransactSettlesACommitThatIsLostTimeAndAgain) {
  int begun = 0;
  const auto losing = [&] {
    if (++begun <= 3) fixture.lose_next_commit(begun == 3);
    return fixture.begin();
  };
  expect_replay(idem::transact(backend(), losing, request(), paying(), quick()));
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(fixture.payments(), 1U);
}

CONFORMANCE_TEST(ExecuteConformance, TransactSaysThatACommitIsUnknownWhereItCannotSettleIt) {
  TransactOptions options = quick();
  options.retry.max_tries = 3;
  const auto losing = [&] {
    fixture.lose_next_commit(false);
    return fixture.begin();
  };
  EXPECT_THROW((void)idem::transact(backend(), losing, request(), paying(), options), CommitUnknown);
  EXPECT_EQ(runs, 3);
  expect_paid(transact());
  EXPECT_EQ(fixture.payments(), 1U);
}

CONFORMANCE_TEST(ExecuteConformance, TransactSaysThatACommitIsUnknownWhereTheDatabaseIsGoneAfterIt) {
  TransactOptions options = quick();
  options.retry.max_tries = 3;
  int begun = 0;
  const auto vanishing = [&] {
    if (++begun > 1) throw std::runtime_error{"no connection"};
    fixture.lose_next_commit(true);
    return fixture.begin();
  };
  EXPECT_THROW((void)idem::transact(backend(), vanishing, request(), paying(), options), CommitUnknown);
  EXPECT_EQ(begun, 3);
  expect_replay(transact());
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(fixture.payments(), 1U);
}

// As where the retry reaches a server that refuses every write, such as a standby after a failover.
CONFORMANCE_TEST(ExecuteConformance, TransactSaysThatACommitIsUnknownWhereSettlingItIsRefused) {
  TransactOptions settling_an_older_one = quick();
  settling_an_older_one.reserve.attempt = random_uuid_v4();
  for (const TransactOptions& options : {quick(), settling_an_older_one}) {
    const std::string id = options.reserve.attempt ? "k2" : "k1";
    int begun = 0;
    const auto refusing = [&] {
      if (++begun > 1) throw StoredDataError{"refused"};
      fixture.lose_next_commit(true);
      return fixture.begin();
    };
    try {
      (void)idem::transact(backend(), refusing, request(id), paying(id), options);
      ADD_FAILURE() << "an answer, though the COMMIT's is not known";
    } catch (const CommitUnknown& unknown) {
      EXPECT_EQ(unknown.next_step(), NextStep::retry_call);
      EXPECT_THROW(std::rethrow_if_nested(unknown), StoredDataError);
    }
    EXPECT_EQ(begun, 2);
    expect_replay(transact(request(id)));
  }
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(fixture.payments(), 2U);
}

CONFORMANCE_TEST(ExecuteConformance, TransactSaysThatACommitIsUnknownWhereThePauseGivesUp) {
  TransactOptions giving_up;
  giving_up.retry.pause = [](std::chrono::milliseconds) { throw std::runtime_error{"shutting down"}; };
  fixture.lose_next_commit(true);
  EXPECT_THROW((void)transact(request(), giving_up), CommitUnknown);
  expect_replay(transact());
  EXPECT_EQ(runs, 1);
}

CONFORMANCE_TEST(ExecuteConformance, TransactPassesOnARefusalWhereNoCommitOfItsOwnIsInDoubt) {
  TransactOptions settling = quick();
  settling.reserve.attempt = random_uuid_v4();
  settling.reserve.lease = std::chrono::milliseconds{0};
  EXPECT_THROW((void)transact(request(), settling), InvalidArgument);
  EXPECT_EQ(runs, 0);
}

// Nothing was executed, so the answer is true whether or not this COMMIT arrived.
CONFORMANCE_TEST(ExecuteConformance, TransactAnswersAReplayThoughItsCommitIsLost) {
  expect_paid(transact());
  for (const bool applied : {true, false}) {
    fixture.lose_next_commit(applied);
    expect_replay(transact());
  }
  EXPECT_EQ(runs, 1);
}

// Fault 24: without a reservation nothing runs.
CONFORMANCE_TEST(ExecuteConformance, TransactDoesNotRunTheHandlerWhereTheDatabaseIsGone) {
  const auto gone = [&]() -> std::unique_ptr<Unit> { throw std::runtime_error{"no connection"}; };
  EXPECT_THROW((void)idem::transact(backend(), gone, request(), paying(), quick()), std::runtime_error);
  EXPECT_EQ(runs, 0);
}

CONFORMANCE_TEST(ExecuteConformance, TransactCommitsTheTurnOfALapsedRecordToUnknown) {
  {
    auto unit = fixture.begin();
    auto store = backend().store(unit->transaction());
    EXPECT_TRUE(std::holds_alternative<Acquired>(store->reserve(request().key, request().fingerprint)));
    unit->commit();
  }
  fixture.advance(std::chrono::hours{1});
  EXPECT_TRUE(std::holds_alternative<Unknown>(transact()));
  EXPECT_EQ(find()->state, State::unknown);
  EXPECT_EQ(runs, 0);
}

// A handler that settles the record itself has broken the rules: nothing of it is kept.
CONFORMANCE_TEST(ExecuteConformance, TransactCommitsNothingWhereTheHandlerSettledTheRecordItself) {
  EXPECT_THROW((void)idem::transact(
                   backend(), begin(), request(),
                   [&](Tx& tx, const Lease& lease) {
                     Decision decision = paying()(tx, lease);
                     auto store = backend().store(tx);
                     store->complete(lease, decision.response());
                     return decision;
                   },
                   quick()),
               AlreadySettled);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(fixture.payments(), 0U);
  EXPECT_FALSE(find());
}

CONFORMANCE_TEST(ExecuteConformance, TransactRefusesBoundsThatAreNone) {
  TransactOptions no_tries = quick();
  no_tries.retry.max_tries = 0;
  TransactOptions backwards = quick();
  backwards.retry.longest_pause = backwards.retry.first_pause - std::chrono::milliseconds{1};
  TransactOptions negative = quick();
  negative.retry.first_pause = std::chrono::milliseconds{-1};
  for (const TransactOptions& refused : {no_tries, backwards, negative}) {
    EXPECT_THROW((void)transact(request(), refused), InvalidArgument);
  }
  EXPECT_EQ(runs, 0);
}

// Faults 17, 59: a double-click by 16.
CONFORMANCE_TEST(ExecuteConformance, TransactOf16ThreadsHasOneEffect) {
  std::atomic<int> executed{0};
  std::atomic<int> others{0};
  const auto thrown = testing::race_errors(16, [&](std::size_t) {
    const Outcome outcome = transact();
    if (std::holds_alternative<Executed>(outcome)) {
      ++executed;
    } else if (std::holds_alternative<InProgress>(outcome) || std::holds_alternative<Replay>(outcome)) {
      ++others;
    }
  });
  EXPECT_TRUE(thrown.empty());
  EXPECT_EQ(executed, 1);
  EXPECT_EQ(others, 15);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(fixture.payments(), 1U);
}

}  // namespace

void register_execute(const std::string& prefix, const Conformance::MakeFixture& make) {
  testing::register_conformance_cases(prefix + "/ExecuteConformance", CONFORMANCE_CASES, make);
}

}  // namespace idem::conformance
