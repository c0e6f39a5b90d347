#include "postgres_repository.hpp"

#include <pqxx/pqxx>
#include <stdexcept>
#include <string>

#include "idem/postgres.hpp"

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

// Only where it is missing: an ALTER TABLE that changes nothing still waits for everybody who is writing a payment.
constexpr const char* has_charges =
    "SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('payment') AND attname = "
    "'downstream_key')";

constexpr const char* charges = R"sql(
ALTER TABLE payment
  -- The acquirer's idempotency key; null where none was asked.
  ADD COLUMN downstream_key       text,
  ADD COLUMN payment_method_token text,
  ADD COLUMN charge_id            text,
  DROP CONSTRAINT payment_state_check,
  ADD CONSTRAINT payment_state_check CHECK (state IN ('PENDING', 'AUTHORIZED', 'DECLINED', 'UNKNOWN')),
  -- The token is there as long as the acquirer may have to be asked with it.
  ADD CONSTRAINT payment_token_check CHECK ((state = 'PENDING') = (payment_method_token IS NOT NULL));
-- A client's key that comes again after its retention is another payment under the same key.
CREATE UNIQUE INDEX ON payment (downstream_key) WHERE state IN ('PENDING', 'UNKNOWN');
)sql";

std::string name_of(PaymentState state) {
  switch (state) {
    case PaymentState::pending:
      return "PENDING";
    case PaymentState::authorized:
      return "AUTHORIZED";
    case PaymentState::declined:
      return "DECLINED";
    case PaymentState::unknown:
      break;
  }
  return "UNKNOWN";
}

PaymentState state_named(const std::string& name) {
  for (const PaymentState state : {PaymentState::pending, PaymentState::authorized, PaymentState::declined}) {
    if (name_of(state) == name) return state;
  }
  return PaymentState::unknown;
}

// The columns that payment_in() reads.
constexpr const char* payment_columns =
    "payment_id, principal, amount_cents, currency, offering_id, coalesce(charge_id, '')";

Payment payment_in(const pqxx::row& row, PaymentState state) {
  return {.id = row[0].as<std::string>(),
          .principal = row[1].as<std::string>(),
          .order = {row[2].as<std::int64_t>(), row[3].as<std::string>(), row[4].as<std::string>()},
          .state = state,
          .charge_id = row[5].as<std::string>()};
}

}  // namespace

void install_tables(pqxx::dbtransaction& tx) {
  // First, as it lets only one process install at a time.
  idem::postgres::install_schema(tx);
  tx.exec(std::string{tables});
  const pqxx::result found = tx.exec(std::string{has_charges});
  if (!found[0][0].as<bool>()) tx.exec(std::string{charges});
}

// Quoted text and not parameters: the one spelling that libpqxx 6, 7 and 8 all take without a warning.

void PostgresRepository::add_payment(pqxx::dbtransaction& tx, const Payment& payment) {
  tx.exec("INSERT INTO payment (payment_id, principal, offering_id, amount_cents, currency, state) VALUES (" +
          tx.quote(payment.id) + ", " + tx.quote(payment.principal) + ", " +
          tx.quote(payment.order.offering_id) + ", " + std::to_string(payment.order.amount_cents) + ", " +
          tx.quote(payment.order.currency) + ", " + tx.quote(name_of(payment.state)) + ")");
}

void PostgresRepository::add_pending(pqxx::dbtransaction& tx, const PendingCharge& pending) {
  const Payment& payment = pending.payment;
  tx.exec(
      "INSERT INTO payment (payment_id, principal, offering_id, amount_cents, currency, state, "
      "downstream_key, "
      "payment_method_token) VALUES (" +
      tx.quote(payment.id) + ", " + tx.quote(payment.principal) + ", " + tx.quote(payment.order.offering_id) +
      ", " + std::to_string(payment.order.amount_cents) + ", " + tx.quote(payment.order.currency) +
      ", 'PENDING', " + tx.quote(pending.downstream_key) + ", " + tx.quote(pending.payment_method_token) +
      ")");
}

std::optional<PendingCharge> PostgresRepository::find_pending(pqxx::dbtransaction& tx,
                                                              const std::string& downstream_key) {
  const pqxx::result rows =
      tx.exec(std::string{"SELECT "} + payment_columns +
              ", payment_method_token FROM payment WHERE downstream_key = " + tx.quote(downstream_key) +
              " AND state = 'PENDING'");
  if (rows.empty()) return std::nullopt;
  return PendingCharge{payment_in(rows[0], PaymentState::pending), downstream_key,
                       rows[0][6].as<std::string>()};
}

Payment PostgresRepository::decide(pqxx::dbtransaction& tx, const std::string& downstream_key,
                                   PaymentState state, const std::string& charge_id) {
  const pqxx::result rows =
      tx.exec("UPDATE payment SET state = " + tx.quote(name_of(state)) +
              ", charge_id = " + (charge_id.empty() ? "NULL" : tx.quote(charge_id)) +
              ", payment_method_token = NULL WHERE downstream_key = " + tx.quote(downstream_key) +
              " AND state IN ('PENDING', 'UNKNOWN') RETURNING " + payment_columns);
  if (rows.empty()) throw std::runtime_error{"there is no payment to decide under the acquirer's key"};
  return payment_in(rows[0], state);
}

std::optional<Payment> PostgresRepository::find_payment(pqxx::dbtransaction& tx, const std::string& id,
                                                        const std::string& principal) {
  const pqxx::result rows = tx.exec(std::string{"SELECT "} + payment_columns +
                                    ", state FROM payment WHERE payment_id = " + tx.quote(id) +
                                    " AND principal = " + tx.quote(principal));
  if (rows.empty()) return std::nullopt;
  return payment_in(rows[0], state_named(rows[0][6].as<std::string>()));
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

std::vector<PaymentAuthorized> undelivered(pqxx::dbtransaction& tx) {
  const pqxx::result rows =
      tx.exec(std::string{"SELECT payment_id, principal, offering_id FROM idem_outbox JOIN payment ON "
                          "payment_id::text = aggregate_id "
                          "WHERE aggregate_type = 'payment' AND event_type = 'PaymentAuthorized' "
                          "AND NOT EXISTS (SELECT FROM receipt WHERE receipt.payment_id = "
                          "payment.payment_id) ORDER BY sequence"});
  std::vector<PaymentAuthorized> events;
  for (const auto& row : rows) {
    events.push_back(
        payment_authorized(row[0].as<std::string>(), row[1].as<std::string>(), row[2].as<std::string>()));
  }
  return events;
}

Summary read_summary(pqxx::dbtransaction& tx) {
  const pqxx::result rows = tx.exec(std::string{
      "SELECT count(*) FILTER (WHERE state = 'AUTHORIZED'), count(*) FILTER (WHERE state = 'DECLINED'), "
      "(SELECT count(*) FROM seat), (SELECT count(*) FROM receipt), count(*) FILTER (WHERE state = "
      "'PENDING'), "
      "count(*) FILTER (WHERE state = 'UNKNOWN'), (SELECT count(*) FROM idem_outbox) FROM payment"});
  const auto number = [&](pqxx::row::size_type column) { return rows[0][column].as<std::int64_t>(); };
  return {.charges = number(0),
          .declines = number(1),
          .seats = number(2),
          .receipts = number(3),
          .pending = number(4),
          .unknown = number(5),
          .events = number(6)};
}

}  // namespace payments
