// external_call on any backend. Instantiated by each backend's test with a fixture of:
//
//     using Tx = …;                              // what an operation gets
//     const Backend& backend() const;
//     Unit begin();                              // a unit of work as transact() takes it; safe between threads
//     std::size_t open_units();                  // how many units are alive
//     void put(Tx&, const std::string& id, const std::string& state);   // a business row: added, or its state replaced
//     std::optional<std::string> state(const std::string& id);          // what is committed
//     void conflict(Tx&);                        // throws what a serialization failure of this backend throws
//     void lose_commit(int which, bool applied); // the which-th commit from now (1: the next) throws as a lost
//                                                // connection does
//     std::vector<std::string> events();         // the types of the events in the outbox
//     void advance(std::chrono::milliseconds);   // as in store_conformance.hpp
//     static constexpr bool clock_stands_still;  // but for advance()
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "idem/call/external_call.hpp"
#include "idem/call/sweep.hpp"
#include "idem/event/outbox.hpp"
#include "idem/settlement/repair.hpp"
#include "idem/testing/fake_acquirer.hpp"
#include "idem/testing/race.hpp"

namespace idem::conformance {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::FakeAcquirer;
using testing::FakeCharge;
using ::testing::IsEmpty;

template <class Fixture>
class ExternalCallConformance : public ::testing::Test {
 protected:
  using Tx = typename Fixture::Tx;
  static constexpr auto lease = 1h;
  static constexpr auto window = 24h;

  static Request request(std::string key = "k1", char content = 'a') {
    const Fingerprint fingerprint = Fingerprinter{}({.method = "POST",
                                                     .operation = "/payments",
                                                     .query = {},
                                                     .content_type = "text/plain",
                                                     .body = {&content, 1}});
    return {{"alice", "POST /payments", std::move(key)}, fingerprint};
  }

  // A payment through the acquirer: PENDING, then AUTHORIZED or DECLINED with an event, or UNKNOWN without one.
  struct Payment {
    explicit Payment(ExternalCallConformance& of) : test{of} {}

    [[nodiscard]] Downstream downstream() const { return test.downstream; }
    void prepare(Tx& tx, const CallContext& context) {
      ++test.prepared;
      test.fixture.put(tx, context.lease.key.value, "PENDING");
      if (test.in_prepare) test.in_prepare(tx);
    }
    CallResult<FakeAcquirer::Answer> call(const CallContext& context) {
      if (test.alone) {
        EXPECT_EQ(test.fixture.open_units(), 0U) << "a unit of work is alive during the call";
      }
      EXPECT_GT(context.deadline, 0ms);
      if (test.before_call) std::exchange(test.before_call, nullptr)();
      auto result = test.acquirer.charge(context.downstream_key, "1290 EUR");
      if (test.after_call) std::exchange(test.after_call, nullptr)();
      return result;
    }
    Decision finish(Tx& tx, const CallContext& context, const FakeAcquirer::Answer& answer) {
      ++test.finished;
      const std::string& id = context.lease.key.value;
      test.fixture.put(tx, id, answer.approved ? "AUTHORIZED" : "DECLINED");
      Outbox{test.fixture.backend()}.append(
          tx, {"payment", id, answer.approved ? "PaymentAuthorized" : "PaymentDeclined", {}});
      if (test.in_finish) test.in_finish(tx);
      return answer.approved ? completed(text_response(201, answer.reference))
                             : failed(text_response(402, answer.reference));
    }
    [[nodiscard]] FakeAcquirer::Answer answer_of(const Repair& repair) const {
      return {repair.as == RepairAs::charged, repair.entry ? repair.entry->reference : ""};
    }
    Response unknown(Tx& tx, const CallContext& context) {
      ++test.told_unknown;
      test.fixture.put(tx, context.lease.key.value, "UNKNOWN");
      return text_response(202, "not known yet");
    }

    ExternalCallConformance& test;
  };

  // The same, for several threads at once: counts nothing.
  struct Quiet {
    [[nodiscard]] Downstream downstream() const { return test.downstream; }
    void prepare(Tx&, const CallContext&) {}
    CallResult<FakeAcquirer::Answer> call(const CallContext& context) {
      return test.acquirer.charge(context.downstream_key, "1290 EUR");
    }
    Decision finish(Tx& tx, const CallContext& context, const FakeAcquirer::Answer& answer) {
      const std::string& id = context.lease.key.value;
      test.fixture.put(tx, id, "AUTHORIZED");
      Outbox{test.fixture.backend()}.append(tx, {"payment", id, "PaymentAuthorized", {}});
      return completed(text_response(201, answer.reference));
    }
    Response unknown(Tx&, const CallContext&) { return test.not_known; }
    [[nodiscard]] FakeAcquirer::Answer answer_of(const Repair&) const { return {true, "ch_1"}; }

    ExternalCallConformance& test;
  };

  auto begin() {
    return [this] { return fixture.begin(); };
  }
  CallOptions options() {
    CallOptions options;
    options.reserve.lease = lease;
    options.reserve.call_deadline = 10min;
    options.retry.pause = [](std::chrono::milliseconds) {};
    options.on_unknown = [this](const UnknownCall& call) {
      reasons.push_back(call.exception ? "exception" : call.why);
    };
    return options;
  }
  Outcome pay(const Request& of = request()) { return pay(of, options()); }
  Outcome pay(const Request& of, const CallOptions& with) {
    Payment payment{*this};
    return external_call(fixture.backend(), begin(), of, payment, with);
  }
  std::optional<Record> find(const Request& of = request()) {
    auto unit = fixture.begin();
    return fixture.backend().store(detail::transaction_of(unit))->find(of.key);
  }
  State state_of_record() { return find().value().state; }

