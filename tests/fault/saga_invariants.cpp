#include "fault/saga_invariants.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <pqxx/pqxx>
#include <utility>

#include "fault/saga_run.hpp"
#include "idem/call/downstream_key.hpp"
#include "refund.hpp"
#include "step_call.hpp"

namespace idem::fault_test {
namespace {

using refund_saga::Action;

// A command to a service, and what it decides.
struct Demanded {
  Action action;
  bool accepted = true;

  // As the ledger has it, such as "enrolment/withdraw done".
  [[nodiscard]] std::string effect() const {
    const std::string_view path = action.undo ? action.step->undo_path : action.step->path;
    return std::string{path.substr(1)} + (accepted ? " done" : " refused");
  }
};

// What a story comes to.
struct Ending {
  std::vector<Demanded> commands;
  std::string state;
  std::vector<std::pair<std::string, std::string>> steps;  // In the order in which they are told.
};

Ending ending_of(Story story) {
  const auto& [enrolment, payments, email] = refund_saga::steps;
  const Demanded withdraw{{&enrolment, false}};
  const Demanded refund{{&payments, false}};
  switch (story) {
    case Story::payments_refuse:
      return {{withdraw, {{&payments, false}, false}, {{&enrolment, true}}},
              "compensated",
              {{"enrolment", "compensated"}, {"payments", "failed"}}};
    case Story::email_refused:
      return {{withdraw, refund, {{&email, false}, false}},
              "done",
              {{"enrolment", "done"}, {"payments", "done"}, {"email", "failed"}}};
    case Story::done:
      break;
  }
  return {{withdraw, refund, {{&email, false}}},
          "done",
          {{"enrolment", "done"}, {"payments", "done"}, {"email", "done"}}};
}

Key start_key(const std::string& id) {
  return {"refund_saga", "refund", id};
}

std::string effect_of(const nlohmann::json& entry) {
  return entry.at("service").get<std::string>() + '/' + entry.at("action").get<std::string>() + ' ' +
         entry.at("outcome").get<std::string>();
}

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : ", ") + part;
  return all;
}

class Judging {
 public:
  Judging(Story story, const std::string& id, const Kept& kept, const std::vector<nlohmann::json>& ledger,
          const std::vector<Told>& told)
      : ending_{ending_of(story)}, id_{id}, kept_{kept}, ledger_{ledger}, told_{told} {}

  std::vector<std::string> run() && {
    if (find(start_key(id_)) == nullptr) {
      nothing_is_there();
    } else {
      judge_ledger();
      judge_rows();
      judge_records();
      judge_told();
    }
    return std::move(found_);
  }

 private:
  void wrong(const std::string& what) { found_.push_back(id_ + ": " + what); }

  [[nodiscard]] const Record* find(const Key& key) const {
    const auto found = std::ranges::find(kept_.records, key, &Record::key);
    return found == kept_.records.end() ? nullptr : &*found;
  }

  void nothing_is_there() {
    if (!ledger_.empty()) wrong("a service was called, and it was not begun");
    if (kept_.refund) wrong("a refund's row, and it was not begun");
    if (!kept_.steps.empty()) wrong("a step's row, and it was not begun");
    if (!kept_.records.empty()) wrong("a step's record, and it was not begun");
    for (const Told& one : told_) {
      if (one.is_final()) wrong("an answer, and it was not begun");
    }
  }

  void judge_ledger() {
    std::vector<std::string> there;
    std::map<std::string, int> counts;
    for (const nlohmann::json& entry : ledger_) {
      there.push_back(effect_of(entry));
      ++counts[there.back()];
    }
    for (const auto& [effect, count] : counts) {
      if (count > 1) wrong(std::to_string(count) + " times " + effect);
    }
    std::vector<std::string> demanded;
    for (const Demanded& one : ending_.commands) demanded.push_back(one.effect());
    if (there != demanded) wrong("the ledger has " + joined(there) + "; demanded is " + joined(demanded));
  }

