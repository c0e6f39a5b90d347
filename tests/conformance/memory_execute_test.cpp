// execute and transact on the in-memory backend.
#include <memory>
#include <string>

#include "conformance/execute_conformance.hpp"
#include "idem/memory/database.hpp"
#include "idem/memory/table.hpp"
#include "idem/testing/fake_clock.hpp"

namespace idem::conformance {
namespace {

class MemoryFixture {
 public:
  using Tx = memory::Transaction;

  const memory::Database& backend() const { return database_; }
  memory::Transaction begin() { return database_.begin(); }
  void pay(Tx& tx, const std::string& id) {
    if (!payments_.insert(tx, id, 1290)) throw std::logic_error{"paid twice"};
  }
  std::size_t payments() {
    auto tx = database_.begin();
    return payments_.size(tx);
  }
  [[noreturn]] void conflict(Tx&) { throw TransactionConflict{"made by the test"}; }
  void lose_next_commit(bool applied) {
    database_.lose_next_commit(applied ? memory::LostCommit::after_applying
                                       : memory::LostCommit::before_applying);
  }
  void advance(std::chrono::milliseconds duration) { clock_->advance(duration); }

 private:
  std::shared_ptr<testing::FakeClock> clock_ = std::make_shared<testing::FakeClock>();
  memory::Database database_{clock_};
  memory::Table<std::string, int> payments_{database_};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, ExecuteConformance, MemoryFixture);

}  // namespace
}  // namespace idem::conformance
