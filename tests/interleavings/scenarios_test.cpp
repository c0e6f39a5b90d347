// The record's life in every order: no schedule breaks an invariant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "interleavings/steps.hpp"

namespace idem::interleavings {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;

const ReserveOptions resumable{.resumable = true,
                               .downstream = deduplicates_for("acquirer", std::chrono::hours{1})};
const ReserveOptions sent_once{.resumable = true, .downstream = cannot_deduplicate("acquirer")};

using Steps = std::vector<Step>;

// One transaction, and an outside call from its second transaction on.
Steps one_transaction() {
  return {reserve(), pay(), complete(), commit()};
}
Steps one_short_transaction(const ReserveOptions& options = {}) {
  return {reserve(options), pay_and_complete(), commit()};
}

class Interleavings : public ::testing::TestWithParam<Level> {
 protected:
  explicit Interleavings(const postgres::BackendOptions& options = {}) : database{options} {
    create_business_tables(database);
  }

  // That the scenario was reached at all is told by `answers`.
  std::set<std::string> explore_without_violation(Scenario scenario) {
    scenario.level = GetParam();
    const Report report = explore(database, scenario);
    EXPECT_EQ(report.violating, 0U) << report.first_violation;
    return report.answers;
  }

  postgres_test::TestDatabase database;
};

const auto levels = ::testing::Values(Level::read_committed, Level::repeatable_read, Level::serializable);

std::string name_of_test(const ::testing::TestParamInfo<Level>& info) {
  std::string name = name_of(info.param);
  name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
  return name;
}

INSTANTIATE_TEST_SUITE_P(Levels, Interleavings, levels, name_of_test);

TEST_P(Interleavings, TwoSessionsReservePayCompleteCommit) {
  EXPECT_THAT(
      explore_without_violation({.name = "two sessions, reserve-pay-complete-commit",
                                 .sessions = {one_transaction(), one_transaction()}}),
      IsSupersetOf({"reserve: InProgress", "reserve: Replay of session 1", "reserve: Replay of session 2"}));
}

TEST_P(Interleavings, ThreeSessionsReservePayCompleteCommit) {
  EXPECT_THAT(
      explore_without_violation(
          {.name = "three sessions, reserve-pay+complete-commit",
           .sessions = {one_short_transaction(), one_short_transaction(), one_short_transaction()}}),
      IsSupersetOf({"reserve: InProgress", "reserve: Replay of session 1", "reserve: Replay of session 3"}));
}

TEST_P(Interleavings, OneOfThreeRollsBack) {
  EXPECT_THAT(
      explore_without_violation({.name = "three sessions, one rolls back",
                                 .sessions = {{reserve(), pay_and_complete(), rollback()},
                                              one_short_transaction(),
                                              one_short_transaction()}}),
      IsSupersetOf({"reserve: InProgress", "reserve: Replay of session 2", "reserve: Replay of session 3"}));
}

// Whoever rolled back, and whoever was refused, asks again.
TEST_P(Interleavings, TwoSessionsThatAskTwice) {
  const Steps rolled_back{reserve(), pay_and_complete(), rollback(), reserve(), pay_and_complete(), commit()};
  const Steps committed{reserve(), pay_and_complete(), commit(), reserve(), pay_and_complete(), commit()};
  EXPECT_THAT(
      explore_without_violation(
          {.name = "two sessions ask twice, one rolls back first", .sessions = {rolled_back, committed}}),
      IsSupersetOf({"reserve: InProgress", "reserve: Replay of session 1", "reserve: Replay of session 2"}));
}

// Under the stricter levels the snapshot is older than the other's reservation.
TEST_P(Interleavings, ATransactionThatHasReadBeforeItReserves) {
  const Steps reads_first{find(), reserve(), pay_and_complete(), commit()};
  const auto answers = explore_without_violation(
      {.name = "two sessions, find-reserve-pay+complete-commit", .sessions = {reads_first, reads_first}});
  EXPECT_THAT(answers, IsSupersetOf({"reserve: InProgress", "find: Replay of session 1"}));
  EXPECT_EQ(answers.contains("reserve: TransactionConflict"), GetParam() != Level::read_committed);
}

TEST_P(Interleavings, ADecisionAgainstItIsAnAnswerToo) {
  EXPECT_THAT(explore_without_violation(
                  {.name = "three sessions, one declines",
                   .sessions = {{reserve(), fail(), commit()}, one_short_transaction(), {find(), commit()}}}),
              IsSupersetOf({"reserve: Replay of session 1", "find: absent", "find: Replay of session 1"}));
}

TEST_P(Interleavings, AnotherFingerprintIsNeverAnswered) {
  EXPECT_THAT(explore_without_violation({.name = "three sessions, one with another fingerprint",
                                         .sessions = {one_short_transaction(),
                                                      one_short_transaction(),
                                                      {reserve({}, "[]"), pay_and_complete(), commit()}}}),
              ::testing::AllOf(
                  IsSupersetOf({"reserve: InProgress", "reserve: Mismatch", "reserve: Replay of session 1"}),
                  Contains("pay+complete: done")));
}

TEST_P(Interleavings, ATakeoverWhileTheSlowFirstWorkerCompletesLate) {
  const Steps slow{reserve(resumable), lapse(), commit(), pay(), complete(), commit()};
  const Steps next{reserve(resumable), pay(), complete(), commit()};
  EXPECT_THAT(
      explore_without_violation(
          {.name = "lapse, takeover, late complete", .sessions = {slow, next}, .prefix = {0, 0, 0}}),
      IsSupersetOf({"reserve: Acquired took_over", "complete: LeaseLost", "reserve: Replay of session 1"}));
}

TEST_P(Interleavings, TwoTakersAndTheSlowFirstWorker) {
  const Steps slow{reserve(resumable), lapse(), commit(), pay_and_complete(), commit()};
  EXPECT_THAT(explore_without_violation(
                  {.name = "lapse, two takers, late complete",
                   .sessions = {slow, one_short_transaction(resumable), one_short_transaction(resumable)},
                   .prefix = {0, 0, 0}}),
              IsSupersetOf({"reserve: Acquired took_over", "pay+complete: LeaseLost", "reserve: InProgress",
                            "reserve: Replay of session 1"}));
}

TEST_P(Interleavings, ATakerThatCommitsBeforeItsCall) {
  const Steps slow{reserve(resumable), lapse(), commit(), renew(), commit(), pay_and_complete(), commit()};
  const Steps next{reserve(resumable), commit(), pay_and_complete(), commit()};
  EXPECT_THAT(explore_without_violation({.name = "lapse, renew against takeover around an outside call",
                                         .sessions = {slow, next},
                                         .prefix = {0, 0, 0}}),
              IsSupersetOf({"reserve: Acquired took_over", "reserve: InProgress", "renew: LeaseLost"}));
}

TEST_P(Interleavings, ALapsedRecordTurnsUnknownAndIsSettledOnce) {
  const Steps slow{reserve(), lapse(), commit(), pay_and_complete(), commit()};
  EXPECT_THAT(
      explore_without_violation(
          {.name = "lapse to UNKNOWN, late complete, resolve",
           .sessions = {slow, {reserve(), commit(), find()}, {find(), resolve(State::completed), commit()}},
           .prefix = {0, 0, 0}}),
      IsSupersetOf({"reserve: Unknown", "find: UNKNOWN", "resolve: done", "pay+complete: AlreadySettled",
                    "reserve: Replay of session 1", "find: Replay of session 3"}));
}

TEST_P(Interleavings, TwoOperatorsAndTheSlowWorkerSettleAnUnknownRecordOnce) {
  const Steps slow{reserve(), lapse(), mark_unknown(), commit(), pay_and_complete(), commit()};
  EXPECT_THAT(
      explore_without_violation({.name = "two operators and the slow worker settle UNKNOWN",
                                 .sessions = {slow,
                                              {find(), resolve(State::completed), commit()},
                                              {find(), resolve(State::failed), commit()}},
                                 .prefix = {0, 0, 0, 0}}),
      IsSupersetOf({"find: UNKNOWN", "resolve: done", "pay+complete: AlreadySettled",
                    "find: Replay of session 1", "find: Replay of session 2", "find: Replay of session 3"}));
}

// Its record was settled, has expired and belongs to a new request: only the fence tells.
TEST_P(Interleavings, ASlowWorkerOfAnEarlierGenerationCompletesLate) {
  const Steps slow{reserve(), lapse(), mark_unknown(), commit(), pay(), complete(), commit()};
  const Steps operator_then_time{find(), resolve(State::failed), commit(), expire()};
  const Steps next{reserve(), commit(), pay(), complete(), commit()};
  EXPECT_THAT(
      explore_without_violation({.name = "late complete of a generation that was resolved and has expired",
                                 .sessions = {slow, operator_then_time, next},
                                 .prefix = {0, 0, 0, 0, 1, 1, 1, 1}}),
      IsSupersetOf({"expire: expired", "complete: LeaseLost", "complete: done"}));
}

TEST_P(Interleavings, AMarkOfTheCallAgainstATakeover) {
  const Steps slow{reserve(sent_once), lapse(), commit(), mark_sent(), commit_and_call(),
                   pay_and_complete(), commit()};
  const Steps next{reserve(sent_once), mark_sent(), commit_and_call(), pay_and_complete(), commit()};
  EXPECT_THAT(explore_without_violation(
                  {.name = "mark_sent against takeover", .sessions = {slow, next}, .prefix = {0, 0, 0}}),
              IsSupersetOf({"reserve: Acquired took_over", "reserve: Unknown", "mark_sent: LeaseLost"}));
}

TEST_P(Interleavings, AReleaseAgainstReservations) {
  const Steps releases{reserve(), pay(), commit(), release(), commit()};
  EXPECT_THAT(
      explore_without_violation({.name = "release against reserve",
                                 .sessions = {releases, one_short_transaction(), one_short_transaction()},
                                 .prefix = {0, 0, 0}}),
      IsSupersetOf({"release: done", "reserve: Acquired fresh", "reserve: InProgress"}));
}

TEST_P(Interleavings, AReleaseInTheTransactionOfItsReservation) {
  EXPECT_THAT(explore_without_violation(
                  {.name = "reserve-release-commit against reserve",
                   .sessions = {{reserve(), pay(), release(), commit()}, one_short_transaction()}}),
              IsSupersetOf({"release: done", "reserve: Replay of session 2", "reserve: InProgress"}));
}

// The purge comes before, between and after.
TEST_P(Interleavings, AnExpiredRecordIsReplacedReplayedAndPurged) {
  const Steps expires{reserve(), pay_and_complete(), commit(), expire(), purge(), commit()};
  EXPECT_THAT(
      explore_without_violation({.name = "expired record replaced, replayed and purged",
                                 .sessions = {expires, one_short_transaction(), one_short_transaction()},
                                 .prefix = {0, 0, 0, 0}}),
      IsSupersetOf({"purge: 0 rows", "purge: 1 rows", "reserve: InProgress", "reserve: Replay of session 2",
                    "reserve: Replay of session 3"}));
}

// The old server process is still committing, or gives up, while its client asks again.
TEST_P(Interleavings, AnOwnLostCommitIsSettledWhileTheOldTransactionIsOpen) {
  const Steps attempt{reserve_under_one_attempt(), pay_and_complete(), commit()};
  EXPECT_THAT(explore_without_violation({.name = "a lost COMMIT that arrives, settled under its attempt",
                                         .sessions = {attempt, attempt, one_short_transaction()}}),
              IsSupersetOf({"reserve: InProgress", "reserve: Acquired fresh"}));
  const Steps lost{reserve_under_one_attempt(), pay_and_complete(), rollback()};
  EXPECT_THAT(
      explore_without_violation({.name = "a lost COMMIT that never arrives, settled under its attempt",
                                 .sessions = {lost, attempt, one_short_transaction()}}),
      IsSupersetOf({"reserve: InProgress", "reserve: Acquired fresh"}));
}

TEST_P(Interleavings, AnOwnLostReservationIsTakenUpAgain) {
  const Steps attempt{reserve_under_one_attempt(), commit()};
  const Steps again{reserve_under_one_attempt(), commit(), pay_and_complete(), commit()};
  EXPECT_THAT(explore_without_violation({.name = "a lost COMMIT of a reservation around an outside call",
                                         .sessions = {attempt, again, one_short_transaction()}}),
              IsSupersetOf({"reserve: InProgress", "reserve: Acquired fresh"}));
}

// An answer that expires by an update, as here, is seen to expire only by a statement that looks anew.
class InterleavingsOfFreshLooks : public Interleavings {};

INSTANTIATE_TEST_SUITE_P(Levels, InterleavingsOfFreshLooks, ::testing::Values(Level::read_committed),
                         name_of_test);

TEST_P(InterleavingsOfFreshLooks, AnAnswerExpiresWhileItIsReplayed) {
  const Steps expires{reserve(), pay_and_complete(), commit(), expire(), purge(), commit()};
  EXPECT_THAT(
      explore_without_violation({.name = "an answer expires while others replay and replace it",
                                 .sessions = {expires, one_short_transaction(), one_short_transaction()},
                                 .prefix = {0, 0, 0}}),
      IsSupersetOf({"purge: 1 rows", "reserve: Replay of session 1", "reserve: Acquired fresh",
                    "reserve: Replay of session 2"}));
}

// Without the gate each duplicate waits, and the primary key alone decides.
class InterleavingsWithoutTheGate : public Interleavings {
 protected:
  InterleavingsWithoutTheGate() : Interleavings{{.gate = postgres::Gate::none}} {}
};

INSTANTIATE_TEST_SUITE_P(Levels, InterleavingsWithoutTheGate, levels, name_of_test);

TEST_P(InterleavingsWithoutTheGate, ThreeSessionsReservePayCompleteCommit) {
  EXPECT_THAT(explore_without_violation(
                  {.name = "three sessions without the gate",
                   .sessions = {one_short_transaction(), one_short_transaction(), one_short_transaction()}}),
              IsSupersetOf({"reserve: Replay of session 1", "reserve: Replay of session 3"}));
}

TEST_P(InterleavingsWithoutTheGate, OneOfThreeRollsBack) {
  EXPECT_THAT(explore_without_violation({.name = "three sessions without the gate, one rolls back",
                                         .sessions = {{reserve(), pay_and_complete(), rollback()},
                                                      one_short_transaction(),
                                                      one_short_transaction()}}),
              IsSupersetOf({"reserve: Replay of session 2", "reserve: Replay of session 3"}));
}

}  // namespace
}  // namespace idem::interleavings
