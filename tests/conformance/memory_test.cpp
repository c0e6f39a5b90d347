// The in-memory backend runs the suite that every store runs.
#include <chrono>
#include <memory>

#include "idem/memory/database.hpp"
#include "idem/memory/subtransaction.hpp"
#include "idem/testing/fake_clock.hpp"
#include "idem/testing/store_conformance.hpp"

namespace idem::memory_test {
namespace {

class Unit final : public testing::StoreUnit {
 public:
  explicit Unit(memory::Database& database) : tx_{database.begin()}, store_{database.store(tx_)} {}

  IdempotencyStore& store() override { return *store_; }
  void commit() override { tx_.commit(); }
  void rollback() override { tx_.rollback(); }

 private:
  memory::Transaction tx_;
  std::unique_ptr<IdempotencyStore> store_;
};

// The same inside a savepoint: a subtransaction is a transaction wherever one is asked for.
class SubtransactionUnit final : public testing::StoreUnit {
 public:
  explicit SubtransactionUnit(memory::Database& database)
      : tx_{database.begin()}, sub_{tx_}, store_{database.store(sub_)} {}

  IdempotencyStore& store() override { return *store_; }
  void commit() override {
    sub_.commit();
    tx_.commit();
  }
  void rollback() override { tx_.rollback(); }

 private:
  memory::Transaction tx_;
  memory::Subtransaction sub_;
  std::unique_ptr<IdempotencyStore> store_;
};

template <class Unit>
class Fixture final : public testing::StoreFixture {
 public:
  std::unique_ptr<testing::StoreUnit> begin() override { return std::make_unique<Unit>(database_); }
  void advance(std::chrono::milliseconds duration) override { clock_->advance(duration); }

 private:
  std::shared_ptr<testing::FakeClock> clock_ = std::make_shared<testing::FakeClock>();
  memory::Database database_{clock_};
};

const bool registered = [] {
  testing::register_store_conformance("Memory", [] { return std::make_unique<Fixture<Unit>>(); });
  testing::register_store_conformance("MemorySubtransaction",
                                      [] { return std::make_unique<Fixture<SubtransactionUnit>>(); });
  return true;
}();

}  // namespace
}  // namespace idem::memory_test
