#include "conformance/external_call_suite.hpp"

#include <gmock/gmock.h>

#include <exception>
#include <utility>

#include "idem/event/outbox.hpp"

namespace idem::conformance {

using namespace std::chrono_literals;

void ExternalCallConformance::Payment::prepare(Tx& tx, const CallContext& context) {
  ++test.prepared;
  test.fixture.put(tx, context.lease.key.value, "PENDING");
  if (test.in_prepare) test.in_prepare(tx);
}

CallResult<FakeAcquirer::Answer> ExternalCallConformance::Payment::call(const CallContext& context) {
  if (test.alone) {
    EXPECT_EQ(test.fixture.open_units(), 0U) << "a unit of work is alive during the call";
  }
  EXPECT_GT(context.deadline, 0ms);
  if (test.before_call) std::exchange(test.before_call, nullptr)();
  auto result = test.acquirer.charge(context.downstream_key, "1290 EUR");
  if (test.after_call) std::exchange(test.after_call, nullptr)();
  return result;
}

Decision ExternalCallConformance::Payment::finish(Tx& tx, const CallContext& context,
                                                  const FakeAcquirer::Answer& answer) {
  ++test.finished;
  const std::string& id = context.lease.key.value;
  test.fixture.put(tx, id, answer.approved ? "AUTHORIZED" : "DECLINED");
  Outbox{test.backend()}.append(
      tx, {"payment", id, answer.approved ? "PaymentAuthorized" : "PaymentDeclined", {}});
  if (test.in_finish) test.in_finish(tx);
  return answer.approved ? completed(text_response(201, answer.reference))
                         : failed(text_response(402, answer.reference));
}

FakeAcquirer::Answer ExternalCallConformance::Payment::answer_of(const Repair& repair) const {
  return {repair.as == RepairAs::charged, repair.entry ? repair.entry->reference : ""};
}

Response ExternalCallConformance::Payment::unknown(Tx& tx, const CallContext& context) {
  ++test.told_unknown;
  test.fixture.put(tx, context.lease.key.value, "UNKNOWN");
  return text_response(202, "not known yet");
}

CallResult<FakeAcquirer::Answer> ExternalCallConformance::Quiet::call(const CallContext& context) {
  return test.acquirer.charge(context.downstream_key, "1290 EUR");
}

Decision ExternalCallConformance::Quiet::finish(Tx& tx, const CallContext& context,
                                                const FakeAcquirer::Answer& answer) {
  const std::string& id = context.lease.key.value;
  test.fixture.put(tx, id, "AUTHORIZED");
  Outbox{test.backend()}.append(tx, {"payment", id, "PaymentAuthorized", {}});
  return completed(text_response(201, answer.reference));
}

CallOptions ExternalCallConformance::options() {
  CallOptions options;
  options.reserve.lease = lease;
  options.reserve.call_deadline = 10min;
  options.retry.pause = [](std::chrono::milliseconds) {};
  options.on_unknown = [this](const UnknownCall& call) {
    reasons.push_back(call.exception ? "exception" : call.why);
  };
  return options;
}

Outcome ExternalCallConformance::pay(const Request& of, const CallOptions& with) {
  Payment payment{*this};
  return external_call(backend(), begin(), of, payment, with);
}

std::vector<std::string> ExternalCallConformance::events() {
  std::vector<std::string> types;
  for (const OutboxEvent& event : fixture.outbox()) types.push_back(event.message.event_type);
  return types;
}

void ExternalCallConformance::expect_executed(const Outcome& outcome, State state, const Response& response) {
  const auto* executed = std::get_if<Executed>(&outcome);
  ASSERT_NE(executed, nullptr) << "outcome " << outcome.index();
  EXPECT_EQ(executed->state, state);
  EXPECT_EQ(executed->response, response);
}

void ExternalCallConformance::expect_replay(const Outcome& outcome, State state, const Response& response) {
  const auto* replay = std::get_if<Replay>(&outcome);
  ASSERT_NE(replay, nullptr) << "outcome " << outcome.index();
  EXPECT_EQ(replay->state, state);
  EXPECT_EQ(replay->response, response);
}

void ExternalCallConformance::expect_authorized() {
  EXPECT_EQ(acquirer.ledger().size(), 1U);
  EXPECT_EQ(fixture.state("k1"), "AUTHORIZED");
  EXPECT_THAT(events(), ::testing::ElementsAre("PaymentAuthorized"));
  EXPECT_EQ(state_of_record(), State::completed);
  expect_replay(pay(), State::completed, approved);
  EXPECT_EQ(acquirer.ledger().size(), 1U);
}

SweepOptions ExternalCallConformance::sweep_options() {
  return {.operation = "POST /payments",
          .call = options(),
          .on_error = [this](const LapsedRecord& lapsed, const std::exception_ptr&) {
            failed_keys.push_back(lapsed.key.value);
          }};
}

SweepPass ExternalCallConformance::sweep() {
  Sweep sweep{backend(), begin(),
              [this](Tx&, const LapsedRecord& lapsed) {
                recovered.push_back(lapsed.key.value);
                if (lapsed.key.value == poison) throw std::runtime_error{"its row cannot be read"};
                return Payment{*this};
              },
              sweep_options()};
  return sweep.pass();
}

void ExternalCallConformance::leave_in_the_gap(const Request& of) {
  acquirer.then(FakeCharge::time_out_after);
  (void)pay(of);
}

Repair ExternalCallConformance::repair_of(const Request& of, RepairAs as) {
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

Repaired ExternalCallConformance::apply(const Repair& repair) {
  const auto unit = fixture.begin();
  const Repaired repaired = apply_repair(backend(), unit->transaction(), repair,
                                         [this](Tx&, const LapsedRecord&) { return Payment{*this}; });
  unit->commit();
  return repaired;
}

void ExternalCallConformance::leave_unknown(const Request& of) {
  downstream = cannot_deduplicate("acquirer");
  acquirer.then(FakeCharge::time_out_after);
  (void)pay(of);
}

}  // namespace idem::conformance
