// Outbox::append on PostgreSQL.
#include <pqxx/pqxx>
#include <string>

#include "base/hex.hpp"
#include "conformance/outbox_conformance.hpp"
#include "postgres/row.hpp"
#include "postgres/test_database.hpp"
#include "postgres/test_unit.hpp"

namespace idem::conformance {
namespace {

class PostgresFixture {
 public:
  const postgres::Backend& backend() const { return database_.backend(); }
  postgres_test::TestUnit begin() { return postgres_test::TestUnit{database_}; }
  std::vector<OutboxEvent> events() {
    const auto connection = database_.connect();
    pqxx::work tx{*connection};
    const pqxx::result rows = tx.exec(
        "SELECT event_id, aggregate_type, aggregate_id, event_type, encode(payload, 'hex'), encode(headers, "
        "'hex'), "
        "sequence, (extract(epoch FROM created_at) * 1000000)::bigint FROM idem_outbox ORDER BY sequence");
    std::vector<OutboxEvent> events;
    for (const auto& row : rows) {
      const auto headers = from_hex(row[5].as<std::string>()).value();
      events.push_back(
          {Uuid::parse(row[0].as<std::string>()).value(),
           {row[1].as<std::string>(), row[2].as<std::string>(), row[3].as<std::string>(),
            from_hex(row[4].as<std::string>()).value(),
            postgres::decode_headers({reinterpret_cast<const char*>(headers.data()), headers.size()})},
           row[6].as<std::int64_t>(),
           TimePoint{std::chrono::microseconds{row[7].as<std::int64_t>()}}});
    }
    return events;
  }
  TimePoint now() const {
    return TimePoint{std::chrono::microseconds{
        database_.number("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")}};
  }

 private:
  postgres_test::TestDatabase database_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, OutboxConformance, PostgresFixture);

// Stored, so it never changes: SHA-256, computed elsewhere.
TEST(Outbox, AnAggregatesShardIsFrozen) {
  const postgres_test::TestDatabase database;
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  Outbox{database.backend()}.append(tx, {"payment", "p1", "Paid", {}});
  EXPECT_EQ(tx.exec("SELECT shard FROM idem_outbox")[0][0].as<int>(), 162);
}

}  // namespace
}  // namespace idem::conformance
