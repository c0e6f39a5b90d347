// Every row of the state table, at its exact boundaries.
#include "idem/record/state_table.hpp"

#include <gtest/gtest.h>

#include "idem/base/error.hpp"

namespace idem {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint start = std::chrono::sys_days{std::chrono::year{2030} / 1 / 1};

Fingerprint request(std::uint8_t content = 1, std::uint8_t scheme = Fingerprint::sha256_scheme) {
  Fingerprint::Bytes bytes{};
  bytes.front() = std::byte{scheme};
  bytes.back() = std::byte{content};
  return Fingerprint::from_bytes(bytes);
}

class StateTable : public ::testing::Test {
 protected:
  StateTable() {
    record.holder = {7, random_uuid_v4()};
    record.generation = 7;
    record.created_at = start;
    record.lease_until = start + 30s;
    record.retention = 72h;
    resuming.resumable = true;
    resuming.downstream = deduplicates_for("acquirer", 24h);
    own.attempt = record.holder.attempt;
  }

  void settle(State state) {
    record.state = state;
    record.response = text_response(201, "paid");
    record.finished_at = start;
    record.expires_at = start + record.retention;
  }
  void record_resumable() {
    record.resumable = true;
    record.downstream = "acquirer";
    record.window_until = start + 24h;
  }
  Verdict same(TimePoint now, const ReserveOptions& options = {}, bool own_transaction = false) const {
    return judge(record, own_transaction, now, request(), options);
  }
  Verdict other(TimePoint now, const ReserveOptions& options = {}, bool own_transaction = false) const {
    return judge(record, own_transaction, now, request(2), options);
  }