  static void expect_executed(const Outcome& outcome, State state, const Response& response) {
    const auto* executed = std::get_if<Executed>(&outcome);
    ASSERT_NE(executed, nullptr) << "outcome " << outcome.index();
    EXPECT_EQ(executed->state, state);
    EXPECT_EQ(executed->response, response);
  }
  static void expect_replay(const Outcome& outcome, State state, const Response& response) {
    const auto* replay = std::get_if<Replay>(&outcome);
    ASSERT_NE(replay, nullptr) << "outcome " << outcome.index();
    EXPECT_EQ(replay->state, state);
    EXPECT_EQ(replay->response, response);
  }
  template <class Expected>
  static const Expected& expect(const Outcome& outcome) {
    if (const auto* expected = std::get_if<Expected>(&outcome)) return *expected;
    throw std::runtime_error{"another outcome: " + std::to_string(outcome.index())};
  }
  // The payment is authorised once, everywhere.
  void expect_authorized() {
    EXPECT_EQ(acquirer.ledger().size(), 1U);
    EXPECT_EQ(fixture.state("k1"), "AUTHORIZED");
    EXPECT_THAT(fixture.events(), ElementsAre("PaymentAuthorized"));
    EXPECT_EQ(state_of_record(), State::completed);
    expect_replay(pay(), State::completed, approved);
    EXPECT_EQ(acquirer.ledger().size(), 1U);
  }

  SweepOptions sweep_options() {
    return {.operation = "POST /payments",
            .call = options(),
            .on_error = [this](const LapsedRecord& lapsed, const std::exception_ptr&) {
              failed_keys.push_back(lapsed.key.value);
            }};
  }
  auto sweep() {
    return Sweep{fixture.backend(), begin(),
                 [this](Tx&, const LapsedRecord& lapsed) {
                   recovered.push_back(lapsed.key.value);
                   if (lapsed.key.value == poison) throw std::runtime_error{"its row cannot be read"};
                   return Payment{*this};
                 },
                 sweep_options()};
  }
  // Charged, and nobody came back for the answer.
  void leave_in_the_gap(const Request& of) {
    acquirer.then(FakeCharge::time_out_after);
    (void)pay(of);
  }

  // What the settlement says of the record of `of`, which is UNKNOWN.
  Repair repair_of(const Request& of, RepairAs as) {
    const Record record = find(of).value();
    Repair repair{.repair_key = random_uuid_v4().to_string(),
                  .key = of.key,
                  .holder = record.holder,
                  .generation = record.generation,
                  .as = as,
                  .downstream_key = downstream_key(of.key, of.fingerprint),
                  .queued_by = "ann"};
    if (as != RepairAs::not_charged) {
      repair.entry = SettlementEntry{.downstream_key = repair.downstream_key,
                                     .amount = 1290,
                                     .reference = "ch_1",
                                     .at = record.created_at};
    }
    return repair;
  }
  // In a transaction of its own.
  Repaired apply(const Repair& repair) {
    auto unit = fixture.begin();
    const Repaired repaired = apply_repair(backend_of(), detail::transaction_of(unit), repair,
                                           [this](Tx&, const LapsedRecord&) { return Payment{*this}; });
    detail::commit(unit);
    return repaired;
  }
  const auto& backend_of() { return fixture.backend(); }
  // Charged, the answer lost, and never asked for again.
  void leave_unknown(const Request& of) {
    downstream = cannot_deduplicate("acquirer");
    acquirer.then(FakeCharge::time_out_after);
    (void)pay(of);
  }

  const Response approved = text_response(201, "ch_1");
  const Response declined = text_response(402, "ch_1");
  const Response not_known = text_response(202, "not known yet");

