// Rules 1 to 12, by number.
#pragma once

#include "idem/testing/store_conformance/suite.hpp"

namespace idem {
inline namespace v0 {
namespace testing {

// ---- 1: every later write matches fence and attempt

TYPED_TEST_P(StoreConformance, Rule1EachWriteUnderAnotherFenceIsLeaseLostAndCommitsNothing) {
  const Lease lease = this->acquire(this->key());
  const Record before = this->record(this->key());
  for (const auto& write : this->writes()) {
    SCOPED_TRACE(write.name);
    for (const std::int64_t off : {-1, 1}) {
      Lease other = lease;
      other.holder.fence += off;
      this->template expect_lost_and_nothing_committed<LeaseLost>(
          [&](IdempotencyStore& store) { write(store, other); });
    }
  }
  this->expect_same(before, this->record(this->key()));
}

TYPED_TEST_P(StoreConformance, Rule1EachWriteUnderAnotherAttemptIsLeaseLostAndCommitsNothing) {
  const Lease lease = this->acquire(this->key());
  const Record before = this->record(this->key());
  Lease other = lease;
  other.holder.attempt = random_uuid_v4();
  for (const auto& write : this->writes()) {
    SCOPED_TRACE(write.name);
    this->template expect_lost_and_nothing_committed<LeaseLost>(
        [&](IdempotencyStore& store) { write(store, other); });
  }
  this->expect_same(before, this->record(this->key()));
}

// Faults 9, 10, 11.
TYPED_TEST_P(StoreConformance, Rule1EachWriteAfterATakeoverIsLeaseLostAndCommitsNothing) {
  const Lease stale = this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  const Lease current =
      expect_acquired(this->reserve(this->key(), this->request(), this->resumable()), How::took_over).lease;
  const Record before = this->record(this->key());
  for (const auto& write : this->writes()) {
    SCOPED_TRACE(write.name);
    this->template expect_lost_and_nothing_committed<LeaseLost>(
        [&](IdempotencyStore& store) { write(store, stale); });
  }
  this->expect_same(before, this->record(this->key()));
  this->complete(current);
}

TYPED_TEST_P(StoreConformance, Rule1CompleteAfterTheNewHolderSettledIsLeaseLostAndCommitsNothing) {
  const Lease stale = this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  const Lease current =
      expect_acquired(this->reserve(this->key(), this->request(), this->resumable()), How::took_over).lease;
  this->complete(current);
  this->template expect_lost_and_nothing_committed<LeaseLost>(
      [&](IdempotencyStore& store) { store.complete(stale, text_response(500, "late")); });
  EXPECT_EQ(this->record(this->key()).response, this->answer());
}

TYPED_TEST_P(StoreConformance, Rule1EachWriteOnAnAbsentRecordIsLeaseLostAndCommitsNothing) {
  const Lease lease = this->acquire(this->key());
  this->release(lease);
  for (const auto& write : this->writes()) {
    SCOPED_TRACE(write.name);
    this->template expect_lost_and_nothing_committed<LeaseLost>(
        [&](IdempotencyStore& store) { write(store, lease); });
  }
  EXPECT_FALSE(this->find(this->key()));
}

TYPED_TEST_P(StoreConformance, Rule1EachWriteOnAnotherTransactionsUncommittedRecordIsLeaseLost) {
  auto unit = this->begin();
  const Lease lease =
      expect_acquired(unit.store().reserve(this->key(), this->request(), this->options()), How::fresh).lease;
  for (const auto& write : this->writes()) {
    SCOPED_TRACE(write.name);
    this->template expect_lost_and_nothing_committed<LeaseLost>(
        [&](IdempotencyStore& store) { write(store, lease); });
  }
  unit.store().complete(lease, this->answer());
  unit.commit();
}

// An old lease never settles a record that was made anew under the same key.
TYPED_TEST_P(StoreConformance, Rule1ALeaseOfAReleasedRecordNeverSettlesTheNextOne) {
  const Lease old = this->acquire(this->key());
  this->release(old);
  const Lease current = this->acquire(this->key());
  EXPECT_GT(current.holder.fence, old.holder.fence);
  for (const auto& write : this->writes()) {
    SCOPED_TRACE(write.name);
    this->template expect_lost_and_nothing_committed<LeaseLost>(
        [&](IdempotencyStore& store) { write(store, old); });
  }
  this->complete(current);
}

TYPED_TEST_P(StoreConformance, Rule1ALeaseOfAnExpiredRecordNeverSettlesTheNextOne) {
  const Lease old = this->acquire(this->key());
  this->complete(old);
  this->advance(this->retention + std::chrono::minutes{1});
  const Lease current = this->acquire(this->key());
  EXPECT_GT(current.holder.fence, old.holder.fence);
  for (const auto& write : this->writes()) {
    SCOPED_TRACE(write.name);
    this->template expect_lost_and_nothing_committed<LeaseLost>(
        [&](IdempotencyStore& store) { write(store, old); });
  }
  this->complete(current);
}

TYPED_TEST_P(StoreConformance, Rule1ASecondSettlingIsAlreadySettledAndCommitsNothing) {
  for (const State first : {State::completed, State::failed}) {
    const Key key = this->key(first == State::completed ? "completed" : "failed");
    const Lease lease = this->acquire(key);
    first == State::completed ? this->complete(lease) : this->fail(lease);
    const Record before = this->record(key);
    this->template expect_lost_and_nothing_committed<AlreadySettled>(
        [&](IdempotencyStore& store) { store.complete(lease, this->answer()); });
    this->template expect_lost_and_nothing_committed<AlreadySettled>(
        [&](IdempotencyStore& store) { store.fail(lease, this->answer()); });
    this->template expect_lost_and_nothing_committed<AlreadySettled>(
        [&](IdempotencyStore& store) { store.complete(lease, text_response(500, "another answer")); });
    this->expect_same(before, this->record(key));
  }
}

TYPED_TEST_P(StoreConformance, Rule1ASecondSettlingInTheSameTransactionIsAlreadySettledAndCommitsNothing) {
  this->template expect_lost_and_nothing_committed<AlreadySettled>([&](IdempotencyStore& store) {
    const Lease lease =
        expect_acquired(store.reserve(this->key(), this->request(), this->options()), How::fresh).lease;
    store.complete(lease, this->answer());
    store.complete(lease, this->answer());
  });
  EXPECT_FALSE(this->find(this->key()));
}

TYPED_TEST_P(StoreConformance, Rule1EachOtherWriteOnASettledRecordIsLeaseLostAndCommitsNothing) {
  const Lease lease = this->acquire(this->key());
  this->complete(lease);
  const Record before = this->record(this->key());
  for (const auto& write : this->writes()) {
    SCOPED_TRACE(write.name);
    this->template expect_lost_and_nothing_committed<LeaseLost>(
        [&](IdempotencyStore& store) { write(store, lease); });
  }
  this->expect_same(before, this->record(this->key()));
}

TYPED_TEST_P(StoreConformance, Rule1OnlySettlingActsOnAnUnknownRecord) {
  const Lease lease = this->acquire(this->key());
  this->mark_unknown(lease);
  const Record before = this->record(this->key());
  for (const auto& write : this->writes()) {
    const std::string_view name = write.name;
    if (name == "complete" || name == "fail" || name == "hold") continue;
    SCOPED_TRACE(write.name);
    this->template expect_lost_and_nothing_committed<LeaseLost>(
        [&](IdempotencyStore& store) { write(store, lease); });
  }
  this->expect_same(before, this->record(this->key()));
}

TYPED_TEST_P(StoreConformance, Rule1NothingOfALostTransactionIsCommittedNotEvenWhatFollows) {
  const Lease lease = this->acquire(this->key());
  this->complete(lease);
  {
    auto unit = this->begin();
    EXPECT_THROW(unit.store().complete(lease, this->answer()), AlreadySettled);
    try {
      (void)unit.store().reserve(this->key("after"), this->request(), this->options());
      unit.commit();
    } catch (const std::exception&) {
      // May refuse: the transaction is finished.
    }
  }
  EXPECT_FALSE(this->find(this->key("after")));
}

TYPED_TEST_P(StoreConformance, Rule1AfterLeaseLostFindInANewTransactionShowsTheAnswer) {
  const Lease stale = this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  const Lease current =
      expect_acquired(this->reserve(this->key(), this->request(), this->resumable()), How::took_over).lease;
  auto unit = this->begin();
  EXPECT_THROW(unit.store().complete(stale, this->answer()), LeaseLost);
  unit.rollback();
  EXPECT_EQ(this->record(this->key()).state, State::in_progress);
  this->complete(current);
  EXPECT_EQ(this->record(this->key()).response, this->answer());
}

TYPED_TEST_P(StoreConformance, Rule1ALapsedLeaseThatNobodyTookOverStillHolds) {
  for (const auto& write : this->writes()) {
    SCOPED_TRACE(write.name);
    const Lease lease = this->acquire(this->key(write.name));
    this->advance(this->lease_time + std::chrono::minutes{1});
    this->in_transaction([&](IdempotencyStore& store) { write(store, lease); });
  }
}

TYPED_TEST_P(StoreConformance, Rule1TheFenceGrowsWithEachTakeoverReplacementAndRelease) {
  std::int64_t last = 0;
  const auto grows = [&](const Lease& lease) {
    EXPECT_GT(lease.holder.fence, last);
    last = lease.holder.fence;
    return lease;
  };
  Lease lease = grows(this->acquire(this->key(), this->resumable()));
  for (int i = 0; i < 3; ++i) {
    this->advance(this->lease_time + std::chrono::minutes{1});
    lease =
        grows(expect_acquired(this->reserve(this->key(), this->request(), this->resumable()), How::took_over)
                  .lease);
  }
  this->complete(lease);
  this->advance(this->retention + std::chrono::minutes{1});
  lease = grows(this->acquire(this->key()));
  this->release(lease);
  grows(this->acquire(this->key()));
}

TYPED_TEST_P(StoreConformance, Rule1RenewSetsTheLeaseFromNowAndTheLeaseStaysTheHolders) {
  const Lease lease = this->acquire(this->key());
  this->advance(this->lease_time - std::chrono::minutes{1});
  const Lease renewed =
      this->in_transaction([&](IdempotencyStore& store) { return store.renew(lease, this->lease_time); });
  EXPECT_EQ(renewed.holder, lease.holder);
  EXPECT_EQ(renewed.key, lease.key);
  EXPECT_EQ(renewed.generation, lease.generation);
  EXPECT_EQ(renewed.lease_until, this->record(this->key()).lease_until);
  this->advance(this->lease_time - std::chrono::minutes{1});
  expect<InProgress>(this->reserve(this->key()));
  // The lease that was renewed and the one that came of it are the same right.
  this->complete(lease);
}

TYPED_TEST_P(StoreConformance, Rule1RenewCanShortenTheLease) {
  const Lease lease = this->acquire(this->key());
  this->in_transaction([&](IdempotencyStore& store) { (void)store.renew(lease, std::chrono::minutes{5}); });
  this->advance(std::chrono::minutes{6});
  expect<Unknown>(this->reserve(this->key()));
}

TYPED_TEST_P(StoreConformance, Rule1RenewRefusesATimeThatIsNone) {
  const Lease lease = this->acquire(this->key());
  auto unit = this->begin();
  EXPECT_THROW((void)unit.store().renew(lease, std::chrono::milliseconds{0}), InvalidArgument);
  EXPECT_THROW((void)unit.store().renew(lease, std::chrono::milliseconds{-1}), InvalidArgument);
  EXPECT_THROW((void)unit.store().renew(lease, std::chrono::milliseconds::max()), InvalidArgument);
  this->expect_usable(unit);
}

TYPED_TEST_P(StoreConformance, Rule1LapseEndsTheLeaseAndLeavesTheRecordForTheNext) {
  const Lease lease = this->acquire(this->key(), this->resumable());
  this->in_transaction([&](IdempotencyStore& store) { store.lapse(lease); });
  const Record record = this->record(this->key());
  EXPECT_EQ(record.state, State::in_progress);
  EXPECT_EQ(record.holder, lease.holder);
  expect_acquired(this->reserve(this->key(), this->request(), this->resumable()), How::took_over);
}

TYPED_TEST_P(StoreConformance, Rule1WritesWaitForTheTransactionThatHoldsTheRecordAndThenLookAgain) {
  // The holder's own two transactions: one renews, the other completes, which must come after it.
  const Lease lease = this->acquire(this->key());
  auto renewing = this->begin();
  const Lease renewed = renewing.store().renew(lease, 2 * this->lease_time);
  auto completing = std::async(std::launch::async, [&] { this->complete(lease); });
  // Not for the order: only a store that does not wait is done by now.
  EXPECT_EQ(completing.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  renewing.commit();
  completing.get();
  const Record record = this->record(this->key());
  EXPECT_EQ(record.state, State::completed);
  EXPECT_EQ(record.lease_until, renewed.lease_until);
}

TYPED_TEST_P(StoreConformance, Rule1ASettlingThatWaitedForASettlingIsAlreadySettled) {
  const Lease lease = this->acquire(this->key());
  auto first = this->begin();
  first.store().complete(lease, this->answer());
  auto second = std::async(std::launch::async, [&] { this->fail(lease); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  first.commit();
  EXPECT_THROW(second.get(), AlreadySettled);
  EXPECT_EQ(this->record(this->key()).state, State::completed);
}

TYPED_TEST_P(StoreConformance, Rule1ASettlingThatWaitedForARollbackSettles) {
  const Lease lease = this->acquire(this->key());
  auto first = this->begin();
  first.store().complete(lease, this->answer());
  auto second = std::async(std::launch::async, [&] { this->fail(lease); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  first.rollback();
  second.get();
  EXPECT_EQ(this->record(this->key()).state, State::failed);
}

TYPED_TEST_P(StoreConformance, Rule1HoldChangesNothingAndKeepsOthersFromTheRecord) {
  const Lease lease = this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  const Record before = this->record(this->key());
  auto holding = this->begin();
  holding.store().hold(lease);
  this->expect_same(before, holding.store().find(this->key()).value());
  // The lease has lapsed, but who holds the record is not taken over.
  expect<InProgress>(this->reserve(this->key(), this->request(), this->resumable()));
  auto rival = std::async(std::launch::async, [&] { this->fail(lease); });
  EXPECT_EQ(rival.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  holding.store().complete(lease, this->answer());
  holding.commit();
  EXPECT_THROW(rival.get(), AlreadySettled);
  EXPECT_EQ(this->record(this->key()).state, State::completed);
}

TYPED_TEST_P(StoreConformance, Rule1HoldOfASettledRecordIsAlreadySettledAndCommitsNothing) {
  const Lease lease = this->acquire(this->key());
  this->complete(lease);
  this->template expect_lost_and_nothing_committed<AlreadySettled>(
      [&](IdempotencyStore& store) { store.hold(lease); });
}

TYPED_TEST_P(StoreConformance, Rule1HoldOfAnUnknownRecordOfItsOwnLeavesItUnknown) {
  const Lease lease = this->acquire(this->key());
  this->mark_unknown(lease);
  this->in_transaction([&](IdempotencyStore& store) { store.hold(lease); });
  EXPECT_EQ(this->record(this->key()).state, State::unknown);
}

// ---- 2: the slow worker knows the truth

TYPED_TEST_P(StoreConformance, Rule2CompleteSettlesAnUnknownRecordOfItsOwn) {
  const Lease lease = this->acquire(this->key());
  this->mark_unknown(lease, text_response(202, "ask again"));
  this->complete(lease);
  const Replay replay = expect<Replay>(this->reserve(this->key()));
  EXPECT_EQ(replay.state, State::completed);
  EXPECT_EQ(replay.response, this->answer());
}

TYPED_TEST_P(StoreConformance, Rule2FailSettlesARecordThatALapseMadeUnknown) {
  const Lease lease = this->acquire(this->key());
  this->advance(this->lease_time + std::chrono::minutes{1});
  expect<Unknown>(this->reserve(this->key()));
  this->fail(lease);
  EXPECT_EQ(expect<Replay>(this->reserve(this->key())).state, State::failed);
}

TYPED_TEST_P(StoreConformance, Rule2SettlingAnUnknownRecordOfAnotherIsLeaseLostAndCommitsNothing) {
  const Lease lease = this->acquire(this->key());
  this->mark_unknown(lease);
  Lease other = lease;
  other.holder.attempt = random_uuid_v4();
  this->template expect_lost_and_nothing_committed<LeaseLost>(
      [&](IdempotencyStore& store) { store.complete(other, this->answer()); });
  other = lease;
  ++other.holder.fence;
  this->template expect_lost_and_nothing_committed<LeaseLost>(
      [&](IdempotencyStore& store) { store.fail(other, this->answer()); });
  EXPECT_EQ(this->record(this->key()).state, State::unknown);
}

// ---- 3: what may be resumed

TYPED_TEST_P(StoreConformance, Rule3IsNotResumedForAnotherDownstream) {
  this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  const Record before = this->record(this->key());
  expect<Unknown>(this->reserve(this->key(), this->request(),
                                this->resumable(deduplicates_for("another", this->window))));
  this->expect_same(before, this->record(this->key()));
}

// Or nobody would ever settle it.
TYPED_TEST_P(StoreConformance, Rule3IsNotResumedUnderAnotherPromiseOfItsDownstream) {
  this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  expect<Unknown>(
      this->reserve(this->key(), this->request(), this->resumable(cannot_deduplicate("acquirer"))));
  EXPECT_EQ(this->record(this->key()).state, State::unknown);
}

TYPED_TEST_P(StoreConformance, Rule3IsNotResumedWhereTheRecordDoesNotSaySo) {
  ReserveOptions named = this->resumable();
  named.resumable = false;
  this->acquire(this->key(), named);
  this->advance(this->lease_time + std::chrono::minutes{1});
  expect<Unknown>(this->reserve(this->key(), this->request(), this->resumable()));
  EXPECT_EQ(this->record(this->key()).state, State::unknown);
}

TYPED_TEST_P(StoreConformance, Rule3IsNotResumedWhereTheAskerNamesTheDownstreamButDoesNotResume) {
  this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  ReserveOptions named = this->resumable();
  named.resumable = false;
  expect<Unknown>(this->reserve(this->key(), this->request(), named));
  EXPECT_EQ(this->record(this->key()).state, State::in_progress);
}

TYPED_TEST_P(StoreConformance, Rule3IsResumedBeforeTheWindowLessTheMargin) {
  Downstream downstream = deduplicates_for("acquirer", this->window);
  downstream.margin = std::chrono::hours{2};
  this->acquire(this->key(), this->resumable(downstream));
  this->advance(this->window - downstream.margin - std::chrono::minutes{2});
  expect_acquired(this->reserve(this->key(), this->request(), this->resumable(downstream)), How::took_over);
}

TYPED_TEST_P(StoreConformance, Rule3TurnsUnknownAfterTheWindowLessTheMargin) {
  Downstream downstream = deduplicates_for("acquirer", this->window);
  downstream.margin = std::chrono::hours{2};
  this->acquire(this->key(), this->resumable(downstream));
  this->advance(this->window - downstream.margin + std::chrono::minutes{2});
  expect<Unknown>(this->reserve(this->key(), this->request(), this->resumable(downstream)));
  EXPECT_EQ(this->record(this->key()).state, State::unknown);
}

TYPED_TEST_P(StoreConformance, Rule3NeitherATakeoverNorARenewalExtendsTheWindow) {
  const Lease first = this->acquire(this->key(), this->resumable());
  const Record before = this->record(this->key());
  EXPECT_EQ(first.window_until, before.window_until);
  this->in_transaction([&](IdempotencyStore& store) { (void)store.renew(first, std::chrono::hours{20}); });
  EXPECT_EQ(this->record(this->key()).window_until, before.window_until);
  this->advance(std::chrono::hours{21});
  const Acquired later =
      expect_acquired(this->reserve(this->key(), this->request(), this->resumable()), How::took_over);
  EXPECT_EQ(later.lease.window_until, this->record(this->key()).window_until);
  this->advance(std::chrono::hours{4});
  expect<Unknown>(this->reserve(this->key(), this->request(), this->resumable()));
  EXPECT_EQ(this->record(this->key()).state, State::unknown);
}

TYPED_TEST_P(StoreConformance, Rule3IsResumedWithoutTheMarkWhereTheDownstreamCannotDeduplicate) {
  const ReserveOptions options = this->resumable(cannot_deduplicate("acquirer"));
  this->acquire(this->key(), options);
  this->advance(this->lease_time + std::chrono::minutes{1});
  expect_acquired(this->reserve(this->key(), this->request(), options), How::took_over);
}

TYPED_TEST_P(StoreConformance, Rule3TurnsUnknownWithTheMarkWhereTheDownstreamCannotDeduplicate) {
  const ReserveOptions options = this->resumable(cannot_deduplicate("acquirer"));
  this->mark_sent(this->acquire(this->key(), options));
  EXPECT_TRUE(this->record(this->key()).sent_at);
  this->advance(this->lease_time + std::chrono::minutes{1});
  expect<Unknown>(this->reserve(this->key(), this->request(), options));
  EXPECT_EQ(this->record(this->key()).state, State::unknown);
}

TYPED_TEST_P(StoreConformance, Rule3AMarkOfAnEarlierAttemptCountsForTheNext) {
  const ReserveOptions options = this->resumable(cannot_deduplicate("acquirer"));
  this->acquire(this->key(), options);
  this->advance(this->lease_time + std::chrono::minutes{1});
  this->mark_sent(
      expect_acquired(this->reserve(this->key(), this->request(), options), How::took_over).lease);
  this->advance(this->lease_time + std::chrono::minutes{1});
  expect<Unknown>(this->reserve(this->key(), this->request(), options));
}

TYPED_TEST_P(StoreConformance, Rule3AMarkIsKeptOverATakeoverWhereTheDownstreamDeduplicates) {
  this->mark_sent(this->acquire(this->key(), this->resumable()));
  this->advance(this->lease_time + std::chrono::minutes{1});
  const Record before = this->record(this->key());
  expect_acquired(this->reserve(this->key(), this->request(), this->resumable()), How::took_over);
  EXPECT_TRUE(before.sent_at);
  EXPECT_EQ(this->record(this->key()).sent_at, before.sent_at);
}

TYPED_TEST_P(StoreConformance, Rule3ResumableWithoutADownstreamIsRefused) {
  ReserveOptions options = this->options();
  options.resumable = true;
  auto unit = this->begin();
  EXPECT_THROW((void)unit.store().reserve(this->key(), this->request(), options), InvalidArgument);
  this->expect_usable(unit);
  EXPECT_FALSE(this->find(this->key()));
}

TYPED_TEST_P(StoreConformance, Rule3TheRecordedRetentionHoldsOverATakeover) {
  this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  ReserveOptions longer = this->resumable();
  longer.retention *= 3;
  longer.call_deadline = std::chrono::minutes{5};
  const Lease lease =
      expect_acquired(this->reserve(this->key(), this->request(), longer), How::took_over).lease;
  EXPECT_EQ(this->record(this->key()).retention, this->retention);
  EXPECT_EQ(this->record(this->key()).call_deadline.count(), 0);
  this->complete(lease);
  this->advance(this->retention + std::chrono::minutes{1});
  EXPECT_FALSE(this->find(this->key()));
}

// ---- 4: what expires, and when

// Fault 13: from settling, whatever came before.
TYPED_TEST_P(StoreConformance, Rule4TheRetentionCountsFromSettling) {
  const Lease completed = this->acquire(this->key("completed"));
  const Lease failed = this->acquire(this->key("failed"));
  const Lease resolved = this->acquire(this->key("resolved"));
  this->mark_unknown(resolved);
  this->advance(std::chrono::hours{50});
  this->complete(completed);
  this->fail(failed);
  this->resolve(resolved, State::completed, this->charged(resolved));
  for (const char* name : {"completed", "failed", "resolved"}) {
    SCOPED_TRACE(name);
    const Record record = this->record(this->key(name));
    ASSERT_TRUE(record.finished_at && record.expires_at);
    EXPECT_EQ(*record.expires_at - *record.finished_at, this->retention);
    EXPECT_GE(*record.finished_at - record.created_at, std::chrono::hours{50});
  }
  this->advance(this->retention - std::chrono::minutes{1});
  for (const char* name : {"completed", "failed", "resolved"}) expect<Replay>(this->reserve(this->key(name)));
  this->advance(std::chrono::minutes{2});
  for (const char* name : {"completed", "failed", "resolved"}) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(this->find(this->key(name)));
    expect_acquired(this->reserve(this->key(name), this->other_request()), How::fresh);
  }
}

TYPED_TEST_P(StoreConformance, Rule4TheTimeOfExpiryIsToldWithTheAnswer) {
  const Lease lease = this->acquire(this->key());
  const TimePoint told = this->complete(lease);
  EXPECT_EQ(this->record(this->key()).expires_at, told);
  EXPECT_EQ(expect<Replay>(this->reserve(this->key())).expires_at, told);
}

TYPED_TEST_P(StoreConformance, Rule4InProgressNeverExpires) {
  this->acquire(this->key(), this->resumable());
  this->advance(10 * this->retention);
  EXPECT_EQ(this->record(this->key()).state, State::in_progress);
  expect<Mismatch>(this->reserve(this->key(), this->other_request()));
  expect<Unknown>(this->reserve(this->key()));
}

TYPED_TEST_P(StoreConformance, Rule4UnknownNeverExpires) {
  this->mark_unknown(this->acquire(this->key()));
  this->advance(10 * this->retention);
  EXPECT_EQ(this->record(this->key()).state, State::unknown);
  expect<Mismatch>(this->reserve(this->key(), this->other_request()));
  EXPECT_EQ(expect<Unknown>(this->reserve(this->key())).response, this->answer());
}

// ---- 5: resolving

TYPED_TEST_P(StoreConformance, Rule5ResolveToCompletedWithTheGeneration) {
  const Lease lease = this->acquire(this->key());
  this->mark_unknown(lease);
  const TimePoint expires_at = this->resolve(lease, State::completed, this->charged(lease));
  const Record record = this->record(this->key());
  EXPECT_EQ(record.state, State::completed);
  EXPECT_EQ(record.resolved_by, "operator");
  EXPECT_EQ(record.resolved_note, "the acquirer's report shows the charge");
  EXPECT_EQ(record.expires_at, expires_at);
  EXPECT_EQ(record.holder, lease.holder);
  const Replay replay = expect<Replay>(this->reserve(this->key()));
  EXPECT_EQ(replay.state, State::completed);
  EXPECT_EQ(replay.response, this->answer());
}

TYPED_TEST_P(StoreConformance, Rule5ResolveToCompletedWithTheTimeOfTheCharge) {
  const Lease lease = this->acquire(this->key());
  this->mark_unknown(lease);
  Resolution resolution{"operator", "found the charge"};
  resolution.effect_at = this->record(this->key()).created_at;
  this->resolve(lease, State::completed, resolution);
  EXPECT_EQ(this->record(this->key()).state, State::completed);
}

TYPED_TEST_P(StoreConformance,
             Rule5ResolveToCompletedForAnotherGenerationsChargeIsRefusedAndTheTransactionUsable) {
  const Lease lease = this->acquire(this->key());
  this->mark_unknown(lease);
  const Record before = this->record(this->key());
  auto unit = this->begin();
  const auto resolve = [&](const Resolution& resolution) {
    unit.store().resolve(lease.key, lease.holder, State::completed, this->answer(), resolution);
  };
  Resolution evidence{"operator", "found a charge"};
  EXPECT_THROW(resolve(evidence), InvalidArgument);
  evidence.generation = lease.generation - 1;
  EXPECT_THROW(resolve(evidence), InvalidArgument);
  evidence.generation.reset();
  evidence.effect_at = before.created_at - std::chrono::microseconds{1};
  EXPECT_THROW(resolve(evidence), InvalidArgument);
  // One good proof does not heal the other.
  evidence.generation = lease.generation;
  EXPECT_THROW(resolve(evidence), InvalidArgument);
  this->expect_usable(unit);
  this->expect_same(before, this->record(this->key()));
}

TYPED_TEST_P(StoreConformance, Rule5ResolveToFailedIsTooEarlyUntilTheLeaseAndTheCallsDeadlineAreOver) {
  ReserveOptions options = this->options();
  options.call_deadline = std::chrono::minutes{30};
  const Lease lease = this->acquire(this->key(), options);
  this->mark_unknown(lease);
  for (const auto step : {std::chrono::minutes{0}, std::chrono::minutes{61}, std::chrono::minutes{28}}) {
    this->advance(step);
    const Record before = this->record(this->key());
    auto unit = this->begin();
    EXPECT_THROW(
        unit.store().resolve(lease.key, lease.holder, State::failed, this->answer(), this->not_charged()),
        TooEarly);
    unit.commit();
    this->expect_same(before, this->record(this->key()));
  }
  this->advance(std::chrono::minutes{2});
  this->resolve(lease, State::failed, this->not_charged());
  EXPECT_EQ(expect<Replay>(this->reserve(this->key())).state, State::failed);
}

TYPED_TEST_P(StoreConformance, Rule5ResolveToFailedNeedsADefinitiveAnswer) {
  const Lease lease = this->acquire(this->key());
  this->mark_unknown(lease);
  this->advance(this->lease_time + std::chrono::minutes{1});
  auto unit = this->begin();
  const Resolution not_found{"operator", "not found at the acquirer"};
  EXPECT_THROW(unit.store().resolve(lease.key, lease.holder, State::failed, this->answer(), not_found),
               InvalidArgument);
  this->expect_usable(unit);
  EXPECT_EQ(this->record(this->key()).state, State::unknown);
}

TYPED_TEST_P(StoreConformance, Rule5ResolveActsOnUnknownOnly) {
  const Lease lease = this->acquire(this->key());
  const auto resolve = [&](IdempotencyStore& store) {
    store.resolve(lease.key, lease.holder, State::completed, this->answer(), this->charged(lease));
  };
  this->template expect_lost_and_nothing_committed<LeaseLost>(resolve);
  EXPECT_EQ(this->record(this->key()).state, State::in_progress);
  // A lapsed record that nobody has turned UNKNOWN is still IN_PROGRESS.
  this->advance(this->lease_time + std::chrono::minutes{1});
  this->template expect_lost_and_nothing_committed<LeaseLost>(resolve);
  this->release(lease);
  this->template expect_lost_and_nothing_committed<LeaseLost>(resolve);
}

TYPED_TEST_P(StoreConformance, Rule5ResolveMatchesFenceAndAttempt) {
  const Lease lease = this->acquire(this->key());
  this->mark_unknown(lease);
  Lease other = lease;
  ++other.holder.fence;
  const auto resolve = [&](IdempotencyStore& store) {
    store.resolve(other.key, other.holder, State::completed, this->answer(), this->charged(lease));
  };
  this->template expect_lost_and_nothing_committed<LeaseLost>(resolve);
  other = lease;
  other.holder.attempt = random_uuid_v4();
  this->template expect_lost_and_nothing_committed<LeaseLost>(resolve);
  EXPECT_EQ(this->record(this->key()).state, State::unknown);
}

TYPED_TEST_P(StoreConformance, Rule5ASecondResolveIsAlreadySettledAndCommitsNothing) {
  const Lease lease = this->acquire(this->key());
  this->mark_unknown(lease);
  this->resolve(lease, State::completed, this->charged(lease));
  const Record before = this->record(this->key());
  this->template expect_lost_and_nothing_committed<AlreadySettled>([&](IdempotencyStore& store) {
    store.resolve(lease.key, lease.holder, State::completed, this->answer(), this->charged(lease));
  });
  this->template expect_lost_and_nothing_committed<AlreadySettled>(
      [&](IdempotencyStore& store) { store.complete(lease, this->answer()); });
  this->expect_same(before, this->record(this->key()));
}

TYPED_TEST_P(StoreConformance, Rule5ResolveAfterTheSlowWorkerSettledIsAlreadySettled) {
  const Lease lease = this->acquire(this->key());
  this->mark_unknown(lease);
  this->complete(lease);
  this->template expect_lost_and_nothing_committed<AlreadySettled>([&](IdempotencyStore& store) {
    store.resolve(lease.key, lease.holder, State::completed, text_response(200, "another"),
                  this->charged(lease));
  });
  EXPECT_EQ(this->record(this->key()).response, this->answer());
}

TYPED_TEST_P(StoreConformance, Rule5ResolveIsRolledBackWithItsTransaction) {
  const Lease lease = this->acquire(this->key());
  this->mark_unknown(lease);
  {
    auto unit = this->begin();
    unit.store().resolve(lease.key, lease.holder, State::completed, this->answer(), this->charged(lease));
    unit.rollback();
  }
  EXPECT_EQ(this->record(this->key()).state, State::unknown);
}

TYPED_TEST_P(StoreConformance, Rule5ResolveRefusesAnythingButASettledStateAndItsNames) {
  const Lease lease = this->acquire(this->key());
  this->mark_unknown(lease);
  auto unit = this->begin();
  const auto resolve = [&](State state, const Resolution& resolution) {
    unit.store().resolve(lease.key, lease.holder, state, this->answer(), resolution);
  };
  EXPECT_THROW(resolve(State::in_progress, this->charged(lease)), InvalidArgument);
  EXPECT_THROW(resolve(State::unknown, this->charged(lease)), InvalidArgument);
  Resolution nameless = this->charged(lease);
  nameless.who.clear();
  EXPECT_THROW(resolve(State::completed, nameless), InvalidArgument);
  Resolution long_winded = this->charged(lease);
  long_winded.why.assign(1001, 'x');
  EXPECT_THROW(resolve(State::completed, long_winded), InvalidArgument);
  this->expect_usable(unit);
}

// ---- 6: releasing

TYPED_TEST_P(StoreConformance, Rule6ReleaseMakesTheKeyANewRequest) {
  const Lease lease = this->acquire(this->key());
  this->release(lease);
  EXPECT_FALSE(this->find(this->key()));
  const Lease next = expect_acquired(this->reserve(this->key(), this->other_request()), How::fresh).lease;
  EXPECT_GT(next.holder.fence, lease.holder.fence);
}

TYPED_TEST_P(StoreConformance, Rule6ReleaseIsRolledBackWithItsTransaction) {
  const Lease lease = this->acquire(this->key());
  const Record before = this->record(this->key());
  {
    auto unit = this->begin();
    unit.store().release(lease);
    EXPECT_FALSE(unit.store().find(this->key()));
    unit.rollback();
  }
  this->expect_same(before, this->record(this->key()));
}

TYPED_TEST_P(StoreConformance, Rule6ReleaseInTheReservingTransactionLeavesNothing) {
  auto unit = this->begin();
  Lease lease =
      expect_acquired(unit.store().reserve(this->key(), this->request(), this->options()), How::fresh).lease;
  unit.store().release(lease);
  lease =
      expect_acquired(unit.store().reserve(this->key(), this->other_request(), this->options()), How::fresh)
          .lease;
  unit.store().release(lease);
  this->expect_usable(unit);
  EXPECT_FALSE(this->find(this->key()));
}

TYPED_TEST_P(StoreConformance, Rule6ReleaseOfARecordThatWasTakenOverIsRefusedAndTheTransactionUsable) {
  this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  const Lease lease =
      expect_acquired(this->reserve(this->key(), this->request(), this->resumable()), How::took_over).lease;
  const Record before = this->record(this->key());
  auto unit = this->begin();
  EXPECT_THROW(unit.store().release(lease), InvalidArgument);
  this->expect_usable(unit);
  this->expect_same(before, this->record(this->key()));
}

TYPED_TEST_P(StoreConformance, Rule6ReleaseOfARecordThatWasMarkedSentIsRefusedAndTheTransactionUsable) {
  const Lease lease = this->acquire(this->key());
  this->mark_sent(lease);
  const Record before = this->record(this->key());
  auto unit = this->begin();
  EXPECT_THROW(unit.store().release(lease), InvalidArgument);
  this->expect_usable(unit);
  this->expect_same(before, this->record(this->key()));
}

// ---- 7: only decisions are stored

// Fault 50.
TYPED_TEST_P(StoreConformance, Rule7WhatIsRolledBackIsNotStored) {
  {
    auto unit = this->begin();
    const Lease lease =
        expect_acquired(unit.store().reserve(this->key(), this->request(), this->options()), How::fresh)
            .lease;
    unit.store().fail(lease, this->answer());
    EXPECT_TRUE(unit.store().find(this->key()));
    unit.rollback();
  }
  EXPECT_FALSE(this->find(this->key()));
  expect_acquired(this->reserve(this->key(), this->other_request()), How::fresh);
}

TYPED_TEST_P(StoreConformance, Rule7ATransactionThatIsDroppedStoresNothing) {
  {
    auto unit = this->begin();
    const Lease lease =
        expect_acquired(unit.store().reserve(this->key(), this->request(), this->options()), How::fresh)
            .lease;
    unit.store().complete(lease, this->answer());
  }
  EXPECT_FALSE(this->find(this->key()));
}

TYPED_TEST_P(StoreConformance, Rule7EachWriteIsRolledBackWithItsTransaction) {
  for (const auto& write : this->writes()) {
    SCOPED_TRACE(write.name);
    const Lease lease = this->acquire(this->key(write.name));
    const Record before = this->record(this->key(write.name));
    {
      auto unit = this->begin();
      write(unit.store(), lease);
      unit.rollback();
    }
    this->expect_same(before, this->record(this->key(write.name)));
  }
}

TYPED_TEST_P(StoreConformance, Rule7ATakeoverAndATurnToUnknownAreRolledBackWithTheirTransaction) {
  this->acquire(this->key("resumable"), this->resumable());
  this->acquire(this->key("not"));
  this->advance(this->lease_time + std::chrono::minutes{1});
  const Record resumable = this->record(this->key("resumable"));
  const Record not_resumable = this->record(this->key("not"));
  {
    auto unit = this->begin();
    expect_acquired(unit.store().reserve(this->key("resumable"), this->request(), this->resumable()),
                    How::took_over);
    expect<Unknown>(unit.store().reserve(this->key("not"), this->request(), this->options()));
    unit.rollback();
  }
  this->expect_same(resumable, this->record(this->key("resumable")));
  this->expect_same(not_resumable, this->record(this->key("not")));
}

// ---- 8: a lost COMMIT is settled by reserving again under the same attempt, waiting

TYPED_TEST_P(StoreConformance, Rule8ReserveUnderTheSameAttemptWaitsForTheOldTransactionAndReplays) {
  auto old = this->begin();
  const Lease lease =
      expect_acquired(old.store().reserve(this->key(), this->request(), this->options()), How::fresh).lease;
  old.store().complete(lease, this->answer());
  auto settling = std::async(std::launch::async, [&] {
    return this->reserve(this->key(), this->request(), this->under_attempt(lease.holder.attempt));
  });
  // Not for the order: only a store that does not wait has answered by now.
  EXPECT_EQ(settling.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  old.commit();
  EXPECT_EQ(expect<Replay>(settling.get()).response, this->answer());
}

TYPED_TEST_P(StoreConformance, Rule8ReserveUnderTheSameAttemptWaitsForTheOldTransactionAndRunsAgain) {
  auto old = this->begin();
  const Lease lease =
      expect_acquired(old.store().reserve(this->key(), this->request(), this->options()), How::fresh).lease;
  old.store().complete(lease, this->answer());
  auto settling = std::async(std::launch::async, [&] {
    return this->reserve(this->key(), this->request(), this->under_attempt(lease.holder.attempt));
  });
  EXPECT_EQ(settling.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  old.rollback();
  const Lease next = expect_acquired(settling.get(), How::fresh).lease;
  EXPECT_GT(next.holder.fence, lease.holder.fence);
  this->complete(next);
}

TYPED_TEST_P(StoreConformance, Rule8ReserveUnderTheSameAttemptFindsItsOwnReservationAgain) {
  auto old = this->begin();
  const Lease lease =
      expect_acquired(old.store().reserve(this->key(), this->request(), this->options()), How::fresh).lease;
  auto settling = std::async(std::launch::async, [&] {
    return this->reserve(this->key(), this->request(), this->under_attempt(lease.holder.attempt));
  });
  EXPECT_EQ(settling.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  old.commit();
  const Lease again = expect_acquired(settling.get(), How::again).lease;
  EXPECT_EQ(again.holder, lease.holder);
  this->complete(lease);
}

// Fault 34: the whole matrix holds after a wait too.
TYPED_TEST_P(StoreConformance, Rule8AfterTheWaitAnotherFingerprintIsMismatch) {
  auto old = this->begin();
  const Lease lease =
      expect_acquired(old.store().reserve(this->key(), this->request(), this->options()), How::fresh).lease;
  old.store().complete(lease, this->answer());
  auto settling = std::async(std::launch::async, [&] {
    return this->reserve(this->key(), this->other_request(), this->under_attempt(lease.holder.attempt));
  });
  EXPECT_EQ(settling.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  old.commit();
  expect<Mismatch>(settling.get());
}

TYPED_TEST_P(StoreConformance, Rule8ReserveWaitsForALostTakeover) {
  const Lease first = this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  auto old = this->begin();
  const Lease taken =
      expect_acquired(old.store().reserve(this->key(), this->request(), this->resumable()), How::took_over)
          .lease;
  ReserveOptions own = this->resumable();
  own.attempt = taken.holder.attempt;
  auto settling =
      std::async(std::launch::async, [&] { return this->reserve(this->key(), this->request(), own); });
  EXPECT_EQ(settling.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  old.commit();
  const Lease again = expect_acquired(settling.get(), How::again).lease;
  EXPECT_EQ(again.holder, taken.holder);
  EXPECT_EQ(again.generation, first.generation);
}

TYPED_TEST_P(StoreConformance, Rule8ReserveWaitsForALostReplacement) {
  this->complete(this->acquire(this->key()));
  this->advance(this->retention + std::chrono::minutes{1});
  auto old = this->begin();
  const Lease replaced =
      expect_acquired(old.store().reserve(this->key(), this->request(), this->options()), How::fresh).lease;
  auto settling = std::async(std::launch::async, [&] {
    return this->reserve(this->key(), this->request(), this->under_attempt(replaced.holder.attempt));
  });
  EXPECT_EQ(settling.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  old.rollback();
  expect_acquired(settling.get(), How::fresh);
}

// However often the COMMIT is lost, one attempt settles it.
TYPED_TEST_P(StoreConformance, Rule8AReservationUnderAGivenAttemptKeepsIt) {
  const Uuid attempt = random_uuid_v4();
  const Lease lease =
      expect_acquired(this->reserve(this->key(), this->request(), this->under_attempt(attempt)), How::fresh)
          .lease;
  EXPECT_EQ(lease.holder.attempt, attempt);
  EXPECT_EQ(this->record(this->key()).holder, lease.holder);
  expect_acquired(this->reserve(this->key(), this->request(), this->under_attempt(attempt)), How::again);
}

TYPED_TEST_P(StoreConformance, Rule8EachReservationHasAnAttemptOfItsOwn) {
  EXPECT_NE(this->acquire(this->key("k1")).holder.attempt, this->acquire(this->key("k2")).holder.attempt);
}

// Around an outside call the final transaction runs again with the same lease.
TYPED_TEST_P(StoreConformance, Rule8RunningTheFinalTransactionAgainIsAlreadySettledWhereItWasCommitted) {
  const Lease lease = this->acquire(this->key());
  this->in_transaction([&](IdempotencyStore& store) {
    store.complete(lease, this->answer());
    (void)expect_acquired(store.reserve(this->key("receipt"), this->request(), this->options()), How::fresh);
  });
  this->template expect_lost_and_nothing_committed<AlreadySettled>(
      [&](IdempotencyStore& store) { store.complete(lease, this->answer()); });
  EXPECT_EQ(this->record(this->key()).response, this->answer());
}

// ---- 9: one level; what is committed unsettled is not run a second time

TYPED_TEST_P(StoreConformance, Rule9AReservationCommittedUnsettledLapsesIntoUnknownNotIntoASecondRun) {
  this->acquire(this->key());
  this->advance(this->lease_time + std::chrono::minutes{1});
  for (int i = 0; i < 3; ++i) expect<Unknown>(this->reserve(this->key()));
  EXPECT_EQ(this->record(this->key()).state, State::unknown);
}

TYPED_TEST_P(StoreConformance, Rule9ReserveBusinessWritesAndCompleteAreOneCommit) {
  {
    auto unit = this->begin();
    const Lease lease =
        expect_acquired(unit.store().reserve(this->key(), this->request(), this->options()), How::fresh)
            .lease;
    expect_acquired(unit.store().reserve(this->key("business"), this->request(), this->options()),
                    How::fresh);
    unit.store().complete(lease, this->answer());
    EXPECT_FALSE(this->find(this->key())) << "visible before the commit";
    EXPECT_FALSE(this->find(this->key("business"))) << "visible before the commit";
    unit.commit();
  }
  EXPECT_TRUE(this->find(this->key()));
  EXPECT_TRUE(this->find(this->key("business")));
}

// ---- 10: options that break a limit. Fault 2: 0 is not "not set".

TYPED_TEST_P(StoreConformance, Rule10OptionsBeyondALimitAreRefusedWithNothingChanged) {
  using std::chrono::milliseconds;
  std::vector<ReserveOptions> refused(8, this->options());
  refused[0].lease = milliseconds{0};
  refused[1].lease = milliseconds{-1};
  refused[2].retention = refused[2].lease - milliseconds{1};
  refused[3].horizon = refused[3].retention + milliseconds{1};
  refused[4].downstream = deduplicates_for("acquirer", refused[4].retention);
  refused[5].resumable = true;
  refused[6].call_deadline = refused[6].lease;
  refused[7].downstream = deduplicates_for("", this->window);
  auto unit = this->begin();
  for (std::size_t i = 0; i < refused.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_THROW((void)unit.store().reserve(this->key(), this->request(), refused[i]), InvalidArgument);
  }
  EXPECT_FALSE(unit.store().find(this->key()));
  this->expect_usable(unit);
}

TYPED_TEST_P(StoreConformance, Rule10OptionsAtTheirLimitsAreAccepted) {
  using std::chrono::milliseconds;
  ReserveOptions shortest = this->options();
  shortest.lease = milliseconds{1};
  shortest.retention = milliseconds{1};
  shortest.horizon = milliseconds{1};
  this->acquire(this->key("shortest"), shortest);
  EXPECT_EQ(this->record(this->key("shortest")).retention, milliseconds{1});

  ReserveOptions longest = this->options();
  longest.retention = std::chrono::years{10};
  longest.lease = longest.retention;
  longest.call_deadline = longest.lease - milliseconds{1};
  longest.downstream = deduplicates_for("acquirer", longest.retention - milliseconds{1});
  const Lease lease = this->acquire(this->key("longest"), longest);
  const Record record = this->record(this->key("longest"));
  EXPECT_EQ(record.retention, longest.retention);
  EXPECT_EQ(record.call_deadline, longest.call_deadline);
  EXPECT_EQ(record.lease_until - record.created_at, longest.lease);
  const TimePoint expires_at = this->complete(lease);
  EXPECT_EQ(expires_at - *this->record(this->key("longest")).finished_at, longest.retention);
}

// ---- 11: the store's clock, read when the call is made

TYPED_TEST_P(StoreConformance, Rule11ATransactionsOwnBeginningIsNotItsTime) {
  auto early = this->begin();
  EXPECT_FALSE(early.store().find(this->key()));
  const Lease lease = this->acquire(this->key());
  const bool seen = this->done([&] {
    try {
      early.store().complete(lease, this->answer());
    } catch (const LeaseLost&) {
      // It is not to be seen in a snapshot that is older.
      if (!this->keeps_its_snapshot()) throw;
      throw TransactionConflict{"begin again"};
    }
    early.commit();
  });
  if (!seen) this->complete(lease);
  const Record record = this->record(this->key());
  EXPECT_GE(*record.finished_at, record.created_at);
}

TYPED_TEST_P(StoreConformance, Rule11ALeaseThatEndedAfterTheTransactionBeganHasEnded) {
  auto early = this->begin();
  EXPECT_FALSE(early.store().find(this->key()));
  const Lease lease = this->acquire(this->key(), this->resumable());
  this->in_transaction([&](IdempotencyStore& store) { store.lapse(lease); });
  const bool seen = this->done([&] {
    expect_acquired(early.store().reserve(this->key(), this->request(), this->resumable()), How::took_over);
    early.commit();
  });
  if (!seen) expect_acquired(this->reserve(this->key(), this->request(), this->resumable()), How::took_over);
}

// ---- 12: the transaction stays the caller's

// Fault 48.
TYPED_TEST_P(StoreConformance, Rule12AfterEveryAnswerTheTransactionIsUsable) {
  this->acquire(this->key("live"));
  this->complete(this->acquire(this->key("done")));
  this->mark_unknown(this->acquire(this->key("unknown")));
  auto unit = this->begin();
  IdempotencyStore& store = unit.store();
  const Lease business =
      expect_acquired(store.reserve(this->key("business"), this->request(), this->options()), How::fresh)
          .lease;
  expect<InProgress>(store.reserve(this->key("live"), this->request(), this->options()));
  expect<Replay>(store.reserve(this->key("done"), this->request(), this->options()));
  expect<Unknown>(store.reserve(this->key("unknown"), this->request(), this->options()));
  for (const char* name : {"live", "done", "unknown"}) {
    expect<Mismatch>(store.reserve(this->key(name), this->other_request(), this->options()));
    EXPECT_TRUE(store.find(this->key(name)));
  }
  EXPECT_FALSE(store.find(this->key("absent")));
  EXPECT_THROW((void)store.reserve(this->key("business"), this->request(), this->options()), AlreadyReserved);
  EXPECT_THROW((void)store.reserve(this->key("live"), this->request(1, 0x80), this->options()),
               FingerprintUnavailable);
  EXPECT_THROW((void)store.reserve(this->key(""), this->request(), this->options()), InvalidKey);
  store.complete(business, this->answer());
  this->expect_usable(unit);
  expect<Replay>(this->reserve(this->key("business")));
}

}  // namespace testing
}  // namespace v0
}  // namespace idem
