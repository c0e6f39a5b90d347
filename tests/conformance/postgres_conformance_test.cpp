// PostgreSQL runs the suite that every store runs.
#include <memory>

#include "idem/testing/store_conformance.hpp"
#include "postgres/test_database.hpp"
#include "postgres/test_unit.hpp"

namespace idem::postgres_test {
namespace {

struct Unit {
  explicit Unit(const TestDatabase& database)
      : unit{database}, held{database.backend().store(unit.transaction())} {}

  IdempotencyStore& store() { return *held; }
  void commit() { unit.commit(); }
  void rollback() { unit.rollback(); }

  TestUnit unit;
  std::unique_ptr<IdempotencyStore> held;
};

struct Fixture {
  Unit begin() { return Unit{database}; }
  static bool keeps_its_snapshot() { return transaction_kind().keeps_its_snapshot(); }
  void advance(std::chrono::milliseconds duration) { database.advance(duration); }

  TestDatabase database;
};

}  // namespace
}  // namespace idem::postgres_test

namespace idem::testing {
INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, StoreConformance, postgres_test::Fixture);
}