  Record record{{"alice", "POST /payments", "k"}, request()};
  ReserveOptions resuming;
  ReserveOptions own;
  const TimePoint live = start + 30s - 1us;
  const TimePoint lapsed = start + 30s;
};

TEST_F(StateTable, RowCompletedOrFailedPastItsExpiryIsReplacedWhateverIsAsked) {
  for (const State state : {State::completed, State::failed}) {
    settle(state);
    EXPECT_EQ(same(start + 72h - 1us), Verdict::replay);
    EXPECT_EQ(other(start + 72h - 1us), Verdict::mismatch);
    for (const TimePoint now : {start + 72h, start + 1000h}) {
      EXPECT_EQ(same(now), Verdict::replace);
      EXPECT_EQ(other(now), Verdict::replace);
      EXPECT_EQ(same(now, own), Verdict::replace);
      // A new request: that the old one cannot be compared is nothing to it.
      EXPECT_EQ(judge(record, false, now, request(1, 0x80), {}), Verdict::replace);
    }
  }
}

TEST_F(StateTable, RowInProgressLive) {
  for (const auto& options : {ReserveOptions{}, resuming}) {
    EXPECT_EQ(same(live, options), Verdict::in_progress);
    EXPECT_EQ(other(live, options), Verdict::mismatch);
  }
  record_resumable();
  EXPECT_EQ(same(live, resuming), Verdict::in_progress);
  EXPECT_EQ(other(live, resuming), Verdict::mismatch);
}

TEST_F(StateTable, RowInProgressLapsedResumable) {
  record_resumable();
  EXPECT_EQ(same(lapsed, resuming), Verdict::take_over);
  EXPECT_EQ(other(lapsed, resuming), Verdict::mismatch);
}

TEST_F(StateTable, RowInProgressLapsedResumableButTheAskerDoesNotResume) {
  record_resumable();
  ReserveOptions not_resuming = resuming;
  not_resuming.resumable = false;
  ReserveOptions elsewhere = resuming;
  elsewhere.downstream->name = "another";
  for (const auto& options : {ReserveOptions{}, not_resuming, elsewhere}) {
    EXPECT_EQ(same(lapsed, options), Verdict::leave_unknown);
    EXPECT_EQ(other(lapsed, options), Verdict::mismatch);
  }
}

// Resuming on a promise that the first attempt did not rely on could send twice, and nobody makes the old one any more.
TEST_F(StateTable, RowInProgressLapsedUnderAnotherPromiseOfTheSameDownstream) {
  record_resumable();
  ReserveOptions without_window = resuming;
  without_window.downstream->window.reset();
  ReserveOptions per_generation = resuming;
  per_generation.downstream->key_per_generation = true;
  for (const auto& options : {without_window, per_generation}) {
    EXPECT_EQ(same(lapsed, options), Verdict::turn_unknown);
    EXPECT_EQ(same(live, options), Verdict::in_progress);
    EXPECT_EQ(other(lapsed, options), Verdict::mismatch);
  }
  record.downstream = per_generation.downstream->stored_name();
  EXPECT_EQ(same(lapsed, resuming), Verdict::turn_unknown);
  ReserveOptions not_resuming = without_window;
  not_resuming.resumable = false;
  EXPECT_EQ(same(lapsed, not_resuming), Verdict::leave_unknown);
}

TEST_F(StateTable, RowInProgressLapsedNotResumable) {
  for (const auto& options : {ReserveOptions{}, resuming}) {
    EXPECT_EQ(same(lapsed, options), Verdict::turn_unknown);
    EXPECT_EQ(other(lapsed, options), Verdict::mismatch);
  }
}

TEST_F(StateTable, RowInProgressLapsedPastTheWindowLessTheMargin) {
  record_resumable();
  resuming.downstream->margin = 2h;
  EXPECT_EQ(same(start + 22h - 1us, resuming), Verdict::take_over);
  EXPECT_EQ(same(start + 22h, resuming), Verdict::turn_unknown);
  EXPECT_EQ(other(start + 22h, resuming), Verdict::mismatch);
  // One who does not resume has no margin to keep.
  EXPECT_EQ(same(start + 24h - 1us), Verdict::leave_unknown);
  EXPECT_EQ(same(start + 24h), Verdict::turn_unknown);
}

TEST_F(StateTable, RowInProgressLapsedWhereTheDownstreamCannotDeduplicate) {
  record.resumable = true;
  record.downstream = "acquirer";
  resuming.downstream = cannot_deduplicate("acquirer");
  EXPECT_EQ(same(lapsed, resuming), Verdict::take_over);
  EXPECT_EQ(same(lapsed), Verdict::leave_unknown);
  record.sent_at = start;
  EXPECT_EQ(same(live, resuming), Verdict::in_progress);
  EXPECT_EQ(same(lapsed, resuming), Verdict::turn_unknown);
  EXPECT_EQ(same(lapsed), Verdict::turn_unknown);
  EXPECT_EQ(other(lapsed, resuming), Verdict::mismatch);
}

TEST_F(StateTable, RowInProgressLapsedThatWasSentIsResumedWhereTheDownstreamDeduplicates) {
  record_resumable();
  record.sent_at = start;
  EXPECT_EQ(same(lapsed, resuming), Verdict::take_over);
}

TEST_F(StateTable, RowCompletedOrFailed) {
  for (const State state : {State::completed, State::failed}) {
    settle(state);
    for (const auto& options : {ReserveOptions{}, resuming, own}) {
      for (const TimePoint now : {live, lapsed}) {
        EXPECT_EQ(same(now, options), Verdict::replay);
        EXPECT_EQ(other(now, options), Verdict::mismatch);
      }
    }
  }
}

TEST_F(StateTable, RowUnknown) {
  record_resumable();
  record.state = State::unknown;
  for (const auto& options : {ReserveOptions{}, resuming, own}) {
    for (const TimePoint now : {live, lapsed, start + 10000h}) {
      EXPECT_EQ(same(now, options), Verdict::unknown);
      EXPECT_EQ(other(now, options), Verdict::mismatch);
    }
  }
}

TEST_F(StateTable, RowInProgressByThisVeryAttempt) {
  for (const bool own_transaction : {true, false}) {
    for (const TimePoint now : {live, lapsed, start + 10000h}) {
      EXPECT_EQ(same(now, own, own_transaction), Verdict::resume_own);
      EXPECT_EQ(other(now, own, own_transaction), Verdict::mismatch);
    }
  }
  own.attempt = random_uuid_v4();
  EXPECT_EQ(same(live, own), Verdict::in_progress);
}

TEST_F(StateTable, RowHeldByThisSameTransactionUnderAnotherAttempt) {
  record_resumable();
  for (const TimePoint now : {live, lapsed}) {
    EXPECT_EQ(same(now, resuming, true), Verdict::already_reserved);
    EXPECT_EQ(other(now, resuming, true), Verdict::already_reserved);
  }
  settle(State::completed);
  EXPECT_EQ(same(live, {}, true), Verdict::replay);
  EXPECT_EQ(other(live, {}, true), Verdict::mismatch);
}

TEST_F(StateTable, AFingerprintThatCannotBeComparedIsUnavailableInEveryState) {
  const auto unavailable = [&](TimePoint now) {
    EXPECT_THROW((void)judge(record, false, now, request(1, 0x80), resuming), FingerprintUnavailable);
    EXPECT_THROW((void)judge(record, false, now, request(1, 0x80), own), FingerprintUnavailable);
  };
  unavailable(live);
  unavailable(lapsed);
  record_resumable();
  unavailable(lapsed);
  record.state = State::unknown;
  unavailable(live);
  settle(State::failed);
  unavailable(live);
}

TEST(RetryAfter, IsTheLeaseLeftWithinItsBounds) {
  EXPECT_EQ(retry_after(-1h), 1ms);
  EXPECT_EQ(retry_after(0us), 1ms);
  EXPECT_EQ(retry_after(1us), 1ms);
  EXPECT_EQ(retry_after(1001us), 2ms);
  EXPECT_EQ(retry_after(500ms), 500ms);
  EXPECT_EQ(retry_after(1s), 1s);
  EXPECT_EQ(retry_after(1s + 1us), 1s);
  EXPECT_EQ(retry_after(std::chrono::microseconds::max()), 1s);
}

class CheckResolution : public StateTable {
 protected:
  CheckResolution() {
    record.state = State::unknown;
    record.call_deadline = 10s;
  }
  Resolution resolution{"operator", "why"};
};

TEST_F(CheckResolution, CompletedNeedsAChargeOfThisGeneration) {
  EXPECT_THROW(check_resolution(record, State::completed, resolution, live), InvalidArgument);
  resolution.no_effect = NoEffect::stored_decline;
  EXPECT_THROW(check_resolution(record, State::completed, resolution, live), InvalidArgument);

  Resolution by_generation{"operator", "why"};
  by_generation.generation = record.generation;
  check_resolution(record, State::completed, by_generation, start);
  for (const std::int64_t off : {-1, 1}) {
    by_generation.generation = record.generation + off;
    EXPECT_THROW(check_resolution(record, State::completed, by_generation, live), InvalidArgument);
  }

  Resolution by_time{"operator", "why"};
  by_time.effect_at = record.created_at;
  check_resolution(record, State::completed, by_time, start);
  by_time.effect_at = record.created_at - 1us;
  EXPECT_THROW(check_resolution(record, State::completed, by_time, live), InvalidArgument);
}

TEST_F(CheckResolution, FailedNeedsADefinitiveAnswerAndTheEndOfLeaseAndDeadline) {
  EXPECT_THROW(check_resolution(record, State::failed, resolution, start + 1h), InvalidArgument);
  resolution.generation = record.generation;
  EXPECT_THROW(check_resolution(record, State::failed, resolution, start + 1h), InvalidArgument);
  for (const NoEffect why : {NoEffect::stored_decline, NoEffect::void_refuses_later,
                             NoEffect::closed_settlement, NoEffect::operator_decision}) {
    resolution.no_effect = why;
    EXPECT_THROW(check_resolution(record, State::failed, resolution, start + 40s - 1us), TooEarly);
    check_resolution(record, State::failed, resolution, start + 40s);
  }
}

}  // namespace
}  // namespace idem
