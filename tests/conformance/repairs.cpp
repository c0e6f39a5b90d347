// Repairs of UNKNOWN records on any backend.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "conformance/external_call_suite.hpp"
#include "idem/testing/race.hpp"

namespace idem::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

CONFORMANCE_TESTS_OF(ExternalCallConformance);

CONFORMANCE_TEST(ExternalCallConformance, ARepairSettlesTheUnknownThroughFinishOnce) {
  leave_unknown(request());
  const Repair repair = repair_of(request(), RepairAs::charged);
  EXPECT_EQ(apply(repair), Repaired::applied);
  const Record record = find().value();
  EXPECT_EQ(record.state, State::completed);
  EXPECT_EQ(record.resolved_by, "ann");
  EXPECT_EQ(fixture.state("k1"), "AUTHORIZED");
  EXPECT_THAT(events(), ElementsAre("PaymentAuthorized"));
  EXPECT_EQ(apply(repair), Repaired::done_before);
  EXPECT_EQ(finished, 1);
  expect_authorized();
}

CONFORMANCE_TEST(ExternalCallConformance, ARepairOfWhatTheDownstreamDeclinedIsTheDecline) {
  leave_unknown(request());
  fixture.advance(2 * lease);
  EXPECT_EQ(apply(repair_of(request(), RepairAs::declined)), Repaired::applied);
  EXPECT_EQ(fixture.state("k1"), "DECLINED");
  expect_replay(pay(), State::failed, declined);
  EXPECT_THAT(events(), ElementsAre("PaymentDeclined"));
}

CONFORMANCE_TEST(ExternalCallConformance, ARepairAsNotChargedWaitsUntilNothingCanArrive) {
  downstream = cannot_deduplicate("acquirer");
  acquirer.then(FakeCharge::time_out_before);
  (void)pay();
  const Repair repair = repair_of(request(), RepairAs::not_charged);
  EXPECT_THROW((void)apply(repair), TooEarly);
  EXPECT_EQ(state_of_record(), State::unknown);
  EXPECT_EQ(fixture.state("k1"), "UNKNOWN");
  EXPECT_THAT(events(), IsEmpty());
  fixture.advance(2 * lease);
  EXPECT_EQ(apply(repair), Repaired::applied);
  EXPECT_EQ(fixture.state("k1"), "DECLINED");
  EXPECT_EQ(state_of_record(), State::failed);
}

CONFORMANCE_TEST(ExternalCallConformance, ARepairOfWhatSomebodySettledMeanwhileChangesNothing) {
  leave_unknown(request());
  Repair repair = repair_of(request(), RepairAs::charged);
  EXPECT_EQ(apply(repair), Repaired::applied);
  // Another repair of the same record, as of another file.
  repair.repair_key = random_uuid_v4().to_string();
  EXPECT_EQ(apply(repair), Repaired::settled_already);
  EXPECT_EQ(apply(repair), Repaired::done_before);
  EXPECT_EQ(finished, 1);
  EXPECT_EQ(events().size(), 1U);
}

CONFORMANCE_TEST(ExternalCallConformance, ARepairWhoseFinishDecidesOtherwiseIsRefusedWithNothingChanged) {
  leave_unknown(request());
  Repair repair = repair_of(request(), RepairAs::charged);
  using Base = Payment;
  struct Wrong : Base {
    using Base::Base;
    [[nodiscard]] static FakeAcquirer::Answer answer_of(const Repair&) { return {false, "ch_1"}; }
  };
  const auto apply_wrong = [&] {
    auto unit = fixture.begin();
    return apply_repair(backend(), unit->transaction(), repair,
                        [this](Tx&, const LapsedRecord&) { return Wrong{*this}; });
  };
  EXPECT_THROW((void)apply_wrong(), InvalidArgument);
  // A charge whose time is not told is nobody's.
  repair.entry->at.reset();
  EXPECT_THROW((void)apply(repair), InvalidArgument);
  EXPECT_EQ(state_of_record(), State::unknown);
  EXPECT_EQ(fixture.state("k1"), "UNKNOWN");
  EXPECT_THAT(events(), IsEmpty());
}

CONFORMANCE_TEST(ExternalCallConformance, ARepairWithoutAnOperationIsLeft) {
  leave_unknown(request());
  const Repair repair = repair_of(request(), RepairAs::charged);
  {
    auto unit = fixture.begin();
    EXPECT_EQ(apply_repair(backend(), unit->transaction(), repair,
                           [](Tx&, const LapsedRecord&) -> std::optional<Payment> { return std::nullopt; }),
              Repaired::passed_over);
    unit->commit();
  }
  EXPECT_EQ(apply(repair), Repaired::applied);
}

CONFORMANCE_TEST(ExternalCallConformance, OfManyRepairsAtOnceOneIsApplied) {
  leave_unknown(request());
  const Repair repair = repair_of(request(), RepairAs::charged);
  std::atomic<int> applied{0};
  testing::race(8, [&](std::size_t) {
    for (;;) {
      try {
        auto unit = fixture.begin();
        const Repaired repaired = apply_repair(backend(), unit->transaction(), repair,
                                               [this](Tx&, const LapsedRecord&) { return Quiet{*this}; });
        unit->commit();
        if (repaired == Repaired::applied) ++applied;
        return;
      } catch (...) {
        if (backend().failure_of(std::current_exception()) != Failure::transient) throw;
      }
    }
  });
  EXPECT_EQ(applied, 1);
  EXPECT_EQ(events().size(), 1U);
  EXPECT_EQ(state_of_record(), State::completed);
}

}  // namespace

void register_repairs(const std::string& prefix, const Conformance::MakeFixture& make) {
  testing::register_conformance_cases(prefix + "/ExternalCallConformance", CONFORMANCE_CASES, make);
}

}  // namespace idem::conformance
