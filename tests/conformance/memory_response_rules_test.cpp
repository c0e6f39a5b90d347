// Rules for stored answers on the in-memory backend.
#include <memory>

#include "conformance/response_rules_conformance.hpp"
#include "idem/memory/database.hpp"
#include "idem/testing/fake_clock.hpp"

namespace idem::conformance {
namespace {

class MemoryFixture {
 public:
  using Tx = memory::Transaction;

  MemoryFixture(ResponseRules rules, std::size_t max_bytes)
      : database_{clock_, nullptr, std::move(rules), max_bytes} {}

  [[nodiscard]] const memory::Database& backend() const { return database_; }
  memory::Transaction begin() { return database_.begin(); }
  void advance(std::chrono::milliseconds duration) { clock_->advance(duration); }

 private:
  std::shared_ptr<testing::FakeClock> clock_ = std::make_shared<testing::FakeClock>();
  memory::Database database_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, ResponseRulesConformance, MemoryFixture);

}  // namespace
}  // namespace idem::conformance
