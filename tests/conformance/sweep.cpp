// The recovery sweep on any backend.
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

CONFORMANCE_TEST(ExternalCallConformance, ASweepSettlesWhatNobodyRetries) {
  for (const char* key : {"a", "b", "c"}) leave_in_the_gap(request(key));
  const SweepPass passed = sweep();
  EXPECT_EQ(passed.lapsed, 3U);
  EXPECT_EQ(passed.settled, 3U);
  EXPECT_TRUE(passed.oldest_age.has_value());
  EXPECT_EQ(acquirer.ledger().size(), 3U);
  for (const char* key : {"a", "b", "c"}) EXPECT_EQ(fixture.state(key), "AUTHORIZED");
  EXPECT_EQ(events().size(), 3U);
  EXPECT_EQ(prepared, 3);
  const SweepPass nothing = sweep();
  EXPECT_EQ(nothing.lapsed, 0U);
  EXPECT_EQ(nothing.oldest_age, std::nullopt);
}

CONFORMANCE_TEST(ExternalCallConformance, ASweepLeavesLiveLeasesOtherOperationsAndSettledRecordsAlone) {
  (void)pay(request("settled"));
  Request other = request("other");
  other.key.operation = "POST /refunds";
  leave_in_the_gap(other);
  before_call = [&] {
    const SweepPass passed = sweep();
    EXPECT_EQ(passed.lapsed, 0U);
    EXPECT_TRUE(passed.oldest_age.has_value()) << "of the record in progress";
  };
  (void)pay();
  EXPECT_THAT(recovered, IsEmpty());
}

CONFORMANCE_TEST(ExternalCallConformance, ASweepTurnsUnknownWhatMustNotBeCalledAgain) {
  downstream = cannot_deduplicate("acquirer");
  const ReserveOptions reserve = detail::call_reservation(options(), downstream);
  const Request request = this->request();
  {
    auto unit = fixture.begin();
    Tx& tx = unit->transaction();
    auto store = backend().store(tx);
    const Reservation reservation = store->reserve(request.key, request.fingerprint, reserve);
    store->mark_sent(std::get<Acquired>(reservation).lease);
    fixture.put(tx, "k1", "PENDING");
    unit->commit();
  }
  fixture.advance(lease + 1min);
  const SweepPass passed = sweep();
  EXPECT_EQ(passed.unknown, 1U);
  EXPECT_EQ(fixture.state("k1"), "UNKNOWN");
  EXPECT_EQ(state_of_record(), State::unknown);
  EXPECT_EQ(acquirer.calls(), 0U);
  EXPECT_EQ(sweep().lapsed, 0U) << "UNKNOWN is reconciliation's";
}

CONFORMANCE_TEST(ExternalCallConformance, ARecordThatFailsHoldsUpNoOther) {
  for (const char* key : {"a", "b", "c"}) leave_in_the_gap(request(key));
  poison = "b";
  const SweepPass passed = sweep();
  EXPECT_EQ(passed.lapsed, 3U);
  EXPECT_EQ(passed.settled, 2U);
  EXPECT_EQ(passed.failed, 1U);
  EXPECT_THAT(failed_keys, ElementsAre("b"));
  EXPECT_EQ(find(request("b"))->state, State::in_progress);
  poison.clear();
  EXPECT_EQ(sweep().settled, 1U);
}

CONFORMANCE_TEST(ExternalCallConformance, ADownstreamThatStaysSilentLeavesTheRecordForTheNextPass) {
  leave_in_the_gap(request("a"));
  downstream = deduplicates_for("acquirer", window);
  before_call = [] { throw std::runtime_error{"no connection"}; };
  const SweepPass passed = sweep();
  EXPECT_EQ(passed.passed_over, 1U);
  EXPECT_EQ(sweep().settled, 1U);
}

CONFORMANCE_TEST(ExternalCallConformance, ASweepGoesOverMorePagesThanOne) {
  constexpr std::size_t records = 230;
  for (std::size_t i = 0; i < records; ++i) leave_in_the_gap(request("k" + std::to_string(i)));
  const SweepPass passed = sweep();
  EXPECT_EQ(passed.lapsed, records);
  EXPECT_EQ(passed.settled, records);
  EXPECT_EQ(acquirer.ledger().size(), records);
}

CONFORMANCE_TEST(ExternalCallConformance, ARunningSweepPassesUntilItIsStopped) {
  leave_in_the_gap(request("a"));
  std::stop_source stop;
  SweepOptions options = sweep_options();
  options.interval = 1ms;
  int passes = 0;
  std::size_t settled = 0;
  options.on_pass = [&](const SweepPass& passed) {
    settled += passed.settled;
    // A record that lapses between two passes is found by the next one, which looks at a part of the table only.
    if (++passes == 2) leave_in_the_gap(request("b"));
    if (passes == 3) stop.request_stop();
  };
  Sweep sweep{backend(), begin(), [&](Tx&, const LapsedRecord&) { return Payment{*this}; }, options};
  sweep.run(stop.get_token());
  EXPECT_EQ(passes, 3);
  EXPECT_EQ(settled, 2U);
}

CONFORMANCE_TEST(ExternalCallConformance, SweepsSideBySideSettleEachRecordOnce) {
  constexpr std::size_t records = 20;
  for (std::size_t i = 0; i < records; ++i) leave_in_the_gap(request("k" + std::to_string(i)));
  std::atomic<std::size_t> settled{0};
  testing::race(4, [&](std::size_t) {
    Sweep sweep{backend(), begin(), [&](Tx&, const LapsedRecord&) { return Quiet{*this}; }, sweep_options()};
    settled += sweep.pass().settled;
  });
  EXPECT_GE(settled, records);
  EXPECT_EQ(acquirer.ledger().size(), records);
  EXPECT_EQ(events().size(), records);
}

CONFORMANCE_TEST(ExternalCallConformance, SweepOptionsBeyondALimitAreRefused) {
  const auto refused = [&](const auto& change) {
    SweepOptions options = sweep_options();
    change(options);
    EXPECT_THROW(validate(options), InvalidArgument);
  };
  refused([](SweepOptions& options) { options.operation.clear(); });
  refused([](SweepOptions& options) { options.interval = 0ms; });
  refused([](SweepOptions& options) { options.full_interval = -1ms; });
}

}  // namespace

void register_sweep(const std::string& prefix, const Conformance::MakeFixture& make) {
  testing::register_conformance_cases(prefix + "/ExternalCallConformance", CONFORMANCE_CASES, make);
}

}  // namespace idem::conformance