  void judge_rows() {
    const refund_saga::Refund refund = refund_of(id_);
    const std::string demanded =
        refund.payment + ' ' + std::to_string(refund.amount_cents) + ' ' + ending_.state;
    if (kept_.refund != demanded) wrong("the refund's row says " + kept_.refund.value_or("nothing"));
    if (kept_.steps != std::map<std::string, std::string>{ending_.steps.begin(), ending_.steps.end()}) {
      std::vector<std::string> said;
      for (const auto& [step, state] : kept_.steps)
        said.push_back(std::string{step}.append(" ").append(state));
      wrong("the steps' rows say " + joined(said));
    }
  }

  void judge_records() {
    judge_record(*find(start_key(id_)), State::completed, text_response(202, "started"));
    for (const Demanded& one : ending_.commands) {
      const Key key = refund_saga::request_of(refund_of(id_), one.action).key;
      const Record* const record = find(key);
      if (record == nullptr) {
        wrong("no record of " + one.effect());
        continue;
      }
      const auto entry = std::ranges::find(ledger_, one.effect(), effect_of);
      if (entry == ledger_.end()) continue;  // Said above.
      if (entry->at("key") != downstream_key(record->key, record->fingerprint)) {
        wrong("the service was given another key than the record's");
      }
      judge_record(*record, one.accepted ? State::completed : State::failed,
                   text_response(one.accepted ? 201 : 402, entry->at("id").get<std::string>()));
    }
    if (kept_.records.size() != 1 + ending_.commands.size()) {
      wrong(std::to_string(kept_.records.size()) + " records");
    }
  }

  void judge_record(const Record& record, State state, const Response& response) {
    const std::string name = record.key.operation + ' ' + record.key.value;
    if (record.state == State::in_progress || record.state == State::unknown) {
      wrong(name + " is left unsettled");
    } else if (record.state != state || record.response != response) {
      wrong(name + " does not say what the ledger says");
    }
  }

  void judge_told() {
    std::string demanded = R"({"refund":")" + id_ + R"(","state":")" + ending_.state + R"(","steps":{)";
    for (const auto& [step, state] : ending_.steps) {
      if (!demanded.ends_with('{')) demanded += ',';
      demanded += '"';
      demanded += step;
      demanded += R"(":")";
      demanded += state;
      demanded += '"';
    }
    demanded += "}}\n";
    bool answered = false;
    for (const Told& one : told_) {
      if (one.is_final()) {
        answered = true;
        if (one.bytes != demanded) wrong("a client was told " + one.bytes);
      } else if (answered) {
        wrong("a client was told " + one.kind + " after the answer");
      }
    }
    if (told_.empty() || !told_.back().is_final()) wrong("the last answer is not final");
  }

  const Ending ending_;
  const std::string& id_;
  const Kept& kept_;
  const std::vector<nlohmann::json>& ledger_;
  const std::vector<Told>& told_;
  std::vector<std::string> found_{};
};

}  // namespace

std::vector<Key> keys_of(const std::string& id) {
  std::vector<Key> keys{start_key(id)};
  for (const refund_saga::Step& step : refund_saga::steps) {
    for (const bool undo : {false, true}) {
      if (undo && step.undo_path.empty()) continue;
      keys.push_back(refund_saga::request_of(refund_of(id), {&step, undo}).key);
    }
  }
  return keys;
}

Kept read_kept(const postgres_test::TestDatabase& database, const std::string& id) {
  Kept kept;
  auto connection = database.borrow();
  auto work = std::make_unique<pqxx::work>(*connection);
  pqxx::work& tx = *work;
  for (const auto& row : tx.exec("SELECT payment || ' ' || amount_cents || ' ' || state FROM refund WHERE "
                                 "refund_id = " +
                                 tx.quote(id))) {
    kept.refund = row[0].as<std::string>();
  }
  for (const auto& row : tx.exec("SELECT step, state FROM refund_step WHERE refund_id = " + tx.quote(id))) {
    kept.steps[row[0].as<std::string>()] = row[1].as<std::string>();
  }
  auto store = database.backend().store(tx);
  for (const Key& key : keys_of(id)) {
    if (auto record = store->find(key)) kept.records.push_back(*std::move(record));
  }
  work.reset();
  database.give_back(std::move(connection));
  return kept;
}

std::vector<std::string> violations(Story story, const std::string& id, const Kept& kept,
                                    const std::vector<nlohmann::json>& ledger,
                                    const std::vector<Told>& told) {
  return Judging{story, id, kept, ledger, told}.run();
}

}  // namespace idem::fault_test
