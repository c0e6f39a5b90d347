// Every row of the state table, for the same and for another request.
#include "testing/store_conformance/suite.hpp"

namespace idem {
inline namespace v0 {
namespace testing {
namespace {

CONFORMANCE_TESTS_OF(StoreConformance);

CONFORMANCE_TEST(StoreConformance, RowAbsentIsAcquiredFresh) {
  const auto before = find(key());
  const Acquired acquired = expect_acquired(reserve(key()), How::fresh);
  EXPECT_FALSE(before);
  EXPECT_EQ(acquired.lease.key, key());
  EXPECT_EQ(acquired.lease.fingerprint, request());
  EXPECT_EQ(acquired.lease.generation, acquired.lease.holder.fence);
  EXPECT_NE(acquired.lease.holder.attempt, Uuid{});

  const Record record = this->record(key());
  EXPECT_EQ(record.key, key());
  EXPECT_EQ(record.fingerprint, request());
  EXPECT_EQ(record.state, State::in_progress);
  EXPECT_EQ(record.holder, acquired.lease.holder);
  EXPECT_EQ(record.generation, acquired.lease.generation);
  EXPECT_FALSE(record.taken_over());
  EXPECT_FALSE(record.resumable);
  EXPECT_EQ(record.downstream, std::nullopt);
  EXPECT_EQ(record.window_until, std::nullopt);
  EXPECT_EQ(record.call_deadline.count(), 0);
  EXPECT_EQ(record.sent_at, std::nullopt);
  EXPECT_EQ(record.lease_until, acquired.lease.lease_until);
  EXPECT_EQ(record.lease_until - record.created_at, lease_time);
  EXPECT_EQ(record.retention, retention);
  EXPECT_EQ(record.response, std::nullopt);
  EXPECT_EQ(record.finished_at, std::nullopt);
  EXPECT_EQ(record.expires_at, std::nullopt);
  EXPECT_EQ(record.resolved_by, std::nullopt);
  EXPECT_EQ(record.resolved_note, std::nullopt);
}

CONFORMANCE_TEST(StoreConformance, RowAbsentRecordsWhatWasAskedFor) {
  ReserveOptions options = resumable();
  options.call_deadline = std::chrono::minutes{5};
  acquire(key(), options);
  const Record record = this->record(key());
  EXPECT_TRUE(record.resumable);
  EXPECT_EQ(record.downstream, "acquirer");
  ASSERT_TRUE(record.window_until);
  EXPECT_EQ(*record.window_until - record.created_at, window);
  EXPECT_EQ(record.call_deadline, std::chrono::minutes{5});
}

CONFORMANCE_TEST(StoreConformance, RowExpiredCompletedIsAcquiredFreshWithEveryColumnNew) {
  const Lease old = acquire(key(), resumable());
  mark_sent(old);
  complete(old);
  advance(retention + std::chrono::minutes{1});

  const Acquired acquired = expect_acquired(reserve(key()), How::fresh);
  EXPECT_GT(acquired.lease.holder.fence, old.holder.fence);
  EXPECT_NE(acquired.lease.holder.attempt, old.holder.attempt);
  const Record record = this->record(key());
  EXPECT_EQ(record.state, State::in_progress);
  EXPECT_EQ(record.holder, acquired.lease.holder);
  EXPECT_EQ(record.generation, acquired.lease.holder.fence);
  EXPECT_FALSE(record.taken_over());
  EXPECT_FALSE(record.resumable);
  EXPECT_EQ(record.downstream, std::nullopt);
  EXPECT_EQ(record.window_until, std::nullopt);
  EXPECT_EQ(record.sent_at, std::nullopt);
  EXPECT_EQ(record.lease_until - record.created_at, lease_time);
  EXPECT_EQ(record.response, std::nullopt);
  EXPECT_EQ(record.finished_at, std::nullopt);
  EXPECT_EQ(record.expires_at, std::nullopt);
}

CONFORMANCE_TEST(StoreConformance, RowExpiredFailedIsAcquiredFresh) {
  fail(acquire(key()));
  advance(retention + std::chrono::minutes{1});
  expect_acquired(reserve(key()), How::fresh);
}

CONFORMANCE_TEST(StoreConformance, RowExpiredResolvedIsAcquiredFreshWithoutTheResolution) {
  const Lease lease = acquire(key());
  mark_unknown(lease);
  resolve(lease, State::completed, charged(lease));
  advance(retention + std::chrono::minutes{1});
  expect_acquired(reserve(key()), How::fresh);
  const Record record = this->record(key());
  EXPECT_EQ(record.resolved_by, std::nullopt);
  EXPECT_EQ(record.resolved_note, std::nullopt);
}

CONFORMANCE_TEST(StoreConformance, RowExpiredWithOtherFingerprintIsAcquiredFresh) {
  complete(acquire(key()));
  advance(retention + std::chrono::minutes{1});
  expect_acquired(reserve(key(), other_request()), How::fresh);
  EXPECT_EQ(record(key()).fingerprint, other_request());
}

// Faults 1, 3: one minute before the lease's end, and one after it.
CONFORMANCE_TEST(StoreConformance, RowInProgressLiveIsInProgress) {
  acquire(key());
  EXPECT_EQ(expect<InProgress>(reserve(key())).retry_after, std::chrono::seconds{1});
  advance(lease_time - std::chrono::minutes{1});
  EXPECT_EQ(expect<InProgress>(reserve(key())).retry_after, std::chrono::seconds{1});
  advance(std::chrono::minutes{2});
  expect<Unknown>(reserve(key()));
}

CONFORMANCE_TEST(StoreConformance, RowInProgressLiveResumableIsInProgress) {
  acquire(key(), resumable());
  advance(lease_time - std::chrono::minutes{1});
  expect<InProgress>(reserve(key(), request(), resumable()));
}

CONFORMANCE_TEST(StoreConformance, RowInProgressLiveLeavesTheRecordAsItIs) {
  acquire(key());
  const Record before = record(key());
  ReserveOptions other = resumable();
  other.lease *= 2;
  other.retention *= 2;
  expect<InProgress>(reserve(key(), request(), other));
  expect_same(before, record(key()));
}

CONFORMANCE_TEST(StoreConformance, RowInProgressLiveWithOtherFingerprintIsMismatch) {
  acquire(key());
  const Record before = record(key());
  expect<Mismatch>(reserve(key(), other_request()));
  expect_same(before, record(key()));
}

CONFORMANCE_TEST(StoreConformance, RowInProgressLapsedResumableIsTakenOver) {
  const Lease first = acquire(key(), resumable());
  advance(lease_time + std::chrono::minutes{1});
  const Record before = record(key());
  const Acquired taken = expect_acquired(reserve(key(), request(), resumable()), How::took_over);
  EXPECT_GT(taken.lease.holder.fence, first.holder.fence);
  EXPECT_NE(taken.lease.holder.attempt, first.holder.attempt);
  EXPECT_EQ(taken.lease.generation, first.generation);
  EXPECT_EQ(taken.lease.fingerprint, first.fingerprint);

  const Record after = record(key());
  EXPECT_EQ(after.state, State::in_progress);
  EXPECT_TRUE(after.taken_over());
  EXPECT_EQ(after.holder, taken.lease.holder);
  EXPECT_EQ(after.generation, before.generation);
  EXPECT_EQ(after.lease_until, taken.lease.lease_until);
  EXPECT_EQ(after.created_at, before.created_at);
  EXPECT_EQ(after.window_until, before.window_until);
  EXPECT_EQ(after.retention, before.retention);
  // The new lease is a live one.
  expect<InProgress>(reserve(key(), request(), resumable()));
  advance(lease_time - std::chrono::minutes{1});
  expect<InProgress>(reserve(key(), request(), resumable()));
}

CONFORMANCE_TEST(StoreConformance, RowInProgressLapsedResumableWithOtherFingerprintIsMismatch) {
  acquire(key(), resumable());
  advance(lease_time + std::chrono::minutes{1});
  const Record before = record(key());
  expect<Mismatch>(reserve(key(), other_request(), resumable()));
  expect_same(before, record(key()));
}

CONFORMANCE_TEST(StoreConformance, RowInProgressLapsedAskerDoesNotResumeIsUnknownAndLeftAsItIs) {
  acquire(key(), resumable());
  advance(lease_time + std::chrono::minutes{1});
  const Record before = record(key());
  EXPECT_EQ(expect<Unknown>(reserve(key())).response, std::nullopt);
  expect_same(before, record(key()));
  expect_acquired(reserve(key(), request(), resumable()), How::took_over);
}

CONFORMANCE_TEST(StoreConformance, RowInProgressLapsedAskerDoesNotResumeWithOtherFingerprintIsMismatch) {
  acquire(key(), resumable());
  advance(lease_time + std::chrono::minutes{1});
  const Record before = record(key());
  expect<Mismatch>(reserve(key(), other_request()));
  expect_same(before, record(key()));
}

// Fault 4: what may have had an outside effect is never run again.
CONFORMANCE_TEST(StoreConformance, RowInProgressLapsedNotResumableTurnsUnknown) {
  const Lease first = acquire(key());
  advance(lease_time + std::chrono::minutes{1});
  const auto turned = expect<Unknown>(reserve(key()));
  EXPECT_EQ(turned.response, std::nullopt);
  ASSERT_TRUE(turned.turned);
  EXPECT_EQ(turned.turned->holder, first.holder);
  EXPECT_EQ(turned.turned->generation, first.generation);
  const Record after = record(key());
  EXPECT_EQ(after.state, State::unknown);
  EXPECT_EQ(after.holder, first.holder);
  EXPECT_EQ(after.expires_at, std::nullopt);
  EXPECT_EQ(after.response, std::nullopt);
  // Whoever asks and however; only the first one turned it.
  EXPECT_FALSE(expect<Unknown>(reserve(key(), request(), resumable())).turned);
}

// Whoever turns a record UNKNOWN stores in the same transaction what duplicates are told.
CONFORMANCE_TEST(StoreConformance, RowInProgressLapsedTurnedUnknownIsGivenItsResponseOnce) {
  const Response told{202, {}, text_response(0, "ask again").body};
  acquire(key());
  advance(lease_time + std::chrono::minutes{1});
  std::optional<Lease> turned;
  in_transaction([&](IdempotencyStore& store) {
    turned = expect<Unknown>(store.reserve(key(), request(), options())).turned;
    store.mark_unknown(turned.value(), told);
  });
  EXPECT_EQ(expect<Unknown>(reserve(key())).response, told);
  expect_lost_and_nothing_committed<LeaseLost>(
      [&](IdempotencyStore& store) { store.mark_unknown(turned.value(), answer()); });
  EXPECT_EQ(record(key()).response, told);
}

CONFORMANCE_TEST(StoreConformance, RowInProgressLapsedNotResumableWithOtherFingerprintIsMismatch) {
  acquire(key());
  advance(lease_time + std::chrono::minutes{1});
  const Record before = record(key());
  expect<Mismatch>(reserve(key(), other_request()));
  expect_same(before, record(key()));
}

CONFORMANCE_TEST(StoreConformance, RowCompletedIsReplay) {
  const Lease lease = acquire(key());
  const TimePoint expires_at = complete(lease);
  const auto replay = expect<Replay>(reserve(key()));
  EXPECT_EQ(replay.state, State::completed);
  EXPECT_EQ(replay.response, answer());
  EXPECT_EQ(replay.expires_at, expires_at);
  const Record record = this->record(key());
  EXPECT_EQ(record.state, State::completed);
  EXPECT_EQ(record.holder, lease.holder);
  EXPECT_EQ(record.fingerprint, request());
  EXPECT_EQ(record.expires_at, expires_at);
  // Again and again, for whoever asks in whatever way.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(expect<Replay>(reserve(key(), request(), resumable())).response, answer());
  }
}

// Faults 33, 34.
CONFORMANCE_TEST(StoreConformance, RowCompletedWithOtherFingerprintIsMismatch) {
  complete(acquire(key()));
  const Record before = record(key());
  expect<Mismatch>(reserve(key(), other_request()));
  expect_same(before, record(key()));
  expect<Replay>(reserve(key()));
}

// Fault 23: a business refusal is an answer.
CONFORMANCE_TEST(StoreConformance, RowFailedIsReplay) {
  const Response declined{402, {{"Content-Type", "text/plain"}}, text_response(0, "declined").body};
  const TimePoint expires_at = fail(acquire(key()), declined);
  const auto replay = expect<Replay>(reserve(key()));
  EXPECT_EQ(replay.state, State::failed);
  EXPECT_EQ(replay.response, declined);
  EXPECT_EQ(replay.expires_at, expires_at);
}

CONFORMANCE_TEST(StoreConformance, RowFailedWithOtherFingerprintIsMismatch) {
  fail(acquire(key()));
  expect<Mismatch>(reserve(key(), other_request()));
}

CONFORMANCE_TEST(StoreConformance, RowUnknownIsUnknownWithItsResponse) {
  const Response told{202, {}, text_response(0, "ask again").body};
  const Lease lease = acquire(key(), resumable());
  mark_unknown(lease, told);
  const Record before = record(key());
  EXPECT_EQ(before.state, State::unknown);
  EXPECT_EQ(before.holder, lease.holder);
  EXPECT_EQ(before.finished_at, std::nullopt);
  EXPECT_EQ(before.expires_at, std::nullopt);
  // A lapsed lease and a resuming asker change nothing about it.
  EXPECT_EQ(expect<Unknown>(reserve(key())).response, told);
  EXPECT_EQ(expect<Unknown>(reserve(key(), request(), resumable())).response, told);
  expect_same(before, record(key()));
  advance(lease_time + std::chrono::minutes{1});
  EXPECT_EQ(expect<Unknown>(reserve(key(), request(), resumable())).response, told);
}

CONFORMANCE_TEST(StoreConformance, RowUnknownWithOtherFingerprintIsMismatch) {
  mark_unknown(acquire(key()));
  const Record before = record(key());
  expect<Mismatch>(reserve(key(), other_request()));
  expect_same(before, record(key()));
}

CONFORMANCE_TEST(StoreConformance, RowUnknownIsUnknownForItsOwnAttemptToo) {
  const Lease lease = acquire(key());
  mark_unknown(lease);
  expect<Unknown>(reserve(key(), request(), under_attempt(lease.holder.attempt)));
}

CONFORMANCE_TEST(StoreConformance, RowOwnAttemptLiveIsAcquiredAgainAndItsLeaseRenewed) {
  const Lease first = acquire(key());
  advance(std::chrono::minutes{30});
  const Record before = record(key());
  const Acquired again =
      expect_acquired(reserve(key(), request(), under_attempt(first.holder.attempt)), How::again);
  EXPECT_EQ(again.lease.holder, first.holder);
  EXPECT_EQ(again.lease.generation, first.generation);
  EXPECT_EQ(again.lease.fingerprint, first.fingerprint);
  const Record after = record(key());
  EXPECT_EQ(after.lease_until, again.lease.lease_until);
  EXPECT_GE(after.lease_until - before.lease_until, std::chrono::minutes{30});
  EXPECT_EQ(after.created_at, before.created_at);
  complete(again.lease);
}

CONFORMANCE_TEST(StoreConformance, RowOwnAttemptLapsedIsAcquiredAgain) {
  const Lease first = acquire(key());
  advance(lease_time + std::chrono::minutes{1});
  const Acquired again =
      expect_acquired(reserve(key(), request(), under_attempt(first.holder.attempt)), How::again);
  EXPECT_EQ(again.lease.holder, first.holder);
  expect<InProgress>(reserve(key()));
}

CONFORMANCE_TEST(StoreConformance, RowOwnAttemptWithOtherFingerprintIsMismatch) {
  const Lease first = acquire(key());
  const ReserveOptions own = under_attempt(first.holder.attempt);
  expect<Mismatch>(reserve(key(), other_request(), own));
  advance(lease_time + std::chrono::minutes{1});
  const Record before = record(key());
  expect<Mismatch>(reserve(key(), other_request(), own));
  expect_same(before, record(key()));
}

CONFORMANCE_TEST(StoreConformance, RowOwnAttemptThatWasTakenOverIsInProgress) {
  const Lease first = acquire(key(), resumable());
  advance(lease_time + std::chrono::minutes{1});
  expect_acquired(reserve(key(), request(), resumable()), How::took_over);
  expect<InProgress>(reserve(key(), request(), under_attempt(first.holder.attempt)));
}

CONFORMANCE_TEST(StoreConformance, RowOwnTransactionIsAlreadyReservedAndTheTransactionUsable) {
  auto unit = begin();
  const Lease lease = expect_acquired(unit->store().reserve(key(), request(), options()), How::fresh).lease;
  EXPECT_THROW((void)unit->store().reserve(key(), request(), options()), AlreadyReserved);
  EXPECT_THROW((void)unit->store().reserve(key(), request(), under_attempt(random_uuid_v4())),
               AlreadyReserved);
  unit->store().complete(lease, answer());
  expect_usable(*unit);
  expect<Replay>(reserve(key()));
}

CONFORMANCE_TEST(StoreConformance, RowOwnTransactionWithOtherFingerprintIsAlreadyReserved) {
  auto unit = begin();
  expect_acquired(unit->store().reserve(key(), request(), options()), How::fresh);
  EXPECT_THROW((void)unit->store().reserve(key(), other_request(), options()), AlreadyReserved);
  expect_usable(*unit);
}

CONFORMANCE_TEST(StoreConformance, RowOwnTransactionThatTookOverIsAlreadyReserved) {
  acquire(key(), resumable());
  advance(lease_time + std::chrono::minutes{1});
  auto unit = begin();
  expect_acquired(unit->store().reserve(key(), request(), resumable()), How::took_over);
  EXPECT_THROW((void)unit->store().reserve(key(), request(), resumable()), AlreadyReserved);
  expect_usable(*unit);
}

CONFORMANCE_TEST(StoreConformance, RowOwnTransactionUnderTheSameAttemptIsAcquiredAgain) {
  auto unit = begin();
  const Lease lease = expect_acquired(unit->store().reserve(key(), request(), options()), How::fresh).lease;
  const Lease again =
      expect_acquired(unit->store().reserve(key(), request(), under_attempt(lease.holder.attempt)),
                      How::again)
          .lease;
  EXPECT_EQ(again.holder, lease.holder);
  expect_usable(*unit);
}

CONFORMANCE_TEST(StoreConformance, RowOwnTransactionThatSettledIsReplay) {
  auto unit = begin();
  const Lease lease = expect_acquired(unit->store().reserve(key(), request(), options()), How::fresh).lease;
  unit->store().complete(lease, answer());
  EXPECT_EQ(expect<Replay>(unit->store().reserve(key(), request(), options())).response, answer());
  expect<Mismatch>(unit->store().reserve(key(), other_request(), options()));
  expect_usable(*unit);
}

// A key reserved in this transaction and one of an earlier transaction are told apart.
CONFORMANCE_TEST(StoreConformance, RowInProgressOfAnEarlierTransactionIsNotAlreadyReserved) {
  acquire(key());
  auto unit = begin();
  expect_acquired(unit->store().reserve(key("k2"), request(), options()), How::fresh);
  expect<InProgress>(unit->store().reserve(key(), request(), options()));
  expect_usable(*unit);
}

}  // namespace

void register_state_table(const std::string& name, const StoreConformance::MakeFixture& make) {
  register_conformance_cases(name, CONFORMANCE_CASES, make);
}

}  // namespace testing
}  // namespace v0
}  // namespace idem
