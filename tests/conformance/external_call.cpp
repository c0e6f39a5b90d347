// external_call on any backend.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "conformance/external_call_suite.hpp"
#include "idem/testing/race.hpp"

namespace idem::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

CONFORMANCE_TESTS_OF(ExternalCallConformance);

CONFORMANCE_TEST(ExternalCallConformance, CallsOnceAndReplaysTheSameBytes) {
  expect_executed(pay(), State::completed, approved);
  expect_replay(pay(), State::completed, approved);
  EXPECT_EQ(acquirer.calls(), 1U);
  EXPECT_EQ(prepared, 1);
  EXPECT_EQ(finished, 1);
  EXPECT_EQ(acquirer.ledger()[0].key, downstream_key(request().key, request().fingerprint));
  expect_authorized();
}

CONFORMANCE_TEST(ExternalCallConformance, AStoredDeclineReplaysAsTheDecline) {
  acquirer.then(FakeCharge::decline);
  expect_executed(pay(), State::failed, declined);
  expect_replay(pay(), State::failed, declined);
  EXPECT_EQ(acquirer.calls(), 1U);
  EXPECT_EQ(fixture.state("k1"), "DECLINED");
  EXPECT_THAT(events(), ElementsAre("PaymentDeclined"));
}

CONFORMANCE_TEST(ExternalCallConformance, AnotherRequestUnderTheKeyIsMismatchAndCallsNobody) {
  (void)pay();
  expect<Mismatch>(pay(request("k1", 'b')));
  EXPECT_EQ(acquirer.calls(), 1U);
}

CONFORMANCE_TEST(ExternalCallConformance, ADuplicateDuringTheCallIsInProgressAndCallsNobody) {
  before_call = [&] {
    expect<InProgress>(pay());
    expect<Mismatch>(pay(request("k1", 'b')));
    EXPECT_EQ(acquirer.calls(), 0U);
    EXPECT_EQ(fixture.state("k1"), "PENDING") << "what was prepared is committed before the call";
  };
  expect_executed(pay(), State::completed, approved);
  expect_authorized();
}

CONFORMANCE_TEST(ExternalCallConformance, APrepareThatThrowsLeavesNothingAndCallsNobody) {
  in_prepare = [](Tx&) { throw std::runtime_error{"no"}; };
  EXPECT_THROW((void)pay(), std::runtime_error);
  EXPECT_FALSE(find());
  EXPECT_EQ(fixture.state("k1"), std::nullopt);
  EXPECT_EQ(acquirer.calls(), 0U);
}

// ---- a result that is not known

CONFORMANCE_TEST(ExternalCallConformance,
                 ATimeOutIsAskedForAgainUnderTheSameKeyWhereTheDownstreamDeduplicates) {
  for (const FakeCharge lost :
       {FakeCharge::time_out_before, FakeCharge::time_out_after, FakeCharge::throw_after}) {
    SCOPED_TRACE(static_cast<int>(lost));
    const Request request = this->request("k" + std::to_string(static_cast<int>(lost)));
    const std::size_t before = acquirer.ledger().size();
    acquirer.then(lost);
    expect<InProgress>(pay(request));
    EXPECT_EQ(find(request)->state, State::in_progress);
    EXPECT_EQ(fixture.state(request.key.value), "PENDING");
    const Outcome again = pay(request);
    EXPECT_EQ(expect<Executed>(again).state, State::completed);
    EXPECT_EQ(acquirer.ledger().size(), before + 1) << "charged twice, or not at all";
    EXPECT_EQ(fixture.state(request.key.value), "AUTHORIZED");
  }
  EXPECT_EQ(told_unknown, 0);
  EXPECT_THAT(reasons, ElementsAre("timed out", "timed out", "exception"));
  EXPECT_EQ(events().size(), 3U);
}

