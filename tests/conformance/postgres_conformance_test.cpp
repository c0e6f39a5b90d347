// PostgreSQL runs the suite that every store runs.
#include <memory>
#include <pqxx/pqxx>
#include <utility>

#include "idem/testing/store_conformance.hpp"
#include "postgres/test_database.hpp"

namespace idem::postgres_test {
namespace {

struct Unit {
  explicit Unit(const TestDatabase& database)
      : connection{database.connect()},
        tx{std::make_unique<pqxx::work>(*connection)},
        held{std::make_unique<postgres::Store>(database.backend().store(*tx))} {}

  IdempotencyStore& store() { return *held; }
  void commit() { tx->commit(); }
  void rollback() { tx->abort(); }

  std::unique_ptr<pqxx::connection> connection;
  std::unique_ptr<pqxx::work> tx;
  std::unique_ptr<postgres::Store> held;
};

struct Fixture {
  Unit begin() { return Unit{database}; }
  void advance(std::chrono::milliseconds duration) { database.advance(duration); }

  TestDatabase database;
};

}  // namespace
}  // namespace idem::postgres_test

namespace idem::testing {
INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, StoreConformance, postgres_test::Fixture);
}
