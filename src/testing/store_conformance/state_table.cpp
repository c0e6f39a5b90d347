// Every row of the state table, for the same and for another request.
#pragma once

#include "idem/testing/store_conformance/suite.hpp"

namespace idem {
inline namespace v0 {
namespace testing {

TYPED_TEST_P(StoreConformance, RowAbsentIsAcquiredFresh) {
  const auto before = this->find(this->key());
  const Acquired acquired = expect_acquired(this->reserve(this->key()), How::fresh);
  EXPECT_FALSE(before);
  EXPECT_EQ(acquired.lease.key, this->key());
  EXPECT_EQ(acquired.lease.fingerprint, this->request());
  EXPECT_EQ(acquired.lease.generation, acquired.lease.holder.fence);
  EXPECT_NE(acquired.lease.holder.attempt, Uuid{});

  const Record record = this->record(this->key());
  EXPECT_EQ(record.key, this->key());
  EXPECT_EQ(record.fingerprint, this->request());
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
  EXPECT_EQ(record.lease_until - record.created_at, this->lease_time);
  EXPECT_EQ(record.retention, this->retention);
  EXPECT_EQ(record.response, std::nullopt);
  EXPECT_EQ(record.finished_at, std::nullopt);
  EXPECT_EQ(record.expires_at, std::nullopt);
  EXPECT_EQ(record.resolved_by, std::nullopt);
  EXPECT_EQ(record.resolved_note, std::nullopt);
}

TYPED_TEST_P(StoreConformance, RowAbsentRecordsWhatWasAskedFor) {
  ReserveOptions options = this->resumable();
  options.call_deadline = std::chrono::minutes{5};
  this->acquire(this->key(), options);
  const Record record = this->record(this->key());
  EXPECT_TRUE(record.resumable);
  EXPECT_EQ(record.downstream, "acquirer");
  ASSERT_TRUE(record.window_until);
  EXPECT_EQ(*record.window_until - record.created_at, this->window);
  EXPECT_EQ(record.call_deadline, std::chrono::minutes{5});
}

TYPED_TEST_P(StoreConformance, RowExpiredCompletedIsAcquiredFreshWithEveryColumnNew) {
  const Lease old = this->acquire(this->key(), this->resumable());
  this->mark_sent(old);
  this->complete(old);
  this->advance(this->retention + std::chrono::minutes{1});

  const Acquired acquired = expect_acquired(this->reserve(this->key()), How::fresh);
  EXPECT_GT(acquired.lease.holder.fence, old.holder.fence);
  EXPECT_NE(acquired.lease.holder.attempt, old.holder.attempt);
  const Record record = this->record(this->key());
  EXPECT_EQ(record.state, State::in_progress);
  EXPECT_EQ(record.holder, acquired.lease.holder);
  EXPECT_EQ(record.generation, acquired.lease.holder.fence);
  EXPECT_FALSE(record.taken_over());
  EXPECT_FALSE(record.resumable);
  EXPECT_EQ(record.downstream, std::nullopt);
  EXPECT_EQ(record.window_until, std::nullopt);
  EXPECT_EQ(record.sent_at, std::nullopt);
  EXPECT_EQ(record.lease_until - record.created_at, this->lease_time);
  EXPECT_EQ(record.response, std::nullopt);
  EXPECT_EQ(record.finished_at, std::nullopt);
  EXPECT_EQ(record.expires_at, std::nullopt);
}

TYPED_TEST_P(StoreConformance, RowExpiredFailedIsAcquiredFresh) {
  this->fail(this->acquire(this->key()));
  this->advance(this->retention + std::chrono::minutes{1});
  expect_acquired(this->reserve(this->key()), How::fresh);
}

TYPED_TEST_P(StoreConformance, RowExpiredResolvedIsAcquiredFreshWithoutTheResolution) {
  const Lease lease = this->acquire(this->key());
  this->mark_unknown(lease);
  this->resolve(lease, State::completed, this->charged(lease));
  this->advance(this->retention + std::chrono::minutes{1});
  expect_acquired(this->reserve(this->key()), How::fresh);
  const Record record = this->record(this->key());
  EXPECT_EQ(record.resolved_by, std::nullopt);
  EXPECT_EQ(record.resolved_note, std::nullopt);
}

TYPED_TEST_P(StoreConformance, RowExpiredWithOtherFingerprintIsAcquiredFresh) {
  this->complete(this->acquire(this->key()));
  this->advance(this->retention + std::chrono::minutes{1});
  expect_acquired(this->reserve(this->key(), this->other_request()), How::fresh);
  EXPECT_EQ(this->record(this->key()).fingerprint, this->other_request());
}

// Faults 1, 3: one minute before the lease's end, and one after it.
TYPED_TEST_P(StoreConformance, RowInProgressLiveIsInProgress) {
  this->acquire(this->key());
  EXPECT_EQ(expect<InProgress>(this->reserve(this->key())).retry_after, std::chrono::seconds{1});
  this->advance(this->lease_time - std::chrono::minutes{1});
  EXPECT_EQ(expect<InProgress>(this->reserve(this->key())).retry_after, std::chrono::seconds{1});
  this->advance(std::chrono::minutes{2});
  expect<Unknown>(this->reserve(this->key()));
}

TYPED_TEST_P(StoreConformance, RowInProgressLiveResumableIsInProgress) {
  this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time - std::chrono::minutes{1});
  expect<InProgress>(this->reserve(this->key(), this->request(), this->resumable()));
}

TYPED_TEST_P(StoreConformance, RowInProgressLiveLeavesTheRecordAsItIs) {
  this->acquire(this->key());
  const Record before = this->record(this->key());
  ReserveOptions other = this->resumable();
  other.lease *= 2;
  other.retention *= 2;
  expect<InProgress>(this->reserve(this->key(), this->request(), other));
  this->expect_same(before, this->record(this->key()));
}

TYPED_TEST_P(StoreConformance, RowInProgressLiveWithOtherFingerprintIsMismatch) {
  this->acquire(this->key());
  const Record before = this->record(this->key());
  expect<Mismatch>(this->reserve(this->key(), this->other_request()));
  this->expect_same(before, this->record(this->key()));
}

TYPED_TEST_P(StoreConformance, RowInProgressLapsedResumableIsTakenOver) {
  const Lease first = this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  const Record before = this->record(this->key());
  const Acquired taken =
      expect_acquired(this->reserve(this->key(), this->request(), this->resumable()), How::took_over);
  EXPECT_GT(taken.lease.holder.fence, first.holder.fence);
  EXPECT_NE(taken.lease.holder.attempt, first.holder.attempt);
  EXPECT_EQ(taken.lease.generation, first.generation);
  EXPECT_EQ(taken.lease.fingerprint, first.fingerprint);

  const Record after = this->record(this->key());
  EXPECT_EQ(after.state, State::in_progress);
  EXPECT_TRUE(after.taken_over());
  EXPECT_EQ(after.holder, taken.lease.holder);
  EXPECT_EQ(after.generation, before.generation);
  EXPECT_EQ(after.lease_until, taken.lease.lease_until);
  EXPECT_EQ(after.created_at, before.created_at);
  EXPECT_EQ(after.window_until, before.window_until);
  EXPECT_EQ(after.retention, before.retention);
  // The new lease is a live one.
  expect<InProgress>(this->reserve(this->key(), this->request(), this->resumable()));
  this->advance(this->lease_time - std::chrono::minutes{1});
  expect<InProgress>(this->reserve(this->key(), this->request(), this->resumable()));
}

TYPED_TEST_P(StoreConformance, RowInProgressLapsedResumableWithOtherFingerprintIsMismatch) {
  this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  const Record before = this->record(this->key());
  expect<Mismatch>(this->reserve(this->key(), this->other_request(), this->resumable()));
  this->expect_same(before, this->record(this->key()));
}

TYPED_TEST_P(StoreConformance, RowInProgressLapsedAskerDoesNotResumeIsUnknownAndLeftAsItIs) {
  this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  const Record before = this->record(this->key());
  EXPECT_EQ(expect<Unknown>(this->reserve(this->key())).response, std::nullopt);
  this->expect_same(before, this->record(this->key()));
  expect_acquired(this->reserve(this->key(), this->request(), this->resumable()), How::took_over);
}

TYPED_TEST_P(StoreConformance, RowInProgressLapsedAskerDoesNotResumeWithOtherFingerprintIsMismatch) {
  this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  const Record before = this->record(this->key());
  expect<Mismatch>(this->reserve(this->key(), this->other_request()));
  this->expect_same(before, this->record(this->key()));
}

// Fault 4: what may have had an outside effect is never run again.
TYPED_TEST_P(StoreConformance, RowInProgressLapsedNotResumableTurnsUnknown) {
  const Lease first = this->acquire(this->key());
  this->advance(this->lease_time + std::chrono::minutes{1});
  const Unknown turned = expect<Unknown>(this->reserve(this->key()));
  EXPECT_EQ(turned.response, std::nullopt);
  ASSERT_TRUE(turned.turned);
  EXPECT_EQ(turned.turned->holder, first.holder);
  EXPECT_EQ(turned.turned->generation, first.generation);
  const Record after = this->record(this->key());
  EXPECT_EQ(after.state, State::unknown);
  EXPECT_EQ(after.holder, first.holder);
  EXPECT_EQ(after.expires_at, std::nullopt);
  EXPECT_EQ(after.response, std::nullopt);
  // Whoever asks and however; only the first one turned it.
  EXPECT_FALSE(expect<Unknown>(this->reserve(this->key(), this->request(), this->resumable())).turned);
}

// Whoever turns a record UNKNOWN stores in the same transaction what duplicates are told.
TYPED_TEST_P(StoreConformance, RowInProgressLapsedTurnedUnknownIsGivenItsResponseOnce) {
  const Response told{202, {}, text_response(0, "ask again").body};
  this->acquire(this->key());
  this->advance(this->lease_time + std::chrono::minutes{1});
  std::optional<Lease> turned;
  this->in_transaction([&](IdempotencyStore& store) {
    turned = expect<Unknown>(store.reserve(this->key(), this->request(), this->options())).turned;
    store.mark_unknown(turned.value(), told);
  });
  EXPECT_EQ(expect<Unknown>(this->reserve(this->key())).response, told);
  this->template expect_lost_and_nothing_committed<LeaseLost>(
      [&](IdempotencyStore& store) { store.mark_unknown(turned.value(), this->answer()); });
  EXPECT_EQ(this->record(this->key()).response, told);
}

TYPED_TEST_P(StoreConformance, RowInProgressLapsedNotResumableWithOtherFingerprintIsMismatch) {
  this->acquire(this->key());
  this->advance(this->lease_time + std::chrono::minutes{1});
  const Record before = this->record(this->key());
  expect<Mismatch>(this->reserve(this->key(), this->other_request()));
  this->expect_same(before, this->record(this->key()));
}

TYPED_TEST_P(StoreConformance, RowCompletedIsReplay) {
  const Lease lease = this->acquire(this->key());
  const TimePoint expires_at = this->complete(lease);
  const Replay replay = expect<Replay>(this->reserve(this->key()));
  EXPECT_EQ(replay.state, State::completed);
  EXPECT_EQ(replay.response, this->answer());
  EXPECT_EQ(replay.expires_at, expires_at);
  const Record record = this->record(this->key());
  EXPECT_EQ(record.state, State::completed);
  EXPECT_EQ(record.holder, lease.holder);
  EXPECT_EQ(record.fingerprint, this->request());
  EXPECT_EQ(record.expires_at, expires_at);
  // Again and again, for whoever asks in whatever way.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(expect<Replay>(this->reserve(this->key(), this->request(), this->resumable())).response,
              this->answer());
  }
}

