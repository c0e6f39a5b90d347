// The suite that every store passes, on a store that a user wrote: here the in-memory one again.
#include <idem/memory/database.hpp>
#include <idem/testing/fake_clock.hpp>
#include <idem/testing/store_conformance.hpp>

namespace {

// ---- idem/testing/store_conformance.hpp ----------------------------------------------------------
class MyUnit final : public idem::testing::StoreUnit {
 public:
  explicit MyUnit(idem::memory::Database& database)
      : transaction_{database.begin()}, store_{database.store(transaction_)} {}

  idem::IdempotencyStore& store() override { return *store_; }
  void commit() override { transaction_.commit(); }
  void rollback() override { transaction_.rollback(); }

 private:
  idem::memory::Transaction transaction_;
  std::unique_ptr<idem::IdempotencyStore> store_;
};

class MyFixture final : public idem::testing::StoreFixture {
 public:
  std::unique_ptr<idem::testing::StoreUnit> begin() override { return std::make_unique<MyUnit>(database_); }
  void advance(std::chrono::milliseconds duration) override { clock_->advance(duration); }

 private:
  std::shared_ptr<idem::testing::FakeClock> clock_ = std::make_shared<idem::testing::FakeClock>();
  idem::memory::Database database_{clock_};
};

// Before main(), which GTest::gtest_main has.
const bool registered = [] {
  idem::testing::register_store_conformance("MyStore", [] { return std::make_unique<MyFixture>(); });
  return true;
}();
// ---- idem/testing/store_conformance.hpp ----------------------------------------------------------

}  // namespace
