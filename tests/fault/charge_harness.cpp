#include "fault/charge_harness.hpp"

#include <exception>

#include "fault/charge_invariants.hpp"
#include "idem/downstream_key.hpp"
#include "idem/external_call.hpp"
#include "idem/resolution.hpp"
#include "idem/sweep.hpp"
#include "rfc3339.hpp"

namespace idem::fault_test {
namespace {

// What a closed settlement says of the record. What it is matched by is the downstream key.
ChargeDecision settled(const nlohmann::json& ledger, const Record& record) {
  const std::string key = downstream_key(record.key, record.fingerprint);
  for (const nlohmann::json& entry : ledger) {
    if (entry.at("key") != key) continue;
    if (entry.at("outcome") != "approved") return payments::Declined{entry.at("charge_id"), entry.at("at")};
    return payments::Approved{entry.at("charge_id"), entry.at("at")};
  }
  return NotCharged{};
}

Resolution evidence(const ChargeDecision& decision) {
  Resolution resolution{.who = "reconciliation", .why = "the acquirer's ledger"};
  if (const auto* approved = std::get_if<payments::Approved>(&decision)) {
    resolution.effect_at = detail::parse_rfc3339(approved->at);
  } else {
    resolution.no_effect =
        std::holds_alternative<NotCharged>(decision) ? NoEffect::closed_settlement : NoEffect::stored_decline;
  }
  return resolution;
}

}  // namespace

ChargeHarness::ChargeHarness(Acquirer acquirer)
    : acquirer_{acquirer}, client_{process_.url()}, sessions_{postgres_test::url_of_server()} {
  database_.execute(charge_tables);
  (void)process_.control({{"deduplicate", acquirer == Acquirer::deduplicates}});
}

std::optional<Record> ChargeHarness::find(const std::string& key) {
  auto unit = sessions_.begin()();
  return database_.backend().store(unit.transaction()).find(charge_request(key).key);
}

void ChargeHarness::lapse(const std::string& key) const {
  fault_test::lapse(database_, "idempotency_key = '" + key + "'", charge_lease);
}

std::vector<std::string> ChargeHarness::settle(const std::string& key, Then then,
                                               const std::function<Told()>& ask, std::vector<Told>& told) {
  ++happened_.runs;
  if (then == Then::client_retries) {
    if (told.empty() || !told.back().is_final()) {
      retry(
          key, ask, [&] { lapse(key); }, told);
    }
  } else {
    sweep(key);
  }
  std::optional<Record> record = find(key);
  if (record && record->taken_over()) ++happened_.taken_over;
  if (record && record->state == State::unknown) reconcile(key);
  if (record) {
    Charge charge = this->charge();
    told.push_back(fault_test::told(external_call(database_.backend(), sessions_.begin(), charge_request(key),
                                                  charge, charge_options())));
  } else {
    ++happened_.nothing_left;
  }
  return violations(database_, process_.ledger(), key, told);
}

void ChargeHarness::sweep(const std::string& key) {
  Sweep sweep{database_.backend(),
              sessions_.begin(),
              [this](pqxx::dbtransaction&, const LapsedRecord&) { return charge(); },
              {.operation = std::string{charge_operation},
               .call = charge_options(),
               .on_error = [](const LapsedRecord&, const std::exception_ptr& error) {
                 std::rethrow_exception(error);
               }}};
  sweep_all(
      key, [&] { lapse(key); },
      [&] {
        (void)sweep.pass();
        const std::optional<Record> record = find(key);
        return !record || record->state != State::in_progress;
      });
}

// In one transaction: the operation's own finish(), with its business row and event, and the record.
void ChargeHarness::reconcile(const std::string& key) {
  // A request that was sent may still arrive before that.
  database_.advance(charge_lease + charge_deadline);
  const nlohmann::json ledger = process_.ledger();
  Charge charge = this->charge();
  auto unit = sessions_.begin()();
  auto store = database_.backend().store(unit.transaction());
  const Record record = store.find(charge_request(key).key).value();
  const CallContext context{
      {record.key, record.fingerprint, record.holder, record.generation, record.lease_until},
      How::took_over,
      downstream_key(record.key, record.fingerprint)};
  const ChargeDecision found = settled(ledger, record);
  store.hold(context.lease);
  const Decision decision = charge.finish(unit.transaction(), context, found);
  store.resolve(record.key, record.holder, decision.state(), decision.response(), evidence(found));
  unit.commit();
  ++(std::holds_alternative<NotCharged>(found) ? happened_.found_not_charged : happened_.found_charged);
}

}  // namespace idem::fault_test
