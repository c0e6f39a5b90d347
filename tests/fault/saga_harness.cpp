#include "fault/saga_harness.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "idem/postgres/backend.hpp"
#include "refund_table.hpp"
#include "run.hpp"
#include "saga.hpp"

namespace idem::fault_test {

SagaHarness::SagaHarness(Story story)
    : story_{story},
      database_url_{database_.url()},
      process_{REFUND_SERVICES},
      services_{process_.url()},
      session_{database_url_} {
  const auto tx = session_.begin();
  refund_saga::install_tables(*tx);
  tx->commit();
  if (story == Story::payments_refuse) process_.control({{"service", "payments"}, {"mode", "refuse"}});
  if (story == Story::email_refused) process_.control({{"service", "email"}, {"mode", "refuse"}});
}

Told SagaHarness::ask(Flow flow, const std::string& id) {
  return run_refund(flow, session_, services_, id, saga_options());
}

void SagaHarness::lapse(const std::string& id) const {
  std::string keys;
  for (const Key& key : keys_of(id)) keys += (keys.empty() ? "'" : ", '") + key.value + '\'';
  fault_test::lapse(database_, "idempotency_key IN (" + keys + ")", saga_lease);
}

std::vector<std::string> SagaHarness::settle(const std::string& id, Then then,
                                             const std::function<Told()>& ask, std::vector<Told>& told) {
  if (then == Then::client_retries) {
    if (told.empty() || !told.back().is_final()) {
      retry(
          id, ask, [&] { lapse(id); }, told);
    }
  } else {
    sweep_all(
        id, [&] { lapse(id); }, [&] { return sweep(id); });
  }
  // Where the start is there, or a service was called, the client comes back.
  const std::size_t calls = ledger_of(id).size();
  const bool begun =
      calls != 0 || database_.number("SELECT count(*) FROM refund WHERE refund_id = '" + id + "'") != 0;
  if (begun) {
    told.push_back(this->ask(Flow::right, id));
  } else {
    ++happened_.nothing_left;
  }
  const bool called_again = ledger_of(id).size() != calls;
  const Kept kept = read_kept(database_, id);
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

bool SagaHarness::sweep(const std::string& id) {
  const postgres::Backend backend;
  refund_saga::Saga saga{backend, session_, services_, saga_options()};
  std::ostringstream out;
  std::ostringstream err;
  if (!refund_saga::sweep(saga, session_, out, err)) throw std::runtime_error{err.str()};
  const Kept kept = read_kept(database_, id);
  return !kept.refund || !kept.refund->ends_with(" in_progress");
}

}  // namespace idem::fault_test
