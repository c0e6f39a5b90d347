// The service's tables in PostgreSQL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "enrolment.hpp"
#include "payment.hpp"

namespace pqxx {
class dbtransaction;
}

namespace payments {

/// Creates the tables payment, seat and receipt, and idem's own, where they are missing, and adds to an older payment table
/// what it lacks. Safe to repeat and to run from several processes at once. Rolled back with `tx`.
void install_tables(pqxx::dbtransaction& tx);

/// Writes in the caller's transaction and is rolled back with it. Stateless; safe to share between threads.
class PostgresRepository {
 public:
  /// A decided one.
  void add_payment(pqxx::dbtransaction& tx, const Payment& payment);
  void add_pending(pqxx::dbtransaction& tx, const PendingCharge& pending);
  /// The payment that the acquirer knows by that key, while it is pending.
  [[nodiscard]] std::optional<PendingCharge> find_pending(pqxx::dbtransaction& tx,
                                                          const std::string& downstream_key);
  /// Gives a pending or unknown one its state and, unless empty, its charge, and takes the token away. Returns what is
  /// there now. Throws std::runtime_error where there is none.
  Payment decide(pqxx::dbtransaction& tx, const std::string& downstream_key, PaymentState state,
                 const std::string& charge_id);
  /// Whatever its state, where it is this principal's.
  [[nodiscard]] std::optional<Payment> find_payment(pqxx::dbtransaction& tx, const std::string& id,
                                                    const std::string& principal);
  void add_seat(pqxx::dbtransaction& tx, const PaymentAuthorized& event);
  void add_receipt(pqxx::dbtransaction& tx, const PaymentAuthorized& event);
};

/// The events in the outbox of authorised payments that have no receipt, so that nobody has delivered them; the oldest
/// first.
[[nodiscard]] std::vector<PaymentAuthorized> undelivered(pqxx::dbtransaction& tx);

/// How many rows there are.
struct Summary {
  std::int64_t charges = 0;  ///< Payments authorized.
  std::int64_t declines = 0;
  std::int64_t seats = 0;
  std::int64_t receipts = 0;
  std::int64_t pending = 0;  ///< Payments of which the acquirer's answer is not known yet.
  std::int64_t unknown = 0;  ///< Payments that reconciliation has to settle.
  std::int64_t events = 0;   ///< In the outbox.
  friend bool operator==(const Summary&, const Summary&) = default;
};

/// Counts what `tx` sees, all at one moment.
[[nodiscard]] Summary read_summary(pqxx::dbtransaction& tx);

}  // namespace payments