CONFORMANCE_TEST(ExternalCallConformance, ATimeOutIsUnknownAndNeverCalledAgainWhereItCannotDeduplicate) {
  downstream = cannot_deduplicate("acquirer");
  for (const FakeCharge lost :
       {FakeCharge::time_out_before, FakeCharge::time_out_after, FakeCharge::throw_after}) {
    SCOPED_TRACE(static_cast<int>(lost));
    const Request request = this->request("k" + std::to_string(static_cast<int>(lost)));
    const std::size_t before = acquirer.calls();
    acquirer.then(lost);
    EXPECT_EQ(expect<Unknown>(pay(request)).response, not_known);
    EXPECT_EQ(find(request)->state, State::unknown);
    EXPECT_EQ(fixture.state(request.key.value), "UNKNOWN");
    fixture.advance(lease + 1min);
    EXPECT_EQ(expect<Unknown>(pay(request)).response, not_known);
    EXPECT_EQ(acquirer.calls(), before + 1);
  }
  EXPECT_EQ(told_unknown, 3);
  EXPECT_THAT(events(), IsEmpty());
}

// ---- a worker that died

CONFORMANCE_TEST(ExternalCallConformance, AfterTheLeaseTheNextOneResumesUnderTheSameDownstreamKey) {
  {
    // Died after the approval: the first commit is there, the second never came.
    auto unit = fixture.begin();
    Tx& tx = unit->transaction();
    auto store = backend().store(tx);
    const ReserveOptions reserve = detail::call_reservation(options(), downstream);
    const Request request = this->request();
    ASSERT_TRUE(std::holds_alternative<Acquired>(store->reserve(request.key, request.fingerprint, reserve)));
    fixture.put(tx, "k1", "PENDING");
    unit->commit();
  }
  (void)acquirer.charge(downstream_key(this->request().key, this->request().fingerprint), "1290 EUR");
  expect<InProgress>(pay());
  fixture.advance(lease + 1min);
  expect_executed(pay(), State::completed, approved);
  EXPECT_EQ(prepared, 0);
  expect_authorized();
}

CONFORMANCE_TEST(ExternalCallConformance, AfterTheWindowTheNextOneTurnsItUnknownAndRunsUnknown) {
  acquirer.then(FakeCharge::time_out_after);
  expect<InProgress>(pay());
  fixture.advance(window);
  EXPECT_EQ(expect<Unknown>(pay()).response, not_known);
  EXPECT_EQ(told_unknown, 1);
  EXPECT_EQ(fixture.state("k1"), "UNKNOWN");
  EXPECT_EQ(state_of_record(), State::unknown);
  EXPECT_EQ(expect<Unknown>(pay()).response, not_known);
  EXPECT_EQ(told_unknown, 1);
  EXPECT_EQ(acquirer.calls(), 1U);
}

CONFORMANCE_TEST(ExternalCallConformance, WithTheMarkOfSendingALapsedRecordIsUnknownWithoutItItIsResumed) {
  downstream = cannot_deduplicate("acquirer");
  const ReserveOptions reserve = detail::call_reservation(options(), downstream);
  for (const bool marked : {false, true}) {
    SCOPED_TRACE(marked);
    const Request request = this->request(marked ? "marked" : "not marked");
    {
      auto unit = fixture.begin();
      Tx& tx = unit->transaction();
      auto store = backend().store(tx);
      const Reservation reservation = store->reserve(request.key, request.fingerprint, reserve);
      if (marked) store->mark_sent(std::get<Acquired>(reservation).lease);
      fixture.put(tx, request.key.value, "PENDING");
      unit->commit();
    }
    fixture.advance(lease + 1min);
    const Outcome outcome = pay(request);
    if (marked) {
      EXPECT_EQ(expect<Unknown>(outcome).response, not_known);
      EXPECT_EQ(fixture.state(request.key.value), "UNKNOWN");
    } else {
      expect_executed(outcome, State::completed, approved);
    }
  }
  EXPECT_EQ(acquirer.calls(), 1U);
}

CONFORMANCE_TEST(ExternalCallConformance, TheMarkOfSendingIsCommittedBeforeTheCall) {
  downstream = cannot_deduplicate("acquirer");
  before_call = [&] { EXPECT_TRUE(find()->sent_at.has_value()); };
  expect_executed(pay(), State::completed, approved);
  EXPECT_EQ(before_call, nullptr);
}

// ---- a slow worker

