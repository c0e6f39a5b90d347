// The in-memory backend runs the suite that every store runs.
#include <memory>
#include <utility>

#include "idem/memory/database.hpp"
#include "idem/memory/subtransaction.hpp"
#include "idem/testing/fake_clock.hpp"
#include "idem/testing/store_conformance.hpp"

namespace idem::memory_test {
namespace {

struct Unit {
  explicit Unit(memory::Database& database) : tx{database.begin()}, held{database.store(tx)} {}

  IdempotencyStore& store() { return *held; }
  void commit() { tx.commit(); }
  void rollback() { tx.rollback(); }

  memory::Transaction tx;
  std::unique_ptr<IdempotencyStore> held;
};

struct Fixture {
  Unit begin() { return Unit{database}; }
  void advance(std::chrono::milliseconds duration) { clock->advance(duration); }

  std::shared_ptr<testing::FakeClock> clock = std::make_shared<testing::FakeClock>();
  memory::Database database{clock};
};

// The same inside a savepoint: a subtransaction is a transaction wherever one is asked for.
struct SubtransactionUnit {
  explicit SubtransactionUnit(memory::Database& database)
      : tx{database.begin()}, sub{std::make_unique<memory::Subtransaction>(tx)}, held{database.store(*sub)} {}

  IdempotencyStore& store() { return *held; }
  void commit() {
    sub->commit();
    tx.commit();
  }
  void rollback() { tx.rollback(); }

  memory::Transaction tx;
  std::unique_ptr<memory::Subtransaction> sub;
  std::unique_ptr<IdempotencyStore> held;
};

struct SubtransactionFixture : Fixture {
  SubtransactionUnit begin() { return SubtransactionUnit{database}; }
};

}  // namespace
}  // namespace idem::memory_test

namespace idem::testing {
INSTANTIATE_TYPED_TEST_SUITE_P(Memory, StoreConformance, memory_test::Fixture);
INSTANTIATE_TYPED_TEST_SUITE_P(MemorySubtransaction, StoreConformance, memory_test::SubtransactionFixture);
}  // namespace idem::testing
