// PostgreSQL runs the suite that every store runs.
#include <chrono>
#include <memory>

#include "idem/testing/store_conformance.hpp"
#include "postgres/test_database.hpp"
#include "postgres/test_unit.hpp"

namespace idem::postgres_test {
namespace {

class Unit final : public testing::StoreUnit {
 public:
  explicit Unit(const TestDatabase& database)
      : unit_{database}, store_{database.backend().store(unit_.transaction())} {}

  IdempotencyStore& store() override { return *store_; }
  void commit() override { unit_.commit(); }
  void rollback() override { unit_.rollback(); }

 private:
  TestUnit unit_;
  std::unique_ptr<IdempotencyStore> store_;
};

class Fixture final : public testing::StoreFixture {
 public:
  std::unique_ptr<testing::StoreUnit> begin() override { return std::make_unique<Unit>(database_); }
  void advance(std::chrono::milliseconds duration) override { database_.advance(duration); }
  bool keeps_its_snapshot() const override { return transaction_kind().keeps_its_snapshot(); }

 private:
  TestDatabase database_;
};

const bool registered = [] {
  testing::register_store_conformance("Postgres", [] { return std::make_unique<Fixture>(); });
  return true;
}();

}  // namespace
}  // namespace idem::postgres_test
