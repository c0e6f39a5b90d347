// A transaction with a connection of its own, of the kind that its database is for.
#pragma once

#include <memory>
#include <pqxx/pqxx>
#include <string>

#include "postgres/test_database.hpp"

namespace idem::postgres_test {

/// Rolls back when it is destroyed uncommitted.
class TestUnit {
 public:
  /// `database` must outlive it.
  explicit TestUnit(const TestDatabase& database);
  TestUnit(TestUnit&&) noexcept = default;
  TestUnit& operator=(TestUnit&&) = delete;
  ~TestUnit();

  [[nodiscard]] pqxx::dbtransaction& transaction();
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
