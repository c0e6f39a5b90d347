// Rules 8 to 12, by number.
#include <future>

#include "testing/store_conformance/suite.hpp"

namespace idem {
inline namespace v0 {
namespace testing {
namespace {

CONFORMANCE_TESTS_OF(StoreConformance);

// ---- 8: a lost COMMIT is settled by reserving again under the same attempt, waiting

CONFORMANCE_TEST(StoreConformance, Rule8ReserveUnderTheSameAttemptWaitsForTheOldTransactionAndReplays) {
  auto old = begin();
  const Lease lease = expect_acquired(old->store().reserve(key(), request(), options()), How::fresh).lease;
  old->store().complete(lease, answer());
  auto settling = std::async(std::launch::async,
                             [&] { return reserve(key(), request(), under_attempt(lease.holder.attempt)); });
  // Not for the order: only a store that does not wait has answered by now.
  EXPECT_EQ(settling.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  old->commit();
  EXPECT_EQ(expect<Replay>(settling.get()).response, answer());
}

CONFORMANCE_TEST(StoreConformance, Rule8ReserveUnderTheSameAttemptWaitsForTheOldTransactionAndRunsAgain) {
  auto old = begin();
  const Lease lease = expect_acquired(old->store().reserve(key(), request(), options()), How::fresh).lease;
  old->store().complete(lease, answer());
  auto settling = std::async(std::launch::async,
                             [&] { return reserve(key(), request(), under_attempt(lease.holder.attempt)); });
  EXPECT_EQ(settling.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  old->rollback();
  const Lease next = expect_acquired(settling.get(), How::fresh).lease;
  EXPECT_GT(next.holder.fence, lease.holder.fence);
  complete(next);
}

CONFORMANCE_TEST(StoreConformance, Rule8ReserveUnderTheSameAttemptFindsItsOwnReservationAgain) {
  auto old = begin();
  const Lease lease = expect_acquired(old->store().reserve(key(), request(), options()), How::fresh).lease;
  auto settling = std::async(std::launch::async,
                             [&] { return reserve(key(), request(), under_attempt(lease.holder.attempt)); });
  EXPECT_EQ(settling.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  old->commit();
  const Lease again = expect_acquired(settling.get(), How::again).lease;
  EXPECT_EQ(again.holder, lease.holder);
  complete(lease);
}

// Fault 34: the whole matrix holds after a wait too.
CONFORMANCE_TEST(StoreConformance, Rule8AfterTheWaitAnotherFingerprintIsMismatch) {
  auto old = begin();
  const Lease lease = expect_acquired(old->store().reserve(key(), request(), options()), How::fresh).lease;
  old->store().complete(lease, answer());
  auto settling = std::async(std::launch::async, [&] {
    return reserve(key(), other_request(), under_attempt(lease.holder.attempt));
  });
  EXPECT_EQ(settling.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  old->commit();
  expect<Mismatch>(settling.get());
}

CONFORMANCE_TEST(StoreConformance, Rule8ReserveWaitsForALostTakeover) {
  const Lease first = acquire(key(), resumable());
  advance(lease_time + std::chrono::minutes{1});
  auto old = begin();
  const Lease taken =
      expect_acquired(old->store().reserve(key(), request(), resumable()), How::took_over).lease;
  ReserveOptions own = resumable();
  own.attempt = taken.holder.attempt;
  auto settling = std::async(std::launch::async, [&] { return reserve(key(), request(), own); });
  EXPECT_EQ(settling.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  old->commit();
  const Lease again = expect_acquired(settling.get(), How::again).lease;
  EXPECT_EQ(again.holder, taken.holder);
  EXPECT_EQ(again.generation, first.generation);
}

CONFORMANCE_TEST(StoreConformance, Rule8ReserveWaitsForALostReplacement) {
  complete(acquire(key()));
  advance(retention + std::chrono::minutes{1});
  auto old = begin();
  const Lease replaced = expect_acquired(old->store().reserve(key(), request(), options()), How::fresh).lease;
  auto settling = std::async(
      std::launch::async, [&] { return reserve(key(), request(), under_attempt(replaced.holder.attempt)); });
  EXPECT_EQ(settling.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  old->rollback();
  expect_acquired(settling.get(), How::fresh);
}

// However often the COMMIT is lost, one attempt settles it.
CONFORMANCE_TEST(StoreConformance, Rule8AReservationUnderAGivenAttemptKeepsIt) {
  const Uuid attempt = random_uuid_v4();
  const Lease lease = expect_acquired(reserve(key(), request(), under_attempt(attempt)), How::fresh).lease;
  EXPECT_EQ(lease.holder.attempt, attempt);
  EXPECT_EQ(record(key()).holder, lease.holder);
  expect_acquired(reserve(key(), request(), under_attempt(attempt)), How::again);
}

CONFORMANCE_TEST(StoreConformance, Rule8EachReservationHasAnAttemptOfItsOwn) {
  EXPECT_NE(acquire(key("k1")).holder.attempt, acquire(key("k2")).holder.attempt);
}

// Around an outside call the final transaction runs again with the same lease.
CONFORMANCE_TEST(StoreConformance, Rule8RunningTheFinalTransactionAgainIsAlreadySettledWhereItWasCommitted) {
  const Lease lease = acquire(key());
  in_transaction([&](IdempotencyStore& store) {
    store.complete(lease, answer());
    (void)expect_acquired(store.reserve(key("receipt"), request(), options()), How::fresh);
  });
  expect_lost_and_nothing_committed<AlreadySettled>(
      [&](IdempotencyStore& store) { store.complete(lease, answer()); });
  EXPECT_EQ(record(key()).response, answer());
}

// ---- 9: one level; what is committed unsettled is not run a second time

CONFORMANCE_TEST(StoreConformance, Rule9AReservationCommittedUnsettledLapsesIntoUnknownNotIntoASecondRun) {
  acquire(key());
  advance(lease_time + std::chrono::minutes{1});
  for (int i = 0; i < 3; ++i) expect<Unknown>(reserve(key()));
  EXPECT_EQ(record(key()).state, State::unknown);
}

CONFORMANCE_TEST(StoreConformance, Rule9ReserveBusinessWritesAndCompleteAreOneCommit) {
  {
    auto unit = begin();
    const Lease lease = expect_acquired(unit->store().reserve(key(), request(), options()), How::fresh).lease;
    expect_acquired(unit->store().reserve(key("business"), request(), options()), How::fresh);
    unit->store().complete(lease, answer());
    EXPECT_FALSE(find(key())) << "visible before the commit";
    EXPECT_FALSE(find(key("business"))) << "visible before the commit";
    unit->commit();
  }
  EXPECT_TRUE(find(key()));
  EXPECT_TRUE(find(key("business")));
}

// ---- 10: options that break a limit. Fault 2: 0 is not "not set".

CONFORMANCE_TEST(StoreConformance, Rule10OptionsBeyondALimitAreRefusedWithNothingChanged) {
  using std::chrono::milliseconds;
  std::vector<ReserveOptions> refused(8, options());
  refused[0].lease = milliseconds{0};
  refused[1].lease = milliseconds{-1};
  refused[2].retention = refused[2].lease - milliseconds{1};
  refused[3].horizon = refused[3].retention + milliseconds{1};
  refused[4].downstream = deduplicates_for("acquirer", refused[4].retention);
  refused[5].resumable = true;
  refused[6].call_deadline = refused[6].lease;
  refused[7].downstream = deduplicates_for("", window);
  auto unit = begin();
  for (std::size_t i = 0; i < refused.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_THROW((void)unit->store().reserve(key(), request(), refused[i]), InvalidArgument);
  }
  EXPECT_FALSE(unit->store().find(key()));
  expect_usable(*unit);
}

CONFORMANCE_TEST(StoreConformance, Rule10OptionsAtTheirLimitsAreAccepted) {
  using std::chrono::milliseconds;
  ReserveOptions shortest = options();
  shortest.lease = milliseconds{1};
  shortest.retention = milliseconds{1};
  shortest.horizon = milliseconds{1};
  acquire(key("shortest"), shortest);
  EXPECT_EQ(this->record(key("shortest")).retention, milliseconds{1});

  ReserveOptions longest = options();
  longest.retention = std::chrono::years{10};
  longest.lease = longest.retention;
  longest.call_deadline = longest.lease - milliseconds{1};
  longest.downstream = deduplicates_for("acquirer", longest.retention - milliseconds{1});
  const Lease lease = acquire(key("longest"), longest);
  const Record record = this->record(key("longest"));
  EXPECT_EQ(record.retention, longest.retention);
  EXPECT_EQ(record.call_deadline, longest.call_deadline);
  EXPECT_EQ(record.lease_until - record.created_at, longest.lease);
  const TimePoint expires_at = complete(lease);
  EXPECT_EQ(expires_at - *this->record(key("longest")).finished_at, longest.retention);
}

// ---- 11: the store's clock, read when the call is made

CONFORMANCE_TEST(StoreConformance, Rule11ATransactionsOwnBeginningIsNotItsTime) {
  auto early = begin();
  EXPECT_FALSE(early->store().find(key()));
  const Lease lease = acquire(key());
  const bool seen = done([&] {
    try {
      early->store().complete(lease, answer());
    } catch (const LeaseLost&) {
      // It is not to be seen in a snapshot that is older.
      if (!keeps_its_snapshot()) throw;
      throw TransactionConflict{"begin again"};
    }
    early->commit();
  });
  if (!seen) complete(lease);
  const Record record = this->record(key());
  EXPECT_GE(*record.finished_at, record.created_at);
}

CONFORMANCE_TEST(StoreConformance, Rule11ALeaseThatEndedAfterTheTransactionBeganHasEnded) {
  auto early = begin();
  EXPECT_FALSE(early->store().find(key()));
  const Lease lease = acquire(key(), resumable());
  in_transaction([&](IdempotencyStore& store) { store.lapse(lease); });
  const bool seen = done([&] {
    expect_acquired(early->store().reserve(key(), request(), resumable()), How::took_over);
    early->commit();
  });
  if (!seen) expect_acquired(reserve(key(), request(), resumable()), How::took_over);
}

// ---- 12: the transaction stays the caller's

// Fault 48.
CONFORMANCE_TEST(StoreConformance, Rule12AfterEveryAnswerTheTransactionIsUsable) {
  acquire(key("live"));
  complete(acquire(key("done")));
  mark_unknown(acquire(key("unknown")));
  auto unit = begin();
  IdempotencyStore& store = unit->store();
  const Lease business =
      expect_acquired(store.reserve(key("business"), request(), options()), How::fresh).lease;
  expect<InProgress>(store.reserve(key("live"), request(), options()));
  expect<Replay>(store.reserve(key("done"), request(), options()));
  expect<Unknown>(store.reserve(key("unknown"), request(), options()));
  for (const char* name : {"live", "done", "unknown"}) {
    expect<Mismatch>(store.reserve(key(name), other_request(), options()));
    EXPECT_TRUE(store.find(key(name)));
  }
  EXPECT_FALSE(store.find(key("absent")));
  EXPECT_THROW((void)store.reserve(key("business"), request(), options()), AlreadyReserved);
  EXPECT_THROW((void)store.reserve(key("live"), request(1, 0x80), options()), FingerprintUnavailable);
  EXPECT_THROW((void)store.reserve(key(""), request(), options()), InvalidKey);
  store.complete(business, answer());
  expect_usable(*unit);
  expect<Replay>(reserve(key("business")));
}

}  // namespace

void register_rules_8_to_12(const std::string& name, const StoreConformance::MakeFixture& make) {
  register_conformance_cases(name, CONFORMANCE_CASES, make);
}

}  // namespace testing
}  // namespace v0
}  // namespace idem
