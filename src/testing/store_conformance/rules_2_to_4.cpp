// Rules 2 to 4, by number.
#include "testing/store_conformance/suite.hpp"

namespace idem {
inline namespace v0 {
namespace testing {
namespace {

CONFORMANCE_TESTS_OF(StoreConformance);

// ---- 2: the slow worker knows the truth

CONFORMANCE_TEST(StoreConformance, Rule2CompleteSettlesAnUnknownRecordOfItsOwn) {
  const Lease lease = acquire(key());
  mark_unknown(lease, text_response(202, "ask again"));
  complete(lease);
  const auto replay = expect<Replay>(reserve(key()));
  EXPECT_EQ(replay.state, State::completed);
  EXPECT_EQ(replay.response, answer());
}

CONFORMANCE_TEST(StoreConformance, Rule2FailSettlesARecordThatALapseMadeUnknown) {
  const Lease lease = acquire(key());
  advance(lease_time + std::chrono::minutes{1});
  expect<Unknown>(reserve(key()));
  fail(lease);
  EXPECT_EQ(expect<Replay>(reserve(key())).state, State::failed);
}

CONFORMANCE_TEST(StoreConformance, Rule2SettlingAnUnknownRecordOfAnotherIsLeaseLostAndCommitsNothing) {
  const Lease lease = acquire(key());
  mark_unknown(lease);
  Lease other = lease;
  other.holder.attempt = random_uuid_v4();
  expect_lost_and_nothing_committed<LeaseLost>(
      [&](IdempotencyStore& store) { store.complete(other, answer()); });
  other = lease;
  ++other.holder.fence;
  expect_lost_and_nothing_committed<LeaseLost>([&](IdempotencyStore& store) { store.fail(other, answer()); });
  EXPECT_EQ(record(key()).state, State::unknown);
}

// ---- 3: what may be resumed

CONFORMANCE_TEST(StoreConformance, Rule3IsNotResumedForAnotherDownstream) {
  acquire(key(), resumable());
  advance(lease_time + std::chrono::minutes{1});
  const Record before = record(key());
  expect<Unknown>(reserve(key(), request(), resumable(deduplicates_for("another", window))));
  expect_same(before, record(key()));
}

// Or nobody would ever settle it.
CONFORMANCE_TEST(StoreConformance, Rule3IsNotResumedUnderAnotherPromiseOfItsDownstream) {
  acquire(key(), resumable());
  advance(lease_time + std::chrono::minutes{1});
  expect<Unknown>(reserve(key(), request(), resumable(cannot_deduplicate("acquirer"))));
  EXPECT_EQ(record(key()).state, State::unknown);
}

CONFORMANCE_TEST(StoreConformance, Rule3IsNotResumedWhereTheRecordDoesNotSaySo) {
  ReserveOptions named = resumable();
  named.resumable = false;
  acquire(key(), named);
  advance(lease_time + std::chrono::minutes{1});
  expect<Unknown>(reserve(key(), request(), resumable()));
  EXPECT_EQ(record(key()).state, State::unknown);
}

CONFORMANCE_TEST(StoreConformance, Rule3IsNotResumedWhereTheAskerNamesTheDownstreamButDoesNotResume) {
  acquire(key(), resumable());
  advance(lease_time + std::chrono::minutes{1});
  ReserveOptions named = resumable();
  named.resumable = false;
  expect<Unknown>(reserve(key(), request(), named));
  EXPECT_EQ(record(key()).state, State::in_progress);
}

CONFORMANCE_TEST(StoreConformance, Rule3IsResumedBeforeTheWindowLessTheMargin) {
  Downstream downstream = deduplicates_for("acquirer", window);
  downstream.margin = std::chrono::hours{2};
  acquire(key(), resumable(downstream));
  advance(window - downstream.margin - std::chrono::minutes{2});
  expect_acquired(reserve(key(), request(), resumable(downstream)), How::took_over);
}

CONFORMANCE_TEST(StoreConformance, Rule3TurnsUnknownAfterTheWindowLessTheMargin) {
  Downstream downstream = deduplicates_for("acquirer", window);
  downstream.margin = std::chrono::hours{2};
  acquire(key(), resumable(downstream));
  advance(window - downstream.margin + std::chrono::minutes{2});
  expect<Unknown>(reserve(key(), request(), resumable(downstream)));
  EXPECT_EQ(record(key()).state, State::unknown);
}

CONFORMANCE_TEST(StoreConformance, Rule3NeitherATakeoverNorARenewalExtendsTheWindow) {
  const Lease first = acquire(key(), resumable());
  const Record before = record(key());
  EXPECT_EQ(first.window_until, before.window_until);
  in_transaction([&](IdempotencyStore& store) { (void)store.renew(first, std::chrono::hours{20}); });
  EXPECT_EQ(record(key()).window_until, before.window_until);
  advance(std::chrono::hours{21});
  const Acquired later = expect_acquired(reserve(key(), request(), resumable()), How::took_over);
  EXPECT_EQ(later.lease.window_until, record(key()).window_until);
  advance(std::chrono::hours{4});
  expect<Unknown>(reserve(key(), request(), resumable()));
  EXPECT_EQ(record(key()).state, State::unknown);
}

CONFORMANCE_TEST(StoreConformance, Rule3IsResumedWithoutTheMarkWhereTheDownstreamCannotDeduplicate) {
  const ReserveOptions options = resumable(cannot_deduplicate("acquirer"));
  acquire(key(), options);
  advance(lease_time + std::chrono::minutes{1});
  expect_acquired(reserve(key(), request(), options), How::took_over);
}

CONFORMANCE_TEST(StoreConformance, Rule3TurnsUnknownWithTheMarkWhereTheDownstreamCannotDeduplicate) {
  const ReserveOptions options = resumable(cannot_deduplicate("acquirer"));
  mark_sent(acquire(key(), options));
  EXPECT_TRUE(record(key()).sent_at);
  advance(lease_time + std::chrono::minutes{1});
  expect<Unknown>(reserve(key(), request(), options));
  EXPECT_EQ(record(key()).state, State::unknown);
}

CONFORMANCE_TEST(StoreConformance, Rule3AMarkOfAnEarlierAttemptCountsForTheNext) {
  const ReserveOptions options = resumable(cannot_deduplicate("acquirer"));
  acquire(key(), options);
  advance(lease_time + std::chrono::minutes{1});
  mark_sent(expect_acquired(reserve(key(), request(), options), How::took_over).lease);
  advance(lease_time + std::chrono::minutes{1});
  expect<Unknown>(reserve(key(), request(), options));
}

CONFORMANCE_TEST(StoreConformance, Rule3AMarkIsKeptOverATakeoverWhereTheDownstreamDeduplicates) {
  mark_sent(acquire(key(), resumable()));
  advance(lease_time + std::chrono::minutes{1});
  const Record before = record(key());
  expect_acquired(reserve(key(), request(), resumable()), How::took_over);
  EXPECT_TRUE(before.sent_at);
  EXPECT_EQ(record(key()).sent_at, before.sent_at);
}

CONFORMANCE_TEST(StoreConformance, Rule3ResumableWithoutADownstreamIsRefused) {
  ReserveOptions nowhere = options();
  nowhere.resumable = true;
  auto unit = begin();
  EXPECT_THROW((void)unit->store().reserve(key(), request(), nowhere), InvalidArgument);
  expect_usable(*unit);
  EXPECT_FALSE(find(key()));
}

CONFORMANCE_TEST(StoreConformance, Rule3TheRecordedRetentionHoldsOverATakeover) {
  acquire(key(), resumable());
  advance(lease_time + std::chrono::minutes{1});
  ReserveOptions longer = resumable();
  longer.retention *= 3;
  longer.call_deadline = std::chrono::minutes{5};
  const Lease lease = expect_acquired(reserve(key(), request(), longer), How::took_over).lease;
  EXPECT_EQ(record(key()).retention, retention);
  EXPECT_EQ(record(key()).call_deadline.count(), 0);
  complete(lease);
  advance(retention + std::chrono::minutes{1});
  EXPECT_FALSE(find(key()));
}

// ---- 4: what expires, and when

// Fault 13: from settling, whatever came before.
CONFORMANCE_TEST(StoreConformance, Rule4TheRetentionCountsFromSettling) {
  const Lease completed = acquire(key("completed"));
  const Lease failed = acquire(key("failed"));
  const Lease resolved = acquire(key("resolved"));
  mark_unknown(resolved);
  advance(std::chrono::hours{50});
  complete(completed);
  fail(failed);
  resolve(resolved, State::completed, charged(resolved));
  for (const char* name : {"completed", "failed", "resolved"}) {
    SCOPED_TRACE(name);
    const Record record = this->record(key(name));
    ASSERT_TRUE(record.finished_at && record.expires_at);
    EXPECT_EQ(*record.expires_at - *record.finished_at, retention);
    EXPECT_GE(*record.finished_at - record.created_at, std::chrono::hours{50});
  }
  advance(retention - std::chrono::minutes{1});
  for (const char* name : {"completed", "failed", "resolved"}) expect<Replay>(reserve(key(name)));
  advance(std::chrono::minutes{2});
  for (const char* name : {"completed", "failed", "resolved"}) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(find(key(name)));
    expect_acquired(reserve(key(name), other_request()), How::fresh);
  }
}

CONFORMANCE_TEST(StoreConformance, Rule4TheTimeOfExpiryIsToldWithTheAnswer) {
  const Lease lease = acquire(key());
  const TimePoint told = complete(lease);
  EXPECT_EQ(record(key()).expires_at, told);
  EXPECT_EQ(expect<Replay>(reserve(key())).expires_at, told);
}

CONFORMANCE_TEST(StoreConformance, Rule4InProgressNeverExpires) {
  acquire(key(), resumable());
  advance(10 * retention);
  EXPECT_EQ(record(key()).state, State::in_progress);
  expect<Mismatch>(reserve(key(), other_request()));
  expect<Unknown>(reserve(key()));
}

CONFORMANCE_TEST(StoreConformance, Rule4UnknownNeverExpires) {
  mark_unknown(acquire(key()));
  advance(10 * retention);
  EXPECT_EQ(record(key()).state, State::unknown);
  expect<Mismatch>(reserve(key(), other_request()));
  EXPECT_EQ(expect<Unknown>(reserve(key())).response, answer());
}

}  // namespace

void register_rules_2_to_4(const std::string& name, const StoreConformance::MakeFixture& make) {
  register_conformance_cases(name, CONFORMANCE_CASES, make);
}

}  // namespace testing
}  // namespace v0
}  // namespace idem