  Fixture fixture;
  Downstream downstream = deduplicates_for("acquirer", window);
  FakeAcquirer acquirer;
  std::function<void(Tx&)> in_prepare;
  std::function<void(Tx&)> in_finish;
  std::function<void()> before_call;
  std::function<void()> after_call;
  int prepared = 0;
  int finished = 0;
  int told_unknown = 0;
  std::vector<std::string> reasons;
  std::vector<std::string> recovered;
  std::vector<std::string> failed_keys;
  std::string poison;
  bool alone = true;  // no other thread has units of work
};

TYPED_TEST_SUITE_P(ExternalCallConformance);

TYPED_TEST_P(ExternalCallConformance, CallsOnceAndReplaysTheSameBytes) {
  this->expect_executed(this->pay(), State::completed, this->approved);
  this->expect_replay(this->pay(), State::completed, this->approved);
  EXPECT_EQ(this->acquirer.calls(), 1U);
  EXPECT_EQ(this->prepared, 1);
  EXPECT_EQ(this->finished, 1);
  EXPECT_EQ(this->acquirer.ledger()[0].key, downstream_key(this->request().key, this->request().fingerprint));
  this->expect_authorized();
}

TYPED_TEST_P(ExternalCallConformance, AStoredDeclineReplaysAsTheDecline) {
  this->acquirer.then(FakeCharge::decline);
  this->expect_executed(this->pay(), State::failed, this->declined);
  this->expect_replay(this->pay(), State::failed, this->declined);
  EXPECT_EQ(this->acquirer.calls(), 1U);
  EXPECT_EQ(this->fixture.state("k1"), "DECLINED");
  EXPECT_THAT(this->fixture.events(), ElementsAre("PaymentDeclined"));
}

TYPED_TEST_P(ExternalCallConformance, AnotherRequestUnderTheKeyIsMismatchAndCallsNobody) {
  (void)this->pay();
  this->template expect<Mismatch>(this->pay(this->request("k1", 'b')));
  EXPECT_EQ(this->acquirer.calls(), 1U);
}

TYPED_TEST_P(ExternalCallConformance, ADuplicateDuringTheCallIsInProgressAndCallsNobody) {
  this->before_call = [&] {
    this->template expect<InProgress>(this->pay());
    this->template expect<Mismatch>(this->pay(this->request("k1", 'b')));
    EXPECT_EQ(this->acquirer.calls(), 0U);
    EXPECT_EQ(this->fixture.state("k1"), "PENDING") << "what was prepared is committed before the call";
  };
  this->expect_executed(this->pay(), State::completed, this->approved);
  this->expect_authorized();
}

TYPED_TEST_P(ExternalCallConformance, APrepareThatThrowsLeavesNothingAndCallsNobody) {
  this->in_prepare = [](auto&) { throw std::runtime_error{"no"}; };
  EXPECT_THROW((void)this->pay(), std::runtime_error);
  EXPECT_FALSE(this->find());
  EXPECT_EQ(this->fixture.state("k1"), std::nullopt);
  EXPECT_EQ(this->acquirer.calls(), 0U);
}

// ---- a result that is not known

TYPED_TEST_P(ExternalCallConformance, ATimeOutIsAskedForAgainUnderTheSameKeyWhereTheDownstreamDeduplicates) {
  for (const FakeCharge lost :
       {FakeCharge::time_out_before, FakeCharge::time_out_after, FakeCharge::throw_after}) {
    SCOPED_TRACE(static_cast<int>(lost));
    const Request request = this->request("k" + std::to_string(static_cast<int>(lost)));
    const std::size_t before = this->acquirer.ledger().size();
    this->acquirer.then(lost);
    this->template expect<InProgress>(this->pay(request));
    EXPECT_EQ(this->find(request)->state, State::in_progress);
    EXPECT_EQ(this->fixture.state(request.key.value), "PENDING");
    const Outcome again = this->pay(request);
    EXPECT_EQ(this->template expect<Executed>(again).state, State::completed);
    EXPECT_EQ(this->acquirer.ledger().size(), before + 1) << "charged twice, or not at all";
    EXPECT_EQ(this->fixture.state(request.key.value), "AUTHORIZED");
  }
  EXPECT_EQ(this->told_unknown, 0);
  EXPECT_THAT(this->reasons, ElementsAre("timed out", "timed out", "exception"));
  EXPECT_EQ(this->fixture.events().size(), 3U);
}

TYPED_TEST_P(ExternalCallConformance, ATimeOutIsUnknownAndNeverCalledAgainWhereItCannotDeduplicate) {
  this->downstream = cannot_deduplicate("acquirer");
  for (const FakeCharge lost :
       {FakeCharge::time_out_before, FakeCharge::time_out_after, FakeCharge::throw_after}) {
    SCOPED_TRACE(static_cast<int>(lost));
    const Request request = this->request("k" + std::to_string(static_cast<int>(lost)));
    const std::size_t before = this->acquirer.calls();
    this->acquirer.then(lost);
    EXPECT_EQ(this->template expect<Unknown>(this->pay(request)).response, this->not_known);
    EXPECT_EQ(this->find(request)->state, State::unknown);
    EXPECT_EQ(this->fixture.state(request.key.value), "UNKNOWN");
    this->fixture.advance(this->lease + 1min);
    EXPECT_EQ(this->template expect<Unknown>(this->pay(request)).response, this->not_known);
    EXPECT_EQ(this->acquirer.calls(), before + 1);
  }
  EXPECT_EQ(this->told_unknown, 3);
  EXPECT_THAT(this->fixture.events(), IsEmpty());
}

// ---- a worker that died

TYPED_TEST_P(ExternalCallConformance, AfterTheLeaseTheNextOneResumesUnderTheSameDownstreamKey) {
  {
    // Died after the approval: the first commit is there, the second never came.
    auto unit = this->fixture.begin();
    auto& tx = detail::transaction_of(unit);
    auto store = this->fixture.backend().store(tx);
    const ReserveOptions reserve = detail::call_reservation(this->options(), this->downstream);
    const Request request = this->request();
    ASSERT_TRUE(std::holds_alternative<Acquired>(store->reserve(request.key, request.fingerprint, reserve)));
    this->fixture.put(tx, "k1", "PENDING");
    detail::commit(unit);
  }
  (void)this->acquirer.charge(downstream_key(this->request().key, this->request().fingerprint), "1290 EUR");
  this->template expect<InProgress>(this->pay());
  this->fixture.advance(this->lease + 1min);
  this->expect_executed(this->pay(), State::completed, this->approved);
  EXPECT_EQ(this->prepared, 0);
  this->expect_authorized();
}

TYPED_TEST_P(ExternalCallConformance, AfterTheWindowTheNextOneTurnsItUnknownAndRunsUnknown) {
  this->acquirer.then(FakeCharge::time_out_after);
  this->template expect<InProgress>(this->pay());
  this->fixture.advance(this->window);
  EXPECT_EQ(this->template expect<Unknown>(this->pay()).response, this->not_known);
  EXPECT_EQ(this->told_unknown, 1);
  EXPECT_EQ(this->fixture.state("k1"), "UNKNOWN");
  EXPECT_EQ(this->state_of_record(), State::unknown);
  EXPECT_EQ(this->template expect<Unknown>(this->pay()).response, this->not_known);
  EXPECT_EQ(this->told_unknown, 1);
  EXPECT_EQ(this->acquirer.calls(), 1U);
}

TYPED_TEST_P(ExternalCallConformance, WithTheMarkOfSendingALapsedRecordIsUnknownWithoutItItIsResumed) {
  this->downstream = cannot_deduplicate("acquirer");
  const ReserveOptions reserve = detail::call_reservation(this->options(), this->downstream);
  for (const bool marked : {false, true}) {
    SCOPED_TRACE(marked);
    const Request request = this->request(marked ? "marked" : "not marked");
    {
      auto unit = this->fixture.begin();
      auto& tx = detail::transaction_of(unit);
      auto store = this->fixture.backend().store(tx);
      const Reservation reservation = store->reserve(request.key, request.fingerprint, reserve);
      if (marked) store->mark_sent(std::get<Acquired>(reservation).lease);
      this->fixture.put(tx, request.key.value, "PENDING");
      detail::commit(unit);
    }
    this->fixture.advance(this->lease + 1min);
    const Outcome outcome = this->pay(request);
    if (marked) {
      EXPECT_EQ(this->template expect<Unknown>(outcome).response, this->not_known);
      EXPECT_EQ(this->fixture.state(request.key.value), "UNKNOWN");
    } else {
      this->expect_executed(outcome, State::completed, this->approved);
    }
  }
  EXPECT_EQ(this->acquirer.calls(), 1U);
}

TYPED_TEST_P(ExternalCallConformance, TheMarkOfSendingIsCommittedBeforeTheCall) {
  this->downstream = cannot_deduplicate("acquirer");
  this->before_call = [&] { EXPECT_TRUE(this->find()->sent_at.has_value()); };
  this->expect_executed(this->pay(), State::completed, this->approved);
  EXPECT_EQ(this->before_call, nullptr);
}

// ---- a slow worker

TYPED_TEST_P(ExternalCallConformance, ALateApprovalSettlesItsOwnUnknown) {
  this->downstream = cannot_deduplicate("acquirer");
  this->after_call = [&] {
    this->fixture.advance(this->lease + 1min);
    EXPECT_EQ(this->template expect<Unknown>(this->pay()).response, this->not_known);
    EXPECT_EQ(this->fixture.state("k1"), "UNKNOWN");
  };
  this->expect_executed(this->pay(), State::completed, this->approved);
  EXPECT_EQ(this->told_unknown, 1);
  this->expect_authorized();
}

TYPED_TEST_P(ExternalCallConformance, ALateTimeOutOfARecordThatIsUnknownIsUnknownWithTheStoredAnswer) {
  this->downstream = cannot_deduplicate("acquirer");
  this->acquirer.then(FakeCharge::time_out_after);
  this->after_call = [&] {
    this->fixture.advance(this->lease + 1min);
    (void)this->pay();
  };
  EXPECT_EQ(this->template expect<Unknown>(this->pay()).response, this->not_known);
  EXPECT_EQ(this->state_of_record(), State::unknown);
}

TYPED_TEST_P(ExternalCallConformance, ALateApprovalAfterATakeoverGivesTheAnswerThatIsStored) {
  this->after_call = [&] {
    this->fixture.advance(this->lease + 1min);
    this->expect_executed(this->pay(), State::completed, this->approved);
  };
  this->expect_replay(this->pay(), State::completed, this->approved);
  EXPECT_EQ(this->finished, 1) << "what was taken over is not finished a second time";
  EXPECT_EQ(this->acquirer.calls(), 2U);
  this->expect_authorized();
}

TYPED_TEST_P(ExternalCallConformance, ALateApprovalWhileTheNextOneIsAtItIsInProgress) {
  this->after_call = [&] {
    this->fixture.advance(this->lease + 1min);
    auto unit = this->fixture.begin();
    auto store = this->fixture.backend().store(detail::transaction_of(unit));
    const Request request = this->request();
    ASSERT_TRUE(std::holds_alternative<Acquired>(store->reserve(
        request.key, request.fingerprint, detail::call_reservation(this->options(), this->downstream))));
    detail::commit(unit);
  };
  this->template expect<InProgress>(this->pay());
  EXPECT_EQ(this->fixture.state("k1"), "PENDING");
  EXPECT_THAT(this->fixture.events(), IsEmpty());
}

// ---- transactions that fail

TYPED_TEST_P(ExternalCallConformance, ConflictsRunTheTransactionAgainAndNeverTheCall) {
  int conflicts = 0;
  const auto twice = [&](auto& tx) {
    if (++conflicts <= 2) this->fixture.conflict(tx);
  };
  this->in_prepare = twice;
  this->expect_executed(this->pay(this->request("k0")), State::completed, this->approved);
  this->in_prepare = nullptr;
  conflicts = 0;
  this->in_finish = twice;
  this->expect_executed(this->pay(), State::completed, text_response(201, "ch_2"));
  EXPECT_EQ(this->acquirer.calls(), 2U);
  EXPECT_EQ(this->fixture.events().size(), 2U);
}

TYPED_TEST_P(ExternalCallConformance, ALostCommitOfTheReservationIsSettledAndTheCallMadeOnce) {
  for (const bool applied : {true, false}) {
    SCOPED_TRACE(applied);
    const std::string id = applied ? "applied" : "not applied";
    this->fixture.lose_commit(1, applied);
    EXPECT_EQ(this->template expect<Executed>(this->pay(this->request(id))).state, State::completed);
    EXPECT_EQ(this->fixture.state(id), "AUTHORIZED");
  }
  EXPECT_EQ(this->acquirer.calls(), 2U);
  EXPECT_EQ(this->prepared, 3);
  EXPECT_EQ(this->fixture.events().size(), 2U);
}

TYPED_TEST_P(ExternalCallConformance, ALostCommitOfTheAnswerIsSettledWithOneEffect) {
  for (const bool applied : {true, false}) {
    SCOPED_TRACE(applied);
    const std::string id = applied ? "applied" : "not applied";
    this->fixture.lose_commit(2, applied);
    const Outcome outcome = this->pay(this->request(id));
    if (applied) {
      EXPECT_EQ(this->template expect<Replay>(outcome).state, State::completed);
    } else {
      EXPECT_EQ(this->template expect<Executed>(outcome).state, State::completed);
    }
    EXPECT_EQ(this->fixture.state(id), "AUTHORIZED");
  }
  EXPECT_EQ(this->acquirer.calls(), 2U);
  EXPECT_EQ(this->fixture.events().size(), 2U);
}

TYPED_TEST_P(ExternalCallConformance, ALostCommitOfTheMarkOfSendingIsSettledAndTheCallMadeOnce) {
  this->downstream = cannot_deduplicate("acquirer");
  for (const bool applied : {true, false}) {
    SCOPED_TRACE(applied);
    this->fixture.lose_commit(2, applied);
    EXPECT_EQ(this->template expect<Executed>(this->pay(this->request(applied ? "a" : "n"))).state,
              State::completed);
  }
  EXPECT_EQ(this->acquirer.calls(), 2U);
}

TYPED_TEST_P(ExternalCallConformance, ALostCommitOfTheUnknownIsSettled) {
  this->downstream = cannot_deduplicate("acquirer");
  for (const bool applied : {true, false}) {
    SCOPED_TRACE(applied);
    this->acquirer.then(FakeCharge::time_out_after);
    this->fixture.lose_commit(3, applied);
    const Request request = this->request(applied ? "applied" : "not applied");
    EXPECT_EQ(this->template expect<Unknown>(this->pay(request)).response, this->not_known);
    EXPECT_EQ(this->find(request)->state, State::unknown);
    EXPECT_EQ(this->fixture.state(request.key.value), "UNKNOWN");
  }
}

TYPED_TEST_P(ExternalCallConformance, AReservationThatCannotBeSettledIsCommitUnknownAndCallsNobody) {
  CallOptions once = this->options();
  once.retry.max_tries = 1;
  this->fixture.lose_commit(1, true);
  EXPECT_THROW((void)this->pay(this->request(), once), CommitUnknown);
  EXPECT_EQ(this->acquirer.calls(), 0U);
  this->fixture.advance(this->lease + 1min);
  this->expect_executed(this->pay(), State::completed, this->approved);
  this->expect_authorized();
}

TYPED_TEST_P(ExternalCallConformance,
             AnAnswerWhoseCommitCannotBeSettledIsCommitUnknownAndKeptOrAskedForAgain) {
  for (const bool applied : {true, false}) {
    SCOPED_TRACE(applied);
    const Request request = this->request(applied ? "applied" : "not applied");
    CallOptions once = this->options();
    once.retry.max_tries = 1;
    once.settle_tries = 1;
    this->fixture.lose_commit(2, applied);
    EXPECT_THROW((void)this->pay(request, once), CommitUnknown);
    const Outcome again = this->pay(request);
    EXPECT_EQ(again.index(), applied ? 1U : 0U);
    EXPECT_EQ(this->fixture.state(request.key.value), "AUTHORIZED");
  }
  EXPECT_EQ(this->acquirer.ledger().size(), 2U);
  EXPECT_EQ(this->fixture.events().size(), 2U);
}

TYPED_TEST_P(ExternalCallConformance, AFinishThatThrowsIsNotKnownPassedOnAndAskedForAgain) {
  this->in_finish = [](auto&) { throw std::runtime_error{"a bug"}; };
  EXPECT_THROW((void)this->pay(), std::runtime_error);
  EXPECT_EQ(this->finished, 1) << "a bug is not run again and again";
  EXPECT_EQ(this->state_of_record(), State::in_progress);
  EXPECT_EQ(this->fixture.state("k1"), "PENDING");
  EXPECT_THAT(this->fixture.events(), IsEmpty());
  EXPECT_THAT(this->reasons, ElementsAre("exception"));
  this->in_finish = nullptr;
  this->expect_executed(this->pay(), State::completed, this->approved);
  this->expect_authorized();
}

TYPED_TEST_P(ExternalCallConformance, AFinishThatThrowsIsUnknownWhereTheDownstreamCannotDeduplicate) {
  this->downstream = cannot_deduplicate("acquirer");
  this->in_finish = [](auto&) { throw std::runtime_error{"a bug"}; };
  EXPECT_THROW((void)this->pay(), std::runtime_error);
  EXPECT_EQ(this->state_of_record(), State::unknown);
  EXPECT_EQ(this->fixture.state("k1"), "UNKNOWN");
  EXPECT_EQ(this->template expect<Unknown>(this->pay()).response, this->not_known);
  EXPECT_EQ(this->acquirer.calls(), 1U);
}

// ---- time

TYPED_TEST_P(ExternalCallConformance, ALeaseThatASlowReservationUsedUpIsRenewedBeforeTheCall) {
  CallOptions tight = this->options();
  tight.reserve.lease = 10s;
  tight.reserve.call_deadline = 10s - 20ms;
  this->in_prepare = [](auto&) {
    const auto until = std::chrono::steady_clock::now() + 21ms;
    while (std::chrono::steady_clock::now() < until) {
    }
  };
  std::optional<Record> during;
  this->before_call = [&] { during = this->find(); };
  // Where the renewal is that slow too, nothing is sent, and the next one tries.
  Outcome outcome = this->pay(this->request(), tight);
  while (!TypeParam::clock_stands_still && std::holds_alternative<InProgress>(outcome))
    outcome = this->pay(this->request(), tight);
  this->expect_executed(outcome, State::completed, this->approved);
  EXPECT_GE(during.value().lease_until, during->created_at + tight.reserve.lease);
  EXPECT_EQ(this->acquirer.calls(), 1U);
  EXPECT_EQ(this->prepared, 1);
}

TYPED_TEST_P(ExternalCallConformance, AKeyPerGenerationIsAnotherOneAfterTheRetention) {
  this->downstream.key_per_generation = true;
  this->expect_executed(this->pay(), State::completed, this->approved);
  this->fixture.advance(ReserveOptions{}.retention + 1min);
  this->expect_executed(this->pay(), State::completed, text_response(201, "ch_2"));
  EXPECT_EQ(this->acquirer.ledger().size(), 2U);
  EXPECT_NE(this->acquirer.ledger()[0].key, this->acquirer.ledger()[1].key);
}

TYPED_TEST_P(ExternalCallConformance, AKeyPerGenerationIsTheSameOverTakeovers) {
  this->downstream.key_per_generation = true;
  this->acquirer.then(FakeCharge::time_out_after);
  this->template expect<InProgress>(this->pay());
  this->expect_executed(this->pay(), State::completed, this->approved);
  EXPECT_EQ(this->acquirer.ledger().size(), 1U);
  // The same name with keys of another kind is another downstream: it does not resume.
  this->acquirer.then(FakeCharge::time_out_after);
  this->template expect<InProgress>(this->pay(this->request("k2")));
  this->downstream.key_per_generation = false;
  this->template expect<Unknown>(this->pay(this->request("k2")));
  EXPECT_EQ(this->acquirer.ledger().size(), 2U);
}

TYPED_TEST_P(ExternalCallConformance, OptionsThatAreNotTheCallersAreRefusedBeforeAnythingIsSent) {
  CallOptions named = this->options();
  named.reserve.downstream = this->downstream;
  CallOptions resumable = this->options();
  resumable.reserve.resumable = true;
  CallOptions attempt = this->options();
  attempt.reserve.attempt = random_uuid_v4();
  CallOptions late = this->options();
  late.reserve.call_deadline = this->lease;
  CallOptions tiny = this->options();
  tiny.reserve.lease = 2ms;
  tiny.reserve.call_deadline = 0ms;
  for (const CallOptions& refused : {named, resumable, attempt, late, tiny}) {
    EXPECT_THROW((void)this->pay(this->request(), refused), InvalidArgument);
  }
  EXPECT_FALSE(this->find());
  EXPECT_EQ(this->acquirer.calls(), 0U);
}

TYPED_TEST_P(ExternalCallConformance, OfManyAtOnceOneCallsAndAllAgree) {
  constexpr std::size_t threads = 16;
  std::vector<Outcome> outcomes(threads, Mismatch{});
  this->alone = false;
  testing::race(threads, [&](std::size_t thread) {
    // The threads share the test's counters; only one of them gets so far as to count.
    outcomes[thread] = this->pay();
  });
  int executed = 0;
  for (const Outcome& outcome : outcomes) {
    if (std::holds_alternative<Executed>(outcome)) {
      ++executed;
    } else if (std::holds_alternative<Replay>(outcome)) {
      this->expect_replay(outcome, State::completed, this->approved);
    } else {
      EXPECT_TRUE(std::holds_alternative<InProgress>(outcome));
    }
  }
  EXPECT_EQ(executed, 1);
  EXPECT_EQ(this->acquirer.calls(), 1U);
  this->expect_authorized();
}

// ---- the recovery sweep

TYPED_TEST_P(ExternalCallConformance, ASweepSettlesWhatNobodyRetries) {
  for (const char* key : {"a", "b", "c"}) this->leave_in_the_gap(this->request(key));
  const SweepPass passed = this->sweep().pass();
  EXPECT_EQ(passed.lapsed, 3U);
  EXPECT_EQ(passed.settled, 3U);
  EXPECT_TRUE(passed.oldest_age.has_value());
  EXPECT_EQ(this->acquirer.ledger().size(), 3U);
  for (const char* key : {"a", "b", "c"}) EXPECT_EQ(this->fixture.state(key), "AUTHORIZED");
  EXPECT_EQ(this->fixture.events().size(), 3U);
  EXPECT_EQ(this->prepared, 3);
  const SweepPass nothing = this->sweep().pass();
  EXPECT_EQ(nothing.lapsed, 0U);
  EXPECT_EQ(nothing.oldest_age, std::nullopt);
}

TYPED_TEST_P(ExternalCallConformance, ASweepLeavesLiveLeasesOtherOperationsAndSettledRecordsAlone) {
  (void)this->pay(this->request("settled"));
  Request other = this->request("other");
  other.key.operation = "POST /refunds";
  this->leave_in_the_gap(other);
  this->before_call = [&] {
    const SweepPass passed = this->sweep().pass();
    EXPECT_EQ(passed.lapsed, 0U);
    EXPECT_TRUE(passed.oldest_age.has_value()) << "of the record in progress";
  };
  (void)this->pay();
  EXPECT_THAT(this->recovered, IsEmpty());
}

TYPED_TEST_P(ExternalCallConformance, ASweepTurnsUnknownWhatMustNotBeCalledAgain) {
  this->downstream = cannot_deduplicate("acquirer");
  const ReserveOptions reserve = detail::call_reservation(this->options(), this->downstream);
  const Request request = this->request();
  {
    auto unit = this->fixture.begin();
    auto& tx = detail::transaction_of(unit);
    auto store = this->fixture.backend().store(tx);
    const Reservation reservation = store->reserve(request.key, request.fingerprint, reserve);
    store->mark_sent(std::get<Acquired>(reservation).lease);
    this->fixture.put(tx, "k1", "PENDING");
    detail::commit(unit);
  }
  this->fixture.advance(this->lease + 1min);
  const SweepPass passed = this->sweep().pass();
  EXPECT_EQ(passed.unknown, 1U);
  EXPECT_EQ(this->fixture.state("k1"), "UNKNOWN");
  EXPECT_EQ(this->state_of_record(), State::unknown);
  EXPECT_EQ(this->acquirer.calls(), 0U);
  EXPECT_EQ(this->sweep().pass().lapsed, 0U) << "UNKNOWN is reconciliation's";
}

TYPED_TEST_P(ExternalCallConformance, ARecordThatFailsHoldsUpNoOther) {
  for (const char* key : {"a", "b", "c"}) this->leave_in_the_gap(this->request(key));
  this->poison = "b";
  const SweepPass passed = this->sweep().pass();
  EXPECT_EQ(passed.lapsed, 3U);
  EXPECT_EQ(passed.settled, 2U);
  EXPECT_EQ(passed.failed, 1U);
  EXPECT_THAT(this->failed_keys, ElementsAre("b"));
  EXPECT_EQ(this->find(this->request("b"))->state, State::in_progress);
  this->poison.clear();
  EXPECT_EQ(this->sweep().pass().settled, 1U);
}

TYPED_TEST_P(ExternalCallConformance, ADownstreamThatStaysSilentLeavesTheRecordForTheNextPass) {
  this->leave_in_the_gap(this->request("a"));
  this->downstream = deduplicates_for("acquirer", this->window);
  this->before_call = [] { throw std::runtime_error{"no connection"}; };
  const SweepPass passed = this->sweep().pass();
  EXPECT_EQ(passed.passed_over, 1U);
  EXPECT_EQ(this->sweep().pass().settled, 1U);
}

TYPED_TEST_P(ExternalCallConformance, ASweepGoesOverMorePagesThanOne) {
  constexpr std::size_t records = 230;
  for (std::size_t i = 0; i < records; ++i) this->leave_in_the_gap(this->request("k" + std::to_string(i)));
  const SweepPass passed = this->sweep().pass();
  EXPECT_EQ(passed.lapsed, records);
  EXPECT_EQ(passed.settled, records);
  EXPECT_EQ(this->acquirer.ledger().size(), records);
}

TYPED_TEST_P(ExternalCallConformance, ARunningSweepPassesUntilItIsStopped) {
  this->leave_in_the_gap(this->request("a"));
  std::stop_source stop;
  SweepOptions options = this->sweep_options();
  options.interval = 1ms;
  int passes = 0;
  std::size_t settled = 0;
  options.on_pass = [&](const SweepPass& passed) {
    settled += passed.settled;
    // A record that lapses between two passes is found by the next one, which looks at a part of the table only.
    if (++passes == 2) this->leave_in_the_gap(this->request("b"));
    if (passes == 3) stop.request_stop();
  };
  Sweep sweep{this->fixture.backend(), this->begin(),
              [&](typename TypeParam::Tx&, const LapsedRecord&) {
                return typename ExternalCallConformance<TypeParam>::Payment{*this};
              },
              options};
  sweep.run(stop.get_token());
  EXPECT_EQ(passes, 3);
  EXPECT_EQ(settled, 2U);
}

TYPED_TEST_P(ExternalCallConformance, SweepsSideBySideSettleEachRecordOnce) {
  constexpr std::size_t records = 20;
  for (std::size_t i = 0; i < records; ++i) this->leave_in_the_gap(this->request("k" + std::to_string(i)));
  std::atomic<std::size_t> settled{0};
  testing::race(4, [&](std::size_t) {
    Sweep sweep{this->fixture.backend(), this->begin(),
                [&](typename TypeParam::Tx&, const LapsedRecord&) {
                  return typename ExternalCallConformance<TypeParam>::Quiet{*this};
                },
                this->sweep_options()};
    settled += sweep.pass().settled;
  });
  EXPECT_GE(settled, records);
  EXPECT_EQ(this->acquirer.ledger().size(), records);
  EXPECT_EQ(this->fixture.events().size(), records);
}

TYPED_TEST_P(ExternalCallConformance, SweepOptionsBeyondALimitAreRefused) {
  const auto refused = [&](const auto& change) {
    SweepOptions options = this->sweep_options();
    change(options);
    EXPECT_THROW(validate(options), InvalidArgument);
  };
  refused([](SweepOptions& options) { options.operation.clear(); });
  refused([](SweepOptions& options) { options.interval = 0ms; });
  refused([](SweepOptions& options) { options.full_interval = -1ms; });
}

// ---- repairs

TYPED_TEST_P(ExternalCallConformance, ARepairSettlesTheUnknownThroughFinishOnce) {
  this->leave_unknown(this->request());
  const Repair repair = this->repair_of(this->request(), RepairAs::charged);
  EXPECT_EQ(this->apply(repair), Repaired::applied);
  const Record record = this->find().value();
  EXPECT_EQ(record.state, State::completed);
  EXPECT_EQ(record.resolved_by, "ann");
  EXPECT_EQ(this->fixture.state("k1"), "AUTHORIZED");
  EXPECT_THAT(this->fixture.events(), ElementsAre("PaymentAuthorized"));
  EXPECT_EQ(this->apply(repair), Repaired::done_before);
  EXPECT_EQ(this->finished, 1);
  this->expect_authorized();
}

TYPED_TEST_P(ExternalCallConformance, ARepairOfWhatTheDownstreamDeclinedIsTheDecline) {
  this->leave_unknown(this->request());
  this->fixture.advance(2 * this->lease);
  EXPECT_EQ(this->apply(this->repair_of(this->request(), RepairAs::declined)), Repaired::applied);
  EXPECT_EQ(this->fixture.state("k1"), "DECLINED");
  this->expect_replay(this->pay(), State::failed, this->declined);
  EXPECT_THAT(this->fixture.events(), ElementsAre("PaymentDeclined"));
}

TYPED_TEST_P(ExternalCallConformance, ARepairAsNotChargedWaitsUntilNothingCanArrive) {
  this->downstream = cannot_deduplicate("acquirer");
  this->acquirer.then(FakeCharge::time_out_before);
  (void)this->pay();
  const Repair repair = this->repair_of(this->request(), RepairAs::not_charged);
  EXPECT_THROW((void)this->apply(repair), TooEarly);
  EXPECT_EQ(this->state_of_record(), State::unknown);
  EXPECT_EQ(this->fixture.state("k1"), "UNKNOWN");
  EXPECT_THAT(this->fixture.events(), IsEmpty());
  this->fixture.advance(2 * this->lease);
  EXPECT_EQ(this->apply(repair), Repaired::applied);
  EXPECT_EQ(this->fixture.state("k1"), "DECLINED");
  EXPECT_EQ(this->state_of_record(), State::failed);
}

TYPED_TEST_P(ExternalCallConformance, ARepairOfWhatSomebodySettledMeanwhileChangesNothing) {
  this->leave_unknown(this->request());
  Repair repair = this->repair_of(this->request(), RepairAs::charged);
  EXPECT_EQ(this->apply(repair), Repaired::applied);
  // Another repair of the same record, as of another file.
  repair.repair_key = random_uuid_v4().to_string();
  EXPECT_EQ(this->apply(repair), Repaired::settled_already);
  EXPECT_EQ(this->apply(repair), Repaired::done_before);
  EXPECT_EQ(this->finished, 1);
  EXPECT_EQ(this->fixture.events().size(), 1U);
}

TYPED_TEST_P(ExternalCallConformance, ARepairWhoseFinishDecidesOtherwiseIsRefusedWithNothingChanged) {
  this->leave_unknown(this->request());
  Repair repair = this->repair_of(this->request(), RepairAs::charged);
  using Base = typename ExternalCallConformance<TypeParam>::Payment;
  struct Wrong : Base {
    using Base::Base;
    [[nodiscard]] static FakeAcquirer::Answer answer_of(const Repair&) { return {false, "ch_1"}; }
  };
  const auto apply_wrong = [&] {
    auto unit = this->fixture.begin();
    return apply_repair(this->backend_of(), detail::transaction_of(unit), repair,
                        [this](auto&, const LapsedRecord&) { return Wrong{*this}; });
  };
  EXPECT_THROW((void)apply_wrong(), InvalidArgument);
  // A charge whose time is not told is nobody's.
  repair.entry->at.reset();
  EXPECT_THROW((void)this->apply(repair), InvalidArgument);
  EXPECT_EQ(this->state_of_record(), State::unknown);
  EXPECT_EQ(this->fixture.state("k1"), "UNKNOWN");
  EXPECT_THAT(this->fixture.events(), IsEmpty());
}

TYPED_TEST_P(ExternalCallConformance, ARepairWithoutAnOperationIsLeft) {
  this->leave_unknown(this->request());
  const Repair repair = this->repair_of(this->request(), RepairAs::charged);
  {
    auto unit = this->fixture.begin();
    EXPECT_EQ(apply_repair(this->backend_of(), detail::transaction_of(unit), repair,
                           [](auto&, const LapsedRecord&)
                               -> std::optional<typename ExternalCallConformance<TypeParam>::Payment> {
                             return std::nullopt;
                           }),
              Repaired::passed_over);
    detail::commit(unit);
  }
  EXPECT_EQ(this->apply(repair), Repaired::applied);
}

TYPED_TEST_P(ExternalCallConformance, OfManyRepairsAtOnceOneIsApplied) {
  this->leave_unknown(this->request());
  const Repair repair = this->repair_of(this->request(), RepairAs::charged);
  std::atomic<int> applied{0};
  testing::race(8, [&](std::size_t) {
    for (;;) {
      try {
        auto unit = this->fixture.begin();
        const Repaired repaired = apply_repair(
            this->backend_of(), detail::transaction_of(unit), repair, [this](auto&, const LapsedRecord&) {
              return typename ExternalCallConformance<TypeParam>::Quiet{*this};
            });
        detail::commit(unit);
        if (repaired == Repaired::applied) ++applied;
        return;
      } catch (...) {
        if (this->backend_of().failure_of(std::current_exception()) != Failure::transient) throw;
      }
    }
  });
  EXPECT_EQ(applied, 1);
  EXPECT_EQ(this->fixture.events().size(), 1U);
  EXPECT_EQ(this->state_of_record(), State::completed);
}

REGISTER_TYPED_TEST_SUITE_P(
    ExternalCallConformance, ARepairSettlesTheUnknownThroughFinishOnce,
    ARepairOfWhatTheDownstreamDeclinedIsTheDecline, ARepairAsNotChargedWaitsUntilNothingCanArrive,
    ARepairOfWhatSomebodySettledMeanwhileChangesNothing,
    ARepairWhoseFinishDecidesOtherwiseIsRefusedWithNothingChanged, ARepairWithoutAnOperationIsLeft,
    OfManyRepairsAtOnceOneIsApplied, ASweepSettlesWhatNobodyRetries,
    ASweepLeavesLiveLeasesOtherOperationsAndSettledRecordsAlone, ASweepTurnsUnknownWhatMustNotBeCalledAgain,
    ARecordThatFailsHoldsUpNoOther, ADownstreamThatStaysSilentLeavesTheRecordForTheNextPass,
    ASweepGoesOverMorePagesThanOne, ARunningSweepPassesUntilItIsStopped, SweepsSideBySideSettleEachRecordOnce,
    SweepOptionsBeyondALimitAreRefused, CallsOnceAndReplaysTheSameBytes, AStoredDeclineReplaysAsTheDecline,
    AnotherRequestUnderTheKeyIsMismatchAndCallsNobody, ADuplicateDuringTheCallIsInProgressAndCallsNobody,
    APrepareThatThrowsLeavesNothingAndCallsNobody,
    ATimeOutIsAskedForAgainUnderTheSameKeyWhereTheDownstreamDeduplicates,
    ATimeOutIsUnknownAndNeverCalledAgainWhereItCannotDeduplicate,
    AfterTheLeaseTheNextOneResumesUnderTheSameDownstreamKey,
    AfterTheWindowTheNextOneTurnsItUnknownAndRunsUnknown,
    WithTheMarkOfSendingALapsedRecordIsUnknownWithoutItItIsResumed, TheMarkOfSendingIsCommittedBeforeTheCall,
    ALateApprovalSettlesItsOwnUnknown, ALateTimeOutOfARecordThatIsUnknownIsUnknownWithTheStoredAnswer,
    ALateApprovalAfterATakeoverGivesTheAnswerThatIsStored, ALateApprovalWhileTheNextOneIsAtItIsInProgress,
    ConflictsRunTheTransactionAgainAndNeverTheCall, ALostCommitOfTheReservationIsSettledAndTheCallMadeOnce,
    ALostCommitOfTheAnswerIsSettledWithOneEffect, ALostCommitOfTheMarkOfSendingIsSettledAndTheCallMadeOnce,
    ALostCommitOfTheUnknownIsSettled, AReservationThatCannotBeSettledIsCommitUnknownAndCallsNobody,
    AnAnswerWhoseCommitCannotBeSettledIsCommitUnknownAndKeptOrAskedForAgain,
    AFinishThatThrowsIsNotKnownPassedOnAndAskedForAgain,
    AFinishThatThrowsIsUnknownWhereTheDownstreamCannotDeduplicate,
    ALeaseThatASlowReservationUsedUpIsRenewedBeforeTheCall, AKeyPerGenerationIsAnotherOneAfterTheRetention,
    AKeyPerGenerationIsTheSameOverTakeovers, OptionsThatAreNotTheCallersAreRefusedBeforeAnythingIsSent,
    OfManyAtOnceOneCallsAndAllAgree);

}  // namespace idem::conformance
