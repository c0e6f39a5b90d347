// Rules for stored answers on PostgreSQL.
#include <pqxx/pqxx>

#include "conformance/response_rules_conformance.hpp"
#include "postgres/test_database.hpp"
#include "postgres/test_unit.hpp"

namespace idem::conformance {
namespace {

class PostgresFixture {
 public:
  using Tx = pqxx::dbtransaction;

  PostgresFixture(ResponseRules rules, std::size_t max_bytes)
      : database_{{.max_response_bytes = max_bytes, .responses = std::move(rules)}} {}

  [[nodiscard]] const postgres::Backend& backend() const { return database_.backend(); }
  postgres_test::TestUnit begin() { return postgres_test::TestUnit{database_}; }
  void advance(std::chrono::milliseconds duration) { database_.advance(duration); }

 private:
  postgres_test::TestDatabase database_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, ResponseRulesConformance, PostgresFixture);

}  // namespace
}  // namespace idem::conformance
