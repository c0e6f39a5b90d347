#include "fault/charge_invariants.hpp"

#include <memory>
#include <optional>
#include <pqxx/pqxx>
#include <utility>

#include "fault/charge.hpp"
#include "idem/record/record.hpp"

namespace idem::fault_test {
namespace {

// The rows that belong to a key.
struct Rows {
  std::optional<Record> record;
  std::vector<std::string> payments;  // state and charge id
  std::vector<std::string> events;    // type and payload
};

Rows read_rows(const postgres_test::TestDatabase& database, const std::string& key) {
  Rows rows;
  auto connection = database.borrow();
  auto work = std::make_unique<pqxx::work>(*connection);
  pqxx::work& tx = *work;
  rows.record = database.backend().store(tx)->find(charge_request(key).key);
  for (const auto& row :
       tx.exec("SELECT state || ' ' || coalesce(charge_id, '') FROM payment WHERE id = " + tx.quote(key))) {
    rows.payments.push_back(row[0].as<std::string>());
  }
  for (const auto& row :
       tx.exec("SELECT event_type || ' ' || convert_from(payload, 'UTF8') FROM idem_outbox WHERE "
               "aggregate_type = 'payment' AND aggregate_id = " +
               tx.quote(key))) {
    rows.events.push_back(row[0].as<std::string>());
  }
  work.reset();
  database.give_back(std::move(connection));
  return rows;
}

class Judging {
 public:
  Judging(const Rows& rows, const nlohmann::json& ledger, std::string key, const std::vector<Told>& told)
      : rows_{rows}, key_{std::move(key)}, told_{told} {
    for (const nlohmann::json& entry : ledger) {
      if (entry.at("reference") == key_) charges_.push_back(entry);
    }
  }

  std::vector<std::string> run() && {
    if (charges_.size() > 1) wrong(std::to_string(charges_.size()) + " charges");
    if (!rows_.record) {
      nothing_is_there();
    } else {
      judge_rows();
      judge_told();
    }
    return std::move(found_);
  }

 private:
  void wrong(const std::string& what) { found_.push_back(key_ + ": " + what); }

  void nothing_is_there() {
    if (!charges_.empty()) wrong("a charge and no record");
    if (!rows_.payments.empty()) wrong("a payment and no record");
    if (!rows_.events.empty()) wrong("an event and no record");
    for (const Told& one : told_) {
      if (one.is_final()) wrong("an answer and no record");
    }
  }

  // What the ledger demands.
  [[nodiscard]] ChargeDecision decision() const {
    if (charges_.empty()) return NotCharged{};
    const nlohmann::json& charge = charges_.front();
    if (charge.at("outcome") != "approved")
      return payments::Declined{charge.at("charge_id"), charge.at("at")};
    return payments::Approved{charge.at("charge_id"), charge.at("at")};
  }

  void judge_rows() {
    const ChargeDecision demanded = decision();
    const auto* const approved = std::get_if<payments::Approved>(&demanded);
    const std::string charge_id = approved != nullptr ? approved->charge_id : "";
    only("payment", rows_.payments, (approved != nullptr ? "AUTHORIZED " : "DECLINED ") + charge_id);
    only("event", rows_.events,
         (approved != nullptr ? "PaymentAuthorized " : "PaymentDeclined ") + charge_id);
    const State state = approved != nullptr ? State::completed : State::failed;
    if (rows_.record->state == State::in_progress || rows_.record->state == State::unknown) {
      wrong("left unsettled");
    } else if (rows_.record->state != state) {
      wrong("the record does not say what the ledger says");
    } else if (rows_.record->response != charge_response(key_, demanded)) {
      wrong("the stored answer does not say what the ledger says");
    }
  }

  void only(const std::string& name, const std::vector<std::string>& there, const std::string& demanded) {
    if (there.size() != 1) wrong(std::to_string(there.size()) + ' ' + name + "s");
    for (const std::string& one : there) {
      if (one == demanded) continue;
      std::string what = "the " + name + " says ";
      what += one;
      what += ", the ledger ";
      what += demanded;
      wrong(what);
    }
  }

  void judge_told() {
    const std::string stored = rows_.record->response ? bytes_of(*rows_.record->response) : std::string{};
    bool answered = false;
    for (const Told& one : told_) {
      if (one.is_final()) {
        answered = true;
        if (one.bytes != stored) wrong("a client was told " + one.bytes + ", and stored is " + stored);
        continue;
      }
      if (answered && one.kind != "error") wrong("a client was told " + one.kind + " after the answer");
      if (one.kind == "unknown" && one.bytes != bytes_of(charge_not_known())) wrong("unknown in other words");
      if (one.kind == "mismatch") wrong("a mismatch for the same request");
    }
    if (told_.empty() || told_.back().kind != "replay") wrong("the last answer is no replay");
  }

  const Rows& rows_;
  std::string key_;
  const std::vector<Told>& told_;
  std::vector<nlohmann::json> charges_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> violations(const postgres_test::TestDatabase& database, const nlohmann::json& ledger,
                                    const std::string& key, const std::vector<Told>& told) {
  return Judging{read_rows(database, key), ledger, key, told}.run();
}

}  // namespace idem::fault_test