// Faults 33, 34.
TYPED_TEST_P(StoreConformance, RowCompletedWithOtherFingerprintIsMismatch) {
  this->complete(this->acquire(this->key()));
  const Record before = this->record(this->key());
  expect<Mismatch>(this->reserve(this->key(), this->other_request()));
  this->expect_same(before, this->record(this->key()));
  expect<Replay>(this->reserve(this->key()));
}

// Fault 23: a business refusal is an answer.
TYPED_TEST_P(StoreConformance, RowFailedIsReplay) {
  const Response declined{402, {{"Content-Type", "text/plain"}}, text_response(0, "declined").body};
  const TimePoint expires_at = this->fail(this->acquire(this->key()), declined);
  const Replay replay = expect<Replay>(this->reserve(this->key()));
  EXPECT_EQ(replay.state, State::failed);
  EXPECT_EQ(replay.response, declined);
  EXPECT_EQ(replay.expires_at, expires_at);
}

TYPED_TEST_P(StoreConformance, RowFailedWithOtherFingerprintIsMismatch) {
  this->fail(this->acquire(this->key()));
  expect<Mismatch>(this->reserve(this->key(), this->other_request()));
}

TYPED_TEST_P(StoreConformance, RowUnknownIsUnknownWithItsResponse) {
  const Response told{202, {}, text_response(0, "ask again").body};
  const Lease lease = this->acquire(this->key(), this->resumable());
  this->mark_unknown(lease, told);
  const Record before = this->record(this->key());
  EXPECT_EQ(before.state, State::unknown);
  EXPECT_EQ(before.holder, lease.holder);
  EXPECT_EQ(before.finished_at, std::nullopt);
  EXPECT_EQ(before.expires_at, std::nullopt);
  // A lapsed lease and a resuming asker change nothing about it.
  EXPECT_EQ(expect<Unknown>(this->reserve(this->key())).response, told);
  EXPECT_EQ(expect<Unknown>(this->reserve(this->key(), this->request(), this->resumable())).response, told);
  this->expect_same(before, this->record(this->key()));
  this->advance(this->lease_time + std::chrono::minutes{1});
  EXPECT_EQ(expect<Unknown>(this->reserve(this->key(), this->request(), this->resumable())).response, told);
}

