#include "fault/saga_harness.hpp"

#include <cstddef>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "idem/postgres/backend.hpp"
#include "refund_table.hpp"
#include "run.hpp"
#include "saga.hpp"
#include "session.hpp"

namespace idem::fault_test {

SagaHarness::SagaHarness(Story story)
    : story_{story},
      database_url_{postgres_test::url_of_server() + "&options=-csearch_path%3D%22" + database_.schema() +
                    "%22"},
      process_{REFUND_SERVICES},
      services_{process_.url()} {
  examples::Session session{database_url_};
  const auto tx = session.begin();
  refund_saga::install_tables(*tx);
  tx->commit();
  if (story == Story::payments_refuse) process_.control({{"service", "payments"}, {"mode", "refuse"}});
  if (story == Story::email_refused) process_.control({{"service", "email"}, {"mode", "refuse"}});
}

void SagaHarness::lapse(const std::string& id) const {
  std::string keys;
  for (const Key& key : keys_of(id)) keys += (keys.empty() ? "'" : ", '") + key.value + '\'';
  fault_test::lapse(database_, "idempotency_key IN (" + keys + ")", saga_lease);
}

std::vector<std::string> SagaHarness::settle(const std::string& id, Then then,
                                             const std::function<Told()>& ask, std::vector<Told>& told) {
  if (then == Then::client_retries) {
    if (told.empty() || !told.back().is_final())
      retry(
          id, ask, [&] { lapse(id); }, told);
  } else {
    sweep_all(
        id, [&] { lapse(id); }, [&] { return sweep(id); });
  }
  Kept kept = read_kept(database_, id);
  const bool called = !ledger_of(id).empty();
  bool called_again = false;
  if (kept.records.empty() && !called) {
    ++happened_.nothing_left;
  } else {
    const std::size_t calls = ledger_of(id).size();
    told.push_back(run_refund(Flow::right, database_url_, services_, id, saga_options()));
    called_again = ledger_of(id).size() != calls;
    kept = read_kept(database_, id);
  }
  for (const Record& record : kept.records) {
    if (record.taken_over()) ++happened_.taken_over;
  }
  std::vector<std::string> wrong = violations(story_, id, kept, ledger_of(id), told);
  if (called_again) wrong.push_back(id + ": once over, it called a service");
  return wrong;
}

// The file, as each entry is in it before it is answered: what comes over HTTP is all of it, each time.
const std::vector<nlohmann::json>& SagaHarness::ledger_of(const std::string& id) {
  std::ifstream file{process_.ledger_file(), std::ios::binary};
  file.seekg(static_cast<std::streamoff>(ledger_read_));
  for (std::string line; std::getline(file, line) && !file.eof();) {
    ledger_read_ += line.size() + 1;
    nlohmann::json entry = nlohmann::json::parse(line);
    ledger_[entry.at("refund").get<std::string>()].push_back(std::move(entry));
  }
  return ledger_[id];
}

bool SagaHarness::sweep(const std::string& id) const {
  const postgres::Backend backend;
  examples::Session session{database_url_};
  refund_saga::Saga saga{backend, session, services_, saga_options()};
  std::ostringstream out;
  std::ostringstream err;
  if (!refund_saga::sweep(saga, session, out, err)) throw std::runtime_error{err.str()};
  const Kept kept = read_kept(database_, id);
  return !kept.refund || !kept.refund->ends_with(" in_progress");
}

}  // namespace idem::fault_test
