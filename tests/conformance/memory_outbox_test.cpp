// Outbox::append on the in-memory backend.
#include "conformance/outbox_conformance.hpp"
#include "idem/memory/database.hpp"

namespace idem::conformance {
namespace {

class MemoryFixture {
 public:
  const memory::Database& backend() const { return database_; }
  memory::Transaction begin() { return database_.begin(); }
  std::vector<OutboxEvent> events() {
    auto tx = database_.begin();
    return database_.outbox_events(tx);
  }
  static TimePoint now() { return SystemClock{}.now(); }

 private:
  memory::Database database_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, OutboxConformance, MemoryFixture);

}  // namespace
}  // namespace idem::conformance