CONFORMANCE_TEST(ExternalCallConformance, ALateApprovalSettlesItsOwnUnknown) {
  downstream = cannot_deduplicate("acquirer");
  after_call = [&] {
    fixture.advance(lease + 1min);
    EXPECT_EQ(expect<Unknown>(pay()).response, not_known);
    EXPECT_EQ(fixture.state("k1"), "UNKNOWN");
  };
  expect_executed(pay(), State::completed, approved);
  EXPECT_EQ(told_unknown, 1);
  expect_authorized();
}

CONFORMANCE_TEST(ExternalCallConformance, ALateTimeOutOfARecordThatIsUnknownIsUnknownWithTheStoredAnswer) {
  downstream = cannot_deduplicate("acquirer");
  acquirer.then(FakeCharge::time_out_after);
  after_call = [&] {
    fixture.advance(lease + 1min);
    (void)pay();
  };
  EXPECT_EQ(expect<Unknown>(pay()).response, not_known);
  EXPECT_EQ(state_of_record(), State::unknown);
}

CONFORMANCE_TEST(ExternalCallConformance, ALateApprovalAfterATakeoverGivesTheAnswerThatIsStored) {
  after_call = [&] {
    fixture.advance(lease + 1min);
    expect_executed(pay(), State::completed, approved);
  };
  expect_replay(pay(), State::completed, approved);
  EXPECT_EQ(finished, 1) << "what was taken over is not finished a second time";
  EXPECT_EQ(acquirer.calls(), 2U);
  expect_authorized();
}

CONFORMANCE_TEST(ExternalCallConformance, ALateApprovalWhileTheNextOneIsAtItIsInProgress) {
  after_call = [&] {
    fixture.advance(lease + 1min);
    auto unit = fixture.begin();
    auto store = backend().store(unit->transaction());
    const Request request = this->request();
    ASSERT_TRUE(std::holds_alternative<Acquired>(
        store->reserve(request.key, request.fingerprint, detail::call_reservation(options(), downstream))));
    unit->commit();
  };
  expect<InProgress>(pay());
  EXPECT_EQ(fixture.state("k1"), "PENDING");
  EXPECT_THAT(events(), IsEmpty());
}

// ---- transactions that fail

CONFORMANCE_TEST(ExternalCallConformance, ConflictsRunTheTransactionAgainAndNeverTheCall) {
  int conflicts = 0;
  const auto twice = [&](Tx& tx) {
    if (++conflicts <= 2) fixture.conflict(tx);
  };
  in_prepare = twice;
  expect_executed(pay(request("k0")), State::completed, approved);
  in_prepare = nullptr;
  conflicts = 0;
  in_finish = twice;
  expect_executed(pay(), State::completed, text_response(201, "ch_2"));
  EXPECT_EQ(acquirer.calls(), 2U);
  EXPECT_EQ(events().size(), 2U);
}

CONFORMANCE_TEST(ExternalCallConformance, ALostCommitOfTheReservationIsSettledAndTheCallMadeOnce) {
  for (const bool applied : {true, false}) {
    SCOPED_TRACE(applied);
    const std::string id = applied ? "applied" : "not applied";
    fixture.lose_commit(1, applied);
    EXPECT_EQ(expect<Executed>(pay(request(id))).state, State::completed);
    EXPECT_EQ(fixture.state(id), "AUTHORIZED");
  }
  EXPECT_EQ(acquirer.calls(), 2U);
  EXPECT_EQ(prepared, 3);
  EXPECT_EQ(events().size(), 2U);
}

CONFORMANCE_TEST(ExternalCallConformance, ALostCommitOfTheAnswerIsSettledWithOneEffect) {
  for (const bool applied : {true, false}) {
    SCOPED_TRACE(applied);
    const std::string id = applied ? "applied" : "not applied";
    fixture.lose_commit(2, applied);
    const Outcome outcome = pay(request(id));
    if (applied) {
      EXPECT_EQ(expect<Replay>(outcome).state, State::completed);
    } else {
      EXPECT_EQ(expect<Executed>(outcome).state, State::completed);
    }
    EXPECT_EQ(fixture.state(id), "AUTHORIZED");
  }
  EXPECT_EQ(acquirer.calls(), 2U);
  EXPECT_EQ(events().size(), 2U);
}

