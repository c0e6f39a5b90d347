// execute and transact on PostgreSQL.
#include <atomic>
#include <pqxx/pqxx>
#include <string>

#include "conformance/execute_conformance.hpp"
#include "postgres/test_database.hpp"
#include "postgres/test_unit.hpp"

namespace idem::conformance {
namespace {

enum class Loss { none, not_applied, applied };

// Owns its connection, as it must where one can be lost.
class Unit {
 public:
  Unit(const postgres_test::TestDatabase& database, Loss loss) : unit_{database}, loss_{loss} {}

  pqxx::dbtransaction& transaction() { return unit_.tx(); }
  void commit() {
    if (loss_ == Loss::not_applied) unit_.rollback();
    if (loss_ != Loss::not_applied) unit_.commit();
    if (loss_ != Loss::none) throw pqxx::in_doubt_error{"the connection was lost"};
  }

 private:
  postgres_test::TestUnit unit_;
  Loss loss_;
};

class PostgresFixture {
 public:
  using Tx = pqxx::dbtransaction;

  PostgresFixture() { database_.execute("CREATE TABLE payment (id text PRIMARY KEY)"); }

  const postgres::Backend& backend() const { return database_.backend(); }
  Unit begin() { return {database_, next_loss_.exchange(Loss::none)}; }
  void pay(Tx& tx, const std::string& id) {
    tx.exec("INSERT INTO \"" + database_.schema() + "\".payment VALUES (" + tx.quote(id) + ")");
  }
  std::size_t payments() {
    return static_cast<std::size_t>(database_.number("SELECT count(*) FROM payment"));
  }
  void conflict(Tx& tx) { tx.exec("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$"); }
  void lose_next_commit(bool applied) { next_loss_ = applied ? Loss::applied : Loss::not_applied; }
  void advance(std::chrono::milliseconds duration) { database_.advance(duration); }

 private:
  postgres_test::TestDatabase database_;
  std::atomic<Loss> next_loss_{Loss::none};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, ExecuteConformance, PostgresFixture);

}  // namespace
}  // namespace idem::conformance
