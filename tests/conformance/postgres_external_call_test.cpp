// external_call and the sweep on PostgreSQL.
#include <optional>
#include <pqxx/pqxx>
#include <string>

#include "conformance/external_call_conformance.hpp"
#include "conformance/lossy_unit.hpp"
#include "postgres/test_database.hpp"
#include "postgres/test_unit.hpp"

namespace idem::conformance {
namespace {

class PostgresFixture {
 public:
  using Tx = pqxx::dbtransaction;
  using Unit = LossyUnit<postgres_test::TestUnit, pqxx::in_doubt_error>;

  static constexpr bool clock_stands_still = false;

  PostgresFixture() { database_.execute("CREATE TABLE payment (id text PRIMARY KEY, state text NOT NULL)"); }

  const postgres::Backend& backend() const { return database_.backend(); }
  Unit begin() { return {postgres_test::TestUnit{database_}, losses_}; }
  std::size_t open_units() { return static_cast<std::size_t>(losses_.units.load()); }
  void put(Tx& tx, const std::string& id, const std::string& state) {
    tx.exec("INSERT INTO \"" + database_.schema() + "\".payment VALUES (" + tx.quote(id) + ", " +
            tx.quote(state) + ") ON CONFLICT (id) DO UPDATE SET state = excluded.state");
  }
  std::optional<std::string> state(const std::string& id) {
    const auto connection = database_.connect();
    pqxx::work tx{*connection};
    const pqxx::result rows = tx.exec("SELECT state FROM payment WHERE id = " + tx.quote(id));
    if (rows.empty()) return std::nullopt;
    return rows[0][0].as<std::string>();
  }
  void conflict(Tx& tx) { tx.exec("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$"); }
  void lose_commit(int which, bool applied) { losses_.lose(which, applied); }
  std::vector<std::string> events() {
    const auto connection = database_.connect();
    pqxx::work tx{*connection};
    const pqxx::result rows = tx.exec("SELECT event_type FROM idem_outbox ORDER BY sequence");
    std::vector<std::string> types;
    for (const auto& row : rows) types.push_back(row[0].as<std::string>());
    return types;
  }
  void advance(std::chrono::milliseconds duration) { database_.advance(duration); }

 private:
  postgres_test::TestDatabase database_;
  CommitsToLose losses_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, ExternalCallConformance, PostgresFixture);

}  // namespace
}  // namespace idem::conformance
