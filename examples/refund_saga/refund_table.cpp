#include "refund_table.hpp"

#include <pqxx/pqxx>

#include "idem/postgres.hpp"

namespace refund_saga {
namespace {

constexpr const char* tables = R"sql(
-- Or a NOTICE for each table that is there already.
SET LOCAL client_min_messages = warning;

CREATE TABLE IF NOT EXISTS refund (
  refund_id    text        PRIMARY KEY,
  payment      text        NOT NULL,
  amount_cents bigint      NOT NULL CHECK (amount_cents > 0),
  state        text        NOT NULL CHECK (state IN ('in_progress', 'done', 'compensated', 'stuck')),
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE IF NOT EXISTS refund_step (
  refund_id text NOT NULL REFERENCES refund,
  step      text NOT NULL,
  state     text NOT NULL CHECK (state IN ('pending', 'done', 'failed', 'compensated', 'stuck')),
  PRIMARY KEY (refund_id, step)
);
)sql";

}  // namespace

void install_tables(pqxx::dbtransaction& tx) {
  idem::postgres::install_schema(tx);  // First: it lets only one process install at a time.
  tx.exec(std::string{tables});
}

// Text is quoted, as no other spelling of values is taken by libpqxx 6, 7 and 8 without a warning.

bool add_refund(pqxx::dbtransaction& tx, const Refund& refund) {
  return tx.exec("INSERT INTO refund (refund_id, payment, amount_cents, state) VALUES (" +
                 tx.quote(refund.id) + ", " + tx.quote(refund.payment) + ", " +
                 std::to_string(refund.amount_cents) + ", 'in_progress') ON CONFLICT (refund_id) DO NOTHING")
             .affected_rows() == 1;
}

std::optional<Refund> find_refund(pqxx::dbtransaction& tx, const std::string& id) {
  const pqxx::result rows =
      tx.exec("SELECT payment, amount_cents FROM refund WHERE refund_id = " + tx.quote(id));
  if (rows.empty()) return std::nullopt;
  return Refund{id, rows[0][0].as<std::string>(), rows[0][1].as<std::int64_t>()};
}

std::vector<std::string> unfinished_refunds(pqxx::dbtransaction& tx) {
  std::vector<std::string> ids;
  for (const auto& row :
       tx.exec(std::string{"SELECT refund_id FROM refund WHERE state = 'in_progress' ORDER BY created_at"})) {
    ids.push_back(row[0].as<std::string>());
  }
  return ids;
}

Progress read_progress(pqxx::dbtransaction& tx, const std::string& refund_id) {
  Progress progress;
  for (const auto& row :
       tx.exec("SELECT step, state FROM refund_step WHERE refund_id = " + tx.quote(refund_id))) {
    progress[row[0].as<std::string>()] = step_state(row[1].as<std::string>());
  }
  return progress;
}

void set_step(pqxx::dbtransaction& tx, const std::string& refund_id, const Step& step, StepState state) {
  tx.exec("INSERT INTO refund_step (refund_id, step, state) VALUES (" + tx.quote(refund_id) + ", " +
          tx.quote(std::string{step.name}) + ", " + tx.quote(name(state)) +
          ") ON CONFLICT (refund_id, step) DO UPDATE SET state = excluded.state");
  tx.exec("UPDATE refund SET state = " + tx.quote(name(state_of(read_progress(tx, refund_id)))) +
          " WHERE refund_id = " + tx.quote(refund_id));
}

}  // namespace refund_saga
