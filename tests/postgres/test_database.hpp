// A schema on the test server that is no other test's meanwhile, with idem installed in it and empty (schema_pool.hpp).
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <pqxx/pqxx>
#include <string>

#include "idem/postgres/backend.hpp"
#include "postgres/connection_pool.hpp"
#include "postgres/transaction_kind.hpp"

namespace idem::postgres_test {

/// The server that the tests are given. Throws std::runtime_error where IDEM_TEST_DATABASE_URL is not set.
[[nodiscard]] std::string url_of_server();

/// Needs IDEM_TEST_DATABASE_URL (scripts/with-postgres sets it); throws std::runtime_error without it: a test that
/// needs a server fails where there is none, it does not skip.
class TestDatabase {
 public:
  explicit TestDatabase(postgres::BackendOptions options = {}, const TransactionKind& kind = read_committed);
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;
  ~TestDatabase();

  /// A new connection whose search path is this database's schema, and whose transactions are of its level. Safe from
  /// several threads.
  [[nodiscard]] std::unique_ptr<pqxx::connection> connect() const;

  /// Where a program under test connects to, and works in this database's schema.
  [[nodiscard]] std::string url() const;

  /// Connections for the transactions that are tested: through the pooler where the kind says so, and then with no search
  /// path of their own, so that they name the schema. One that was given back, or a new one: making one takes longer than most
  /// transactions. Safe from several threads.
  [[nodiscard]] std::unique_ptr<pqxx::connection> borrow() const;
  void give_back(std::unique_ptr<pqxx::connection> connection) const;

  [[nodiscard]] const postgres::Backend& backend() const { return backend_; }
  [[nodiscard]] const std::string& schema() const { return schema_; }
  [[nodiscard]] const TransactionKind& kind() const { return kind_; }

  /// Runs `sql` in a transaction of its own.
  void execute(const std::string& sql) const;
  /// The one number that `sql` selects.
  [[nodiscard]] long long number(const std::string& sql) const;

  /// Moves the records' times back, as if that much time had passed.
  void advance(std::chrono::milliseconds duration) const;

 private:
  std::string url_;
  TransactionKind kind_;
  std::string schema_;
  postgres::Backend backend_;
  // What its own statements run on.
  mutable ConnectionPool own_;
  mutable ConnectionPool borrowed_;
};

/// Commits as a caller does who swallowed the error: the server rolls back. libpqxx 6 says so, 7 and later do not.
template <class Transaction>
void commit_what_cannot_be(Transaction& tx) {
  try {
    tx.commit();
  } catch (const std::exception&) {
    // It says so.
  }
}

/// Waits, without sleeping in between, until `sql` selects true on a connection of its own. Throws after a minute.
void wait_until(const TestDatabase& database, const std::string& sql);

}  // namespace idem::postgres_test