TYPED_TEST_P(StoreConformance, RowUnknownWithOtherFingerprintIsMismatch) {
  this->mark_unknown(this->acquire(this->key()));
  const Record before = this->record(this->key());
  expect<Mismatch>(this->reserve(this->key(), this->other_request()));
  this->expect_same(before, this->record(this->key()));
}

TYPED_TEST_P(StoreConformance, RowUnknownIsUnknownForItsOwnAttemptToo) {
  const Lease lease = this->acquire(this->key());
  this->mark_unknown(lease);
  expect<Unknown>(this->reserve(this->key(), this->request(), this->under_attempt(lease.holder.attempt)));
}

TYPED_TEST_P(StoreConformance, RowOwnAttemptLiveIsAcquiredAgainAndItsLeaseRenewed) {
  const Lease first = this->acquire(this->key());
  this->advance(std::chrono::minutes{30});
  const Record before = this->record(this->key());
  const Acquired again = expect_acquired(
      this->reserve(this->key(), this->request(), this->under_attempt(first.holder.attempt)), How::again);
  EXPECT_EQ(again.lease.holder, first.holder);
  EXPECT_EQ(again.lease.generation, first.generation);
  EXPECT_EQ(again.lease.fingerprint, first.fingerprint);
  const Record after = this->record(this->key());
  EXPECT_EQ(after.lease_until, again.lease.lease_until);
  EXPECT_GE(after.lease_until - before.lease_until, std::chrono::minutes{30});
  EXPECT_EQ(after.created_at, before.created_at);
  this->complete(again.lease);
}

