// Inbox, VersionGuard and the purge on PostgreSQL.
#include <pqxx/pqxx>
#include <string>

#include "conformance/inbox_conformance.hpp"
#include "postgres/test_database.hpp"
#include "postgres/test_unit.hpp"

namespace idem::conformance {
namespace {

class PostgresFixture {
 public:
  using Tx = pqxx::dbtransaction;

  PostgresFixture() { database_.execute("CREATE TABLE seat (id text NOT NULL)"); }

  const postgres::Backend& backend() const { return database_.backend(); }
  postgres_test::TestUnit begin() { return postgres_test::TestUnit{database_}; }
  void enrol(Tx& tx, const std::string& id) {
    tx.exec("INSERT INTO \"" + database_.schema() + "\".seat VALUES (" + tx.quote(id) + ")");
  }
  std::size_t enrolled() { return count("SELECT count(*) FROM seat"); }
  void advance(std::chrono::milliseconds duration) { database_.advance(duration); }
  TimePoint now() const {
    return TimePoint{std::chrono::microseconds{
        database_.number("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")}};
  }
  std::size_t inbox_rows() { return count("SELECT count(*) FROM idem_inbox"); }
  static bool keeps_its_snapshot() { return postgres_test::transaction_kind().keeps_its_snapshot(); }

 private:
  std::size_t count(const std::string& sql) { return static_cast<std::size_t>(database_.number(sql)); }

  postgres_test::TestDatabase database_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, InboxConformance, PostgresFixture);

}  // namespace
}  // namespace idem::conformance
