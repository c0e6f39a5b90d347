// How long a lease is good for a call, by the process's own clock; and what external_call refuses.
#include "idem/call/external_call.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace idem {
namespace {

using namespace std::chrono_literals;

const TimePoint now{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};

Lease lease_of(std::chrono::milliseconds lease, std::optional<TimePoint> window_until = {}) {
  const Fingerprint fingerprint =
      Fingerprinter{}({.method = "POST", .operation = "op", .query = {}, .body = "{}"});
  return {{"p", "op", "k"}, fingerprint, {1, {}}, 1, now + lease, window_until};
}

ReserveOptions options_of(std::chrono::milliseconds lease, std::chrono::milliseconds deadline,
                          Downstream downstream = deduplicates_for("acquirer", 24h)) {
  return {.lease = lease, .downstream = std::move(downstream), .call_deadline = deadline};
}

detail::LeaseTime begun() {
  detail::LeaseTime time;
  time.begin();
  return time;
}

TEST(LeaseTime, ACallThatFitsIntoTheLeaseMayBeSent) {
  EXPECT_TRUE(begun().may_send(lease_of(1h), options_of(1h, 30min)));
  EXPECT_TRUE(begun().may_send(lease_of(1h, now + 24h), options_of(1h, 30min)));
}

TEST(LeaseTime, ACallThatWouldOutliveTheLeaseMayNot) {
  EXPECT_FALSE(begun().may_send(lease_of(1h), options_of(1h, 1h)));
  // Begun at the clock's own beginning: the lease is long over.
  EXPECT_FALSE(detail::LeaseTime{}.may_send(lease_of(1ms), options_of(1ms, 0ms)));
}

TEST(LeaseTime, NothingMayBeSentFromTheWindowsEndLessTheMarginOn) {
  Downstream downstream = deduplicates_for("acquirer", 24h);
  downstream.margin = 2h;
  const ReserveOptions options = options_of(1h, 30min, downstream);
  EXPECT_TRUE(begun().may_send(lease_of(1h, now + 2h + 1min), options));
  EXPECT_FALSE(begun().may_send(lease_of(1h, now + 2h), options));
  EXPECT_FALSE(begun().may_send(lease_of(1h, now - 1h), options));
}

TEST(CallReservation, IsResumableForTheOperationsDownstreamWithADeadlineInsideTheLease) {
  const ReserveOptions reserve = detail::call_reservation({}, cannot_deduplicate("acquirer"));
  EXPECT_TRUE(reserve.resumable);
  EXPECT_EQ(reserve.downstream, cannot_deduplicate("acquirer"));
  EXPECT_EQ(reserve.call_deadline, ReserveOptions{}.lease / 3);
}

}  // namespace
}  // namespace idem
