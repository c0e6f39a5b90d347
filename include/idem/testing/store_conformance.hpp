// The suite that says whether a store answers as a store must: every row of the state table and every rule.
//
// Both backends of this library run it. It is compiled once, in idem::testing: to run it on a store of your own, derive two
// classes, register the suite for them, and link idem::testing and GTest::gtest_main.
//
//     class MyUnit final : public idem::testing::StoreUnit {
//      public:
//       explicit MyUnit(idem::memory::Database& database)
//           : transaction_{database.begin()}, store_{database.store(transaction_)} {}
//
//       idem::IdempotencyStore& store() override { return *store_; }
//       void commit() override { transaction_.commit(); }
//       void rollback() override { transaction_.rollback(); }
//
//      private:
//       idem::memory::Transaction transaction_;
//       std::unique_ptr<idem::IdempotencyStore> store_;
//     };
//
//     class MyFixture final : public idem::testing::StoreFixture {
//      public:
//       std::unique_ptr<idem::testing::StoreUnit> begin() override { return std::make_unique<MyUnit>(database_); }
//       void advance(std::chrono::milliseconds duration) override { clock_->advance(duration); }
//
//      private:
//       std::shared_ptr<idem::testing::FakeClock> clock_ = std::make_shared<idem::testing::FakeClock>();
//       idem::memory::Database database_{clock_};
//     };
//
//     // Before main(), which GTest::gtest_main has.
//     const bool registered = [] {
//       idem::testing::register_store_conformance("MyStore", [] { return std::make_unique<MyFixture>(); });
//       return true;
//     }();
//
// A test's name is MyStore/StoreConformance.RowCompletedIsReplay, say. It begins with what the test is about: a row of the
// state table (Row…), a rule (Rule1… to Rule12…, as docs/guarantees.md counts them), an identity, the stored content, a
// duplicate that waits (InFlight…), or a race. Rule 13, the recovery of records that nobody retries, is not a store's.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "idem/record/store.hpp"

namespace idem {
inline namespace v0 {
namespace testing {

/// One transaction of its own, at the isolation level READ COMMITTED or what corresponds to it. The destructor rolls back
/// where neither commit() nor rollback() was called. Up to 34 are open at once.
class StoreUnit {
 public:
  virtual ~StoreUnit() = default;

  /// The store of this transaction; valid while the unit lives.
  [[nodiscard]] virtual IdempotencyStore& store() = 0;

  /// After LeaseLost it must commit nothing, and may say so by throwing.
  virtual void commit() = 0;
  virtual void rollback() = 0;
};

/// An empty store. Made anew for each test, on the thread that runs it; where that throws, the test fails.
class StoreFixture {
 public:
  virtual ~StoreFixture() = default;

  /// Begins a transaction. Called from several threads at once.
  [[nodiscard]] virtual std::unique_ptr<StoreUnit> begin() = 0;

  /// Moves the store's time forward. Called only while no open unit has written anything, so a store on a server may shift
  /// its rows' times back instead of moving a clock. Time may also pass by itself: no test depends on less than a minute
  /// of it.
  virtual void advance(std::chrono::milliseconds duration) = 0;

  /// True at a stricter level than READ COMMITTED: a call or a commit may then throw TransactionConflict where it would have
  /// to see what was committed after the unit's beginning, and the suite runs the whole transaction again. A unit's
  /// commit() throws TransactionConflict too where the store's own exception is another one.
  [[nodiscard]] virtual bool keeps_its_snapshot() const { return false; }
};

/// Adds the suite to GoogleTest's tests, as `<prefix>/StoreConformance.<Test>`; each test runs on a fixture of `make`. The
/// tests write nothing but records, so no table of the suite's own is needed. Call it before RUN_ALL_TESTS(), from main()
/// or while a variable is initialised, with another prefix for each kind of store or transaction.
void register_store_conformance(const std::string& prefix,
                                const std::function<std::unique_ptr<StoreFixture>()>& make);

}  // namespace testing
}  // namespace v0
}  // namespace idem
