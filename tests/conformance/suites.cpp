#include "conformance/suites.hpp"

#include <memory>
#include <utility>

#include "idem/testing/store_conformance.hpp"

namespace idem::conformance {
namespace {

class StoreUnit final : public testing::StoreUnit {
 public:
  explicit StoreUnit(Fixture& fixture)
      : unit_{fixture.begin()}, store_{fixture.backend().store(unit_->transaction())} {}

  IdempotencyStore& store() override { return *store_; }
  void commit() override { unit_->commit(); }
  void rollback() override { unit_->rollback(); }

 private:
  std::unique_ptr<Unit> unit_;
  std::unique_ptr<IdempotencyStore> store_;
};

class StoreFixture final : public testing::StoreFixture {
 public:
  explicit StoreFixture(std::unique_ptr<Fixture> fixture) : fixture_{std::move(fixture)} {}

  std::unique_ptr<testing::StoreUnit> begin() override { return std::make_unique<StoreUnit>(*fixture_); }
  void advance(std::chrono::milliseconds duration) override { fixture_->advance(duration); }
  bool keeps_its_snapshot() const override { return fixture_->keeps_its_snapshot(); }

 private:
  std::unique_ptr<Fixture> fixture_;
};

}  // namespace

void register_conformance(const std::string& prefix, const Conformance::MakeFixture& make) {
  testing::register_store_conformance(prefix, [make] { return std::make_unique<StoreFixture>(make({})); });
  register_execute(prefix, make);
  register_external_call(prefix, make);
  register_sweep(prefix, make);
  register_repairs(prefix, make);
  register_inbox(prefix, make);
  register_outbox(prefix, make);
  register_response_rules(prefix, make);
}

}  // namespace idem::conformance
