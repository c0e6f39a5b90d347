// execute and transact on PostgreSQL.
#include <pqxx/pqxx>
#include <string>

#include "conformance/execute_conformance.hpp"
#include "conformance/lossy_unit.hpp"
#include "postgres/test_database.hpp"
#include "postgres/test_unit.hpp"

namespace idem::conformance {
namespace {

class PostgresFixture {
 public:
  using Tx = pqxx::dbtransaction;
  using Unit = LossyUnit<postgres_test::TestUnit, pqxx::in_doubt_error>;

  PostgresFixture() { database_.execute("CREATE TABLE payment (id text PRIMARY KEY)"); }

  const postgres::Backend& backend() const { return database_.backend(); }
  Unit begin() { return {postgres_test::TestUnit{database_}, losses_}; }
  void pay(Tx& tx, const std::string& id) {
    tx.exec("INSERT INTO \"" + database_.schema() + "\".payment VALUES (" + tx.quote(id) + ")");
  }
  std::size_t payments() {
    return static_cast<std::size_t>(database_.number("SELECT count(*) FROM payment"));
  }
  void conflict(Tx& tx) { tx.exec("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$"); }
  void lose_next_commit(bool applied) { losses_.lose(1, applied); }
  void advance(std::chrono::milliseconds duration) { database_.advance(duration); }

 private:
  postgres_test::TestDatabase database_;
  CommitsToLose losses_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, ExecuteConformance, PostgresFixture);

}  // namespace
}  // namespace idem::conformance
