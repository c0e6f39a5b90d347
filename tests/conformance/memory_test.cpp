// The in-memory backend runs the suites that every backend runs.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "conformance/lossy_unit.hpp"
#include "conformance/suites.hpp"
#include "idem/memory/database.hpp"
#include "idem/memory/subtransaction.hpp"
#include "idem/memory/table.hpp"
#include "idem/testing/fake_clock.hpp"

namespace idem::conformance {
namespace {

class Whole {
 public:
  explicit Whole(memory::Database& database) : tx_{database.begin()} {}

  memory::TransactionBase& transaction() { return tx_; }
  void commit() { tx_.commit(); }
  void rollback() { tx_.rollback(); }

 private:
  memory::Transaction tx_;
};

// The same inside a savepoint: a subtransaction is a transaction wherever one is asked for.
class InSavepoint {
 public:
  explicit InSavepoint(memory::Database& database) : tx_{database.begin()}, sub_{tx_} {}

  memory::TransactionBase& transaction() { return sub_; }
  void commit() {
    sub_.commit();
    tx_.commit();
  }
  void rollback() { tx_.rollback(); }

 private:
  memory::Transaction tx_;
  memory::Subtransaction sub_;
};

template <class Inner>
class MemoryFixture final : public Fixture {
 public:
  explicit MemoryFixture(FixtureOptions options)
      : database_{clock_, nullptr, std::move(options.responses), options.max_response_bytes} {}

  const Backend& backend() const override { return backend_; }
  std::unique_ptr<Unit> begin() override {
    return std::make_unique<LossyUnit<Inner, memory::CommitLost>>(losses_, database_);
  }
  std::size_t open_units() const override { return static_cast<std::size_t>(losses_.units.load()); }

  void advance(std::chrono::milliseconds duration) override { clock_->advance(duration); }
  bool keeps_its_snapshot() const override { return false; }
  TimePoint now() const override { return clock_->now(); }
  bool clock_stands_still() const override { return true; }

  void conflict(Tx&) override { throw TransactionConflict{"made by the test"}; }
  void lose_commit(int which, bool applied) override { losses_.lose(which, applied); }
  void lose_next_commit(bool applied) override {
    database_.lose_next_commit(applied ? memory::LostCommit::after_applying
                                       : memory::LostCommit::before_applying);
  }

  void make_tables() override {}
  void pay(Tx& tx, const std::string& id) override {
    if (!payments_.insert(real(tx), id, "PAID")) throw std::logic_error{"paid twice"};
  }
  void put(Tx& tx, const std::string& id, const std::string& state) override {
    payments_.put(real(tx), id, state);
  }
  std::size_t payments() override {
    auto tx = database_.begin();
    return payments_.size(tx);
  }
  std::optional<std::string> state(const std::string& id) override {
    auto tx = database_.begin();
    return payments_.find(tx, id);
  }
  void enrol(Tx& tx, const std::string& id) override {
    if (!seats_.insert(real(tx), id + " " + std::to_string(++last_), 1))
      throw std::logic_error{"a row twice"};
  }
  std::size_t enrolled() override {
    auto tx = database_.begin();
    return seats_.size(tx);
  }

  std::vector<OutboxEvent> outbox() override {
    auto tx = database_.begin();
    return database_.outbox_events(tx);
  }
  std::size_t inbox_rows() override { return database_.inbox_count(); }

 private:
  static memory::TransactionBase& real(Tx& tx) { return real_transaction<memory::TransactionBase>(tx); }

  std::shared_ptr<testing::FakeClock> clock_ = std::make_shared<testing::FakeClock>();
  memory::Database database_;
  BackendOf<memory::Database, memory::TransactionBase> backend_{database_};
  memory::Table<std::string, std::string> payments_{database_};
  memory::Table<std::string, int> seats_{database_};
  std::atomic<int> last_{0};
  CommitsToLose losses_;
};

template <class Inner>
std::unique_ptr<Fixture> make_fixture(FixtureOptions options) {
  return std::make_unique<MemoryFixture<Inner>>(std::move(options));
}

const bool registered = [] {
  register_conformance("Memory", make_fixture<Whole>);
  register_conformance("MemorySubtransaction", make_fixture<InSavepoint>);
  return true;
}();

}  // namespace
}  // namespace idem::conformance