TYPED_TEST_P(StoreConformance, RowOwnAttemptLapsedIsAcquiredAgain) {
  const Lease first = this->acquire(this->key());
  this->advance(this->lease_time + std::chrono::minutes{1});
  const Acquired again = expect_acquired(
      this->reserve(this->key(), this->request(), this->under_attempt(first.holder.attempt)), How::again);
  EXPECT_EQ(again.lease.holder, first.holder);
  expect<InProgress>(this->reserve(this->key()));
}

TYPED_TEST_P(StoreConformance, RowOwnAttemptWithOtherFingerprintIsMismatch) {
  const Lease first = this->acquire(this->key());
  const ReserveOptions own = this->under_attempt(first.holder.attempt);
  expect<Mismatch>(this->reserve(this->key(), this->other_request(), own));
  this->advance(this->lease_time + std::chrono::minutes{1});
  const Record before = this->record(this->key());
  expect<Mismatch>(this->reserve(this->key(), this->other_request(), own));
  this->expect_same(before, this->record(this->key()));
}

TYPED_TEST_P(StoreConformance, RowOwnAttemptThatWasTakenOverIsInProgress) {
  const Lease first = this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  expect_acquired(this->reserve(this->key(), this->request(), this->resumable()), How::took_over);
  expect<InProgress>(this->reserve(this->key(), this->request(), this->under_attempt(first.holder.attempt)));
}

