#include "fault/charge_harness.hpp"

#include <exception>
#include <stdexcept>

#include "base/rfc3339.hpp"
#include "fault/charge_invariants.hpp"
#include "idem/call/external_call.hpp"
#include "idem/call/sweep.hpp"
#include "idem/postgres/apply_repairs.hpp"
#include "idem/postgres/reconcile.hpp"
#include "idem/postgres/repair.hpp"
#include "idem/settlement/reconcile.hpp"

namespace idem::fault_test {
namespace {

// The acquirer's ledger as its settlement.
std::vector<SettlementEntry> settlement_of(const nlohmann::json& ledger) {
  std::vector<SettlementEntry> entries;
  for (const nlohmann::json& entry : ledger) {
    entries.push_back({.downstream_key = entry.at("key"),
                       .outcome = entry.at("outcome") == "approved" ? SettlementOutcome::charged
                                                                    : SettlementOutcome::declined,
                       .amount = entry.at("amount_cents"),
                       .reference = entry.at("charge_id"),
                       .at = detail::parse_rfc3339(entry.at("at").get<std::string>())});
  }
  return entries;
}

}  // namespace

ChargeHarness::ChargeHarness(Acquirer acquirer)
    : acquirer_{acquirer}, client_{process_.url()}, sessions_{database_.url()} {
  database_.execute(charge_tables);
  (void)process_.control({{"deduplicate", acquirer == Acquirer::deduplicates}});
}

std::optional<Record> ChargeHarness::find(const std::string& key) {
  auto unit = sessions_.begin()();
  return database_.backend().store(unit.transaction())->find(charge_request(key).key);
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

// As every day: what the settlement tells of is queued, and the service applies it.
void ChargeHarness::reconcile(const std::string& key) {
  // A request that was sent may still arrive before that.
  database_.advance(charge_lease + charge_deadline);
  const postgres::Names& names = database_.backend().names();
  const std::vector<SettlementEntry> entries = settlement_of(process_.ledger());
  bool found_charge = false;
  {
    auto unit = sessions_.begin()();
    auto next = entries.begin();
    (void)postgres::reconcile(
        unit.transaction(), names, {.downstream = "acquirer"},
        [&]() -> std::optional<SettlementEntry> {
          if (next == entries.end()) return std::nullopt;
          return *next++;
        },
        [&](const Finding& finding) {
          if (!finding.ours || finding.ours->key != charge_request(key).key) return;
          if (!postgres::queue_repair(unit.transaction(), names, finding, "reconciliation",
                                      Settlement::closed))
            throw std::runtime_error{key + ": it was queued before"};
          found_charge = finding.entry.has_value();
        });
    unit.commit();
  }
  const postgres::RepairPass passed = postgres::apply_repairs(
      database_.backend(), sessions_.begin(),
      [this](pqxx::dbtransaction&, const LapsedRecord&) { return charge(); },
      {.operation = std::string{charge_operation},
       .on_error = [](const Repair&, const std::exception_ptr& error) { std::rethrow_exception(error); }});
  if (passed.queued != 1 || passed.applied != 1) {
    throw std::runtime_error{key + ": of " + std::to_string(passed.queued) + " repairs " +
                             std::to_string(passed.applied) + " were applied"};
  }
  ++(found_charge ? happened_.found_charged : happened_.found_not_charged);
}

}  // namespace idem::fault_test
