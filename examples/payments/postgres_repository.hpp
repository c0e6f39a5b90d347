// The service's tables in PostgreSQL.
#pragma once

#include <cstdint>

#include "enrolment.hpp"
#include "payment.hpp"

namespace pqxx {
class dbtransaction;
}

namespace payments {

/// Creates the tables payment, seat and receipt, and idem's own, where they are missing. Safe to repeat and
/// to run from several processes at once. Rolled back with `tx`.
void install_tables(pqxx::dbtransaction& tx);

/// Writes in the caller's transaction and is rolled back with it. Stateless; safe to share between threads.
class PostgresRepository {
 public:
  void add_payment(pqxx::dbtransaction& tx, const Payment& payment);
  void add_seat(pqxx::dbtransaction& tx, const PaymentAuthorized& event);
  void add_receipt(pqxx::dbtransaction& tx, const PaymentAuthorized& event);
};

/// How many rows there are.
struct Summary {
  std::int64_t charges = 0;  ///< Payments authorized.
  std::int64_t declines = 0;
  std::int64_t seats = 0;
  std::int64_t receipts = 0;
  friend bool operator==(const Summary&, const Summary&) = default;
};

/// Counts what `tx` sees, all at one moment.
[[nodiscard]] Summary read_summary(pqxx::dbtransaction& tx);

}  // namespace payments