TYPED_TEST_P(StoreConformance, RowOwnTransactionIsAlreadyReservedAndTheTransactionUsable) {
  auto unit = this->begin();
  const Lease lease =
      expect_acquired(unit.store().reserve(this->key(), this->request(), this->options()), How::fresh).lease;
  EXPECT_THROW((void)unit.store().reserve(this->key(), this->request(), this->options()), AlreadyReserved);
  EXPECT_THROW(
      (void)unit.store().reserve(this->key(), this->request(), this->under_attempt(random_uuid_v4())),
      AlreadyReserved);
  unit.store().complete(lease, this->answer());
  this->expect_usable(unit);
  expect<Replay>(this->reserve(this->key()));
}

TYPED_TEST_P(StoreConformance, RowOwnTransactionWithOtherFingerprintIsAlreadyReserved) {
  auto unit = this->begin();
  expect_acquired(unit.store().reserve(this->key(), this->request(), this->options()), How::fresh);
  EXPECT_THROW((void)unit.store().reserve(this->key(), this->other_request(), this->options()),
               AlreadyReserved);
  this->expect_usable(unit);
}

TYPED_TEST_P(StoreConformance, RowOwnTransactionThatTookOverIsAlreadyReserved) {
  this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  auto unit = this->begin();
  expect_acquired(unit.store().reserve(this->key(), this->request(), this->resumable()), How::took_over);
  EXPECT_THROW((void)unit.store().reserve(this->key(), this->request(), this->resumable()), AlreadyReserved);
  this->expect_usable(unit);
}

TYPED_TEST_P(StoreConformance, RowOwnTransactionUnderTheSameAttemptIsAcquiredAgain) {
  auto unit = this->begin();
  const Lease lease =
      expect_acquired(unit.store().reserve(this->key(), this->request(), this->options()), How::fresh).lease;
  const Lease again = expect_acquired(unit.store().reserve(this->key(), this->request(),
                                                           this->under_attempt(lease.holder.attempt)),
                                      How::again)
                          .lease;
  EXPECT_EQ(again.holder, lease.holder);
  this->expect_usable(unit);
}

TYPED_TEST_P(StoreConformance, RowOwnTransactionThatSettledIsReplay) {
  auto unit = this->begin();
  const Lease lease =
      expect_acquired(unit.store().reserve(this->key(), this->request(), this->options()), How::fresh).lease;
  unit.store().complete(lease, this->answer());
  EXPECT_EQ(expect<Replay>(unit.store().reserve(this->key(), this->request(), this->options())).response,
            this->answer());
  expect<Mismatch>(unit.store().reserve(this->key(), this->other_request(), this->options()));
  this->expect_usable(unit);
}

// A key reserved in this transaction and one of an earlier transaction are told apart.
TYPED_TEST_P(StoreConformance, RowInProgressOfAnEarlierTransactionIsNotAlreadyReserved) {
  this->acquire(this->key());
  auto unit = this->begin();
  expect_acquired(unit.store().reserve(this->key("k2"), this->request(), this->options()), How::fresh);
  expect<InProgress>(unit.store().reserve(this->key(), this->request(), this->options()));
  this->expect_usable(unit);
}

}  // namespace testing
}  // namespace v0
}  // namespace idem
