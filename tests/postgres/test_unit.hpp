// A transaction with a connection of its own, at the isolation level and depth that the run of the tests asks for.
#pragma once

#include <memory>
#include <pqxx/pqxx>
#include <string>

#include "postgres/test_database.hpp"

namespace idem::postgres_test {

/// What a run asks for, by environment variables, so that one binary serves all of them.
struct TransactionKind {
  /// IDEM_TEST_ISOLATION, such as "repeatable read"; empty for the server's default.
  std::string isolation;
  /// IDEM_TEST_SUBTRANSACTION is set: everything is done in a savepoint.
  bool in_subtransaction = false;

  /// A transaction sees nothing that others commit after its beginning, and is refused where it would have to.
  [[nodiscard]] bool keeps_its_snapshot() const {
    return !isolation.empty() && isolation != "read committed";
  }
};

[[nodiscard]] const TransactionKind& transaction_kind();

/// Rolls back when it is destroyed uncommitted.
class TestUnit {
 public:
  /// `database` must outlive it.
  explicit TestUnit(const TestDatabase& database);
  TestUnit(TestUnit&&) noexcept = default;
  TestUnit& operator=(TestUnit&&) = delete;
  ~TestUnit();

  [[nodiscard]] pqxx::dbtransaction& tx();
  /// Throws TransactionConflict where a race refuses it.
  void commit();
  void rollback();

 private:
  const TestDatabase* database_;
  std::unique_ptr<pqxx::connection> connection_;
  std::unique_ptr<pqxx::work> work_;
  std::unique_ptr<pqxx::subtransaction> sub_;
};

}  // namespace idem::postgres_test