CONFORMANCE_TEST(ExternalCallConformance, ALostCommitOfTheMarkOfSendingIsSettledAndTheCallMadeOnce) {
  downstream = cannot_deduplicate("acquirer");
  for (const bool applied : {true, false}) {
    SCOPED_TRACE(applied);
    fixture.lose_commit(2, applied);
    EXPECT_EQ(expect<Executed>(pay(request(applied ? "a" : "n"))).state, State::completed);
  }
  EXPECT_EQ(acquirer.calls(), 2U);
}

CONFORMANCE_TEST(ExternalCallConformance, ALostCommitOfTheUnknownIsSettled) {
  downstream = cannot_deduplicate("acquirer");
  for (const bool applied : {true, false}) {
    SCOPED_TRACE(applied);
    acquirer.then(FakeCharge::time_out_after);
    fixture.lose_commit(3, applied);
    const Request request = this->request(applied ? "applied" : "not applied");
    EXPECT_EQ(expect<Unknown>(pay(request)).response, not_known);
    EXPECT_EQ(find(request)->state, State::unknown);
    EXPECT_EQ(fixture.state(request.key.value), "UNKNOWN");
  }
}

CONFORMANCE_TEST(ExternalCallConformance, AReservationThatCannotBeSettledIsCommitUnknownAndCallsNobody) {
  CallOptions once = options();
  once.retry.max_tries = 1;
  fixture.lose_commit(1, true);
  EXPECT_THROW((void)pay(request(), once), CommitUnknown);
  EXPECT_EQ(acquirer.calls(), 0U);
  fixture.advance(lease + 1min);
  expect_executed(pay(), State::completed, approved);
  expect_authorized();
}

CONFORMANCE_TEST(ExternalCallConformance,
                 AnAnswerWhoseCommitCannotBeSettledIsCommitUnknownAndKeptOrAskedForAgain) {
  for (const bool applied : {true, false}) {
    SCOPED_TRACE(applied);
    const Request request = this->request(applied ? "applied" : "not applied");
    CallOptions once = options();
    once.retry.max_tries = 1;
    once.settle_tries = 1;
    fixture.lose_commit(2, applied);
    EXPECT_THROW((void)pay(request, once), CommitUnknown);
    const Outcome again = pay(request);
    EXPECT_EQ(again.index(), applied ? 1U : 0U);
    EXPECT_EQ(fixture.state(request.key.value), "AUTHORIZED");
  }
  EXPECT_EQ(acquirer.ledger().size(), 2U);
  EXPECT_EQ(events().size(), 2U);
}

CONFORMANCE_TEST(ExternalCallConformance, AFinishThatThrowsIsNotKnownPassedOnAndAskedForAgain) {
  in_finish = [](Tx&) { throw std::runtime_error{"a bug"}; };
  EXPECT_THROW((void)pay(), std::runtime_error);
  EXPECT_EQ(finished, 1) << "a bug is not run again and again";
  EXPECT_EQ(state_of_record(), State::in_progress);
  EXPECT_EQ(fixture.state("k1"), "PENDING");
  EXPECT_THAT(events(), IsEmpty());
  EXPECT_THAT(reasons, ElementsAre("exception"));
  in_finish = nullptr;
  expect_executed(pay(), State::completed, approved);
  expect_authorized();
}

CONFORMANCE_TEST(ExternalCallConformance, AFinishThatThrowsIsUnknownWhereTheDownstreamCannotDeduplicate) {
  downstream = cannot_deduplicate("acquirer");
  in_finish = [](Tx&) { throw std::runtime_error{"a bug"}; };
  EXPECT_THROW((void)pay(), std::runtime_error);
  EXPECT_EQ(state_of_record(), State::unknown);
  EXPECT_EQ(fixture.state("k1"), "UNKNOWN");
  EXPECT_EQ(expect<Unknown>(pay()).response, not_known);
  EXPECT_EQ(acquirer.calls(), 1U);
}

// ---- time

