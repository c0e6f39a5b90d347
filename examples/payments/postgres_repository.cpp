#include "postgres_repository.hpp"

#include <pqxx/pqxx>
#include <string>

#include "idem/postgres/schema.hpp"

namespace payments {
namespace {

constexpr const char* tables = R"sql(
-- Or a NOTICE for each table that is there already.
SET LOCAL client_min_messages = warning;

CREATE TABLE IF NOT EXISTS payment (
  payment_id   uuid        PRIMARY KEY,
  principal    text        NOT NULL,
  offering_id  text        NOT NULL,
  amount_cents bigint      NOT NULL CHECK (amount_cents > 0),
  currency     text        NOT NULL,
  state        text        NOT NULL CHECK (state IN ('AUTHORIZED', 'DECLINED')),
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- One seat for each learner in an offering, whatever keys the payments and whatever ids the events came under: the key makes
-- a command happen once, the inbox an event, and this makes the fact be there once.
CREATE TABLE IF NOT EXISTS seat (
  offering_id text NOT NULL,
  principal   text NOT NULL,
  payment_id  uuid NOT NULL REFERENCES payment,
  UNIQUE (offering_id, principal)
);

CREATE TABLE IF NOT EXISTS receipt (
  payment_id uuid        PRIMARY KEY REFERENCES payment,
  issued_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
)sql";

const char* name_of(Approval approval) {
  return approval == Approval::authorized ? "AUTHORIZED" : "DECLINED";
}

}  // namespace

void install_tables(pqxx::dbtransaction& tx) {
  // First, as it lets only one process install at a time.
  idem::postgres::install_schema(tx);
  tx.exec(std::string{tables});
}

// Quoted text and not parameters: the one spelling that libpqxx 6, 7 and 8 all take without a warning.

void PostgresRepository::add_payment(pqxx::dbtransaction& tx, const Payment& payment) {
  tx.exec("INSERT INTO payment (payment_id, principal, offering_id, amount_cents, currency, state) VALUES (" +
          tx.quote(payment.id) + ", " + tx.quote(payment.principal) + ", " +
          tx.quote(payment.order.offering_id) + ", " + std::to_string(payment.order.amount_cents) + ", " +
          tx.quote(payment.order.currency) + ", " + tx.quote(std::string{name_of(payment.approval)}) + ")");
}

void PostgresRepository::add_seat(pqxx::dbtransaction& tx, const PaymentAuthorized& event) {
  tx.exec("INSERT INTO seat (offering_id, principal, payment_id) VALUES (" + tx.quote(event.offering_id) +
          ", " + tx.quote(event.principal) + ", " + tx.quote(event.payment_id) +
          ") ON CONFLICT (offering_id, principal) DO NOTHING");
}

void PostgresRepository::add_receipt(pqxx::dbtransaction& tx, const PaymentAuthorized& event) {
  tx.exec("INSERT INTO receipt (payment_id) VALUES (" + tx.quote(event.payment_id) +
          ") ON CONFLICT (payment_id) DO NOTHING");
}

Summary read_summary(pqxx::dbtransaction& tx) {
  const pqxx::result rows = tx.exec(std::string{
      "SELECT count(*) FILTER (WHERE state = 'AUTHORIZED'), count(*) FILTER (WHERE state = 'DECLINED'), "
      "(SELECT count(*) FROM seat), (SELECT count(*) FROM receipt) FROM payment"});
  return {rows[0][0].as<std::int64_t>(), rows[0][1].as<std::int64_t>(), rows[0][2].as<std::int64_t>(),
          rows[0][3].as<std::int64_t>()};
}

}  // namespace payments
