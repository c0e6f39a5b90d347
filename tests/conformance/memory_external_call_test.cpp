// external_call and the sweep on the in-memory backend.
#include <memory>
#include <optional>
#include <string>

#include "conformance/external_call_conformance.hpp"
#include "conformance/lossy_unit.hpp"
#include "idem/memory/database.hpp"
#include "idem/memory/table.hpp"
#include "idem/testing/fake_clock.hpp"

namespace idem::conformance {
namespace {

class MemoryFixture {
 public:
  using Tx = memory::Transaction;
  using Unit = LossyUnit<memory::Transaction, memory::CommitLost>;

  static constexpr bool clock_stands_still = true;

  const memory::Database& backend() const { return database_; }
  Unit begin() { return {database_.begin(), losses_}; }
  std::size_t open_units() { return static_cast<std::size_t>(losses_.units.load()); }
  void put(Tx& tx, const std::string& id, const std::string& state) { payments_.put(tx, id, state); }
  std::optional<std::string> state(const std::string& id) {
    auto tx = database_.begin();
    return payments_.find(tx, id);
  }
  [[noreturn]] void conflict(Tx&) { throw TransactionConflict{"made by the test"}; }
  void lose_commit(int which, bool applied) { losses_.lose(which, applied); }
  std::vector<std::string> events() {
    auto tx = database_.begin();
    std::vector<std::string> types;
    for (const OutboxEvent& event : database_.outbox_events(tx)) types.push_back(event.message.event_type);
    return types;
  }
  void advance(std::chrono::milliseconds duration) { clock_->advance(duration); }

 private:
  std::shared_ptr<testing::FakeClock> clock_ = std::make_shared<testing::FakeClock>();
  memory::Database database_{clock_};
  memory::Table<std::string, std::string> payments_{database_};
  CommitsToLose losses_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, ExternalCallConformance, MemoryFixture);

}  // namespace
}  // namespace idem::conformance