CONFORMANCE_TEST(ExternalCallConformance, ALeaseThatASlowReservationUsedUpIsRenewedBeforeTheCall) {
  CallOptions tight = options();
  tight.reserve.lease = 10s;
  tight.reserve.call_deadline = 10s - 20ms;
  in_prepare = [](Tx&) {
    const auto until = std::chrono::steady_clock::now() + 21ms;
    while (std::chrono::steady_clock::now() < until) {
    }
  };
  std::optional<Record> during;
  before_call = [&] { during = find(); };
  // Where the renewal is that slow too, nothing is sent, and the next one tries.
  Outcome outcome = pay(request(), tight);
  while (!fixture.clock_stands_still() && std::holds_alternative<InProgress>(outcome))
    outcome = pay(request(), tight);
  expect_executed(outcome, State::completed, approved);
  EXPECT_GE(during.value().lease_until, during->created_at + tight.reserve.lease);
  EXPECT_EQ(acquirer.calls(), 1U);
  EXPECT_EQ(prepared, 1);
}

CONFORMANCE_TEST(ExternalCallConformance, AKeyPerGenerationIsAnotherOneAfterTheRetention) {
  downstream.key_per_generation = true;
  expect_executed(pay(), State::completed, approved);
  fixture.advance(ReserveOptions{}.retention + 1min);
  expect_executed(pay(), State::completed, text_response(201, "ch_2"));
  EXPECT_EQ(acquirer.ledger().size(), 2U);
  EXPECT_NE(acquirer.ledger()[0].key, acquirer.ledger()[1].key);
}

CONFORMANCE_TEST(ExternalCallConformance, AKeyPerGenerationIsTheSameOverTakeovers) {
  downstream.key_per_generation = true;
  acquirer.then(FakeCharge::time_out_after);
  expect<InProgress>(pay());
  expect_executed(pay(), State::completed, approved);
  EXPECT_EQ(acquirer.ledger().size(), 1U);
  // The same name with keys of another kind is another downstream: it does not resume.
  acquirer.then(FakeCharge::time_out_after);
  expect<InProgress>(pay(request("k2")));
  downstream.key_per_generation = false;
  expect<Unknown>(pay(request("k2")));
  EXPECT_EQ(acquirer.ledger().size(), 2U);
}

CONFORMANCE_TEST(ExternalCallConformance, OptionsThatAreNotTheCallersAreRefusedBeforeAnythingIsSent) {
  CallOptions named = options();
  named.reserve.downstream = downstream;
  CallOptions resumable = options();
  resumable.reserve.resumable = true;
  CallOptions attempt = options();
  attempt.reserve.attempt = random_uuid_v4();
  CallOptions late = options();
  late.reserve.call_deadline = lease;
  CallOptions tiny = options();
  tiny.reserve.lease = 2ms;
  tiny.reserve.call_deadline = 0ms;
  for (const CallOptions& refused : {named, resumable, attempt, late, tiny}) {
    EXPECT_THROW((void)pay(request(), refused), InvalidArgument);
  }
  EXPECT_FALSE(find());
  EXPECT_EQ(acquirer.calls(), 0U);
}

CONFORMANCE_TEST(ExternalCallConformance, OfManyAtOnceOneCallsAndAllAgree) {
  constexpr std::size_t threads = 16;
  std::vector<Outcome> outcomes(threads, Mismatch{});
  alone = false;
  testing::race(threads, [&](std::size_t thread) {
    // The threads share the test's counters; only one of them gets so far as to count.
    outcomes[thread] = pay();
  });
  int executed = 0;
  for (const Outcome& outcome : outcomes) {
    if (std::holds_alternative<Executed>(outcome)) {
      ++executed;
    } else if (std::holds_alternative<Replay>(outcome)) {
      expect_replay(outcome, State::completed, approved);
    } else {
      EXPECT_TRUE(std::holds_alternative<InProgress>(outcome));
    }
  }
  EXPECT_EQ(executed, 1);
  EXPECT_EQ(acquirer.calls(), 1U);
  expect_authorized();
}

}  // namespace

void register_external_call(const std::string& prefix, const Conformance::MakeFixture& make) {
  testing::register_conformance_cases(prefix + "/ExternalCallConformance", CONFORMANCE_CASES, make);
}

}  // namespace idem::conformance
