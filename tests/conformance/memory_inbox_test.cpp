// Inbox, VersionGuard and the purge on the in-memory backend.
#include <memory>
#include <string>

#include "conformance/inbox_conformance.hpp"
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
  void enrol(Tx& tx, const std::string& id) {
    if (!seats_.insert(tx, id + " " + std::to_string(++last_), 1)) throw std::logic_error{"a row twice"};
  }
  std::size_t enrolled() {
    auto tx = database_.begin();
    return seats_.size(tx);
  }
  void advance(std::chrono::milliseconds duration) { clock_->advance(duration); }
  TimePoint now() const { return clock_->now(); }
  std::size_t inbox_rows() { return database_.inbox_count(); }
  static bool keeps_its_snapshot() { return false; }

 private:
  std::shared_ptr<testing::FakeClock> clock_ = std::make_shared<testing::FakeClock>();
  memory::Database database_{clock_};
  memory::Table<std::string, int> seats_{database_};
  std::atomic<int> last_{0};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, InboxConformance, MemoryFixture);

}  // namespace
}  // namespace idem::conformance
