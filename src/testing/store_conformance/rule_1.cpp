// Rule 1: every later write matches fence and attempt.
#include <cstdint>
#include <exception>
#include <future>
#include <string_view>

#include "testing/store_conformance/suite.hpp"

namespace idem {
inline namespace v0 {
namespace testing {
namespace {

CONFORMANCE_TESTS_OF(StoreConformance);

CONFORMANCE_TEST(StoreConformance, Rule1EachWriteUnderAnotherFenceIsLeaseLostAndCommitsNothing) {
  const Lease lease = acquire(key());
  const Record before = record(key());
  for (const auto& write : writes()) {
    SCOPED_TRACE(write.name);
    for (const std::int64_t off : {-1, 1}) {
      Lease other = lease;
      other.holder.fence += off;
      expect_lost_and_nothing_committed<LeaseLost>([&](IdempotencyStore& store) { write(store, other); });
    }
  }
  expect_same(before, record(key()));
}

CONFORMANCE_TEST(StoreConformance, Rule1EachWriteUnderAnotherAttemptIsLeaseLostAndCommitsNothing) {
  const Lease lease = acquire(key());
  const Record before = record(key());
  Lease other = lease;
  other.holder.attempt = random_uuid_v4();
  for (const auto& write : writes()) {
    SCOPED_TRACE(write.name);
    expect_lost_and_nothing_committed<LeaseLost>([&](IdempotencyStore& store) { write(store, other); });
  }
  expect_same(before, record(key()));
}

// Faults 9, 10, 11.
CONFORMANCE_TEST(StoreConformance, Rule1EachWriteAfterATakeoverIsLeaseLostAndCommitsNothing) {
  const Lease stale = acquire(key(), resumable());
  advance(lease_time + std::chrono::minutes{1});
  const Lease current = expect_acquired(reserve(key(), request(), resumable()), How::took_over).lease;
  const Record before = record(key());
  for (const auto& write : writes()) {
    SCOPED_TRACE(write.name);
    expect_lost_and_nothing_committed<LeaseLost>([&](IdempotencyStore& store) { write(store, stale); });
  }
  expect_same(before, record(key()));
  complete(current);
}

CONFORMANCE_TEST(StoreConformance, Rule1CompleteAfterTheNewHolderSettledIsLeaseLostAndCommitsNothing) {
  const Lease stale = acquire(key(), resumable());
  advance(lease_time + std::chrono::minutes{1});
  const Lease current = expect_acquired(reserve(key(), request(), resumable()), How::took_over).lease;
  complete(current);
  expect_lost_and_nothing_committed<LeaseLost>(
      [&](IdempotencyStore& store) { store.complete(stale, text_response(500, "late")); });
  EXPECT_EQ(record(key()).response, answer());
}

CONFORMANCE_TEST(StoreConformance, Rule1EachWriteOnAnAbsentRecordIsLeaseLostAndCommitsNothing) {
  const Lease lease = acquire(key());
  release(lease);
  for (const auto& write : writes()) {
    SCOPED_TRACE(write.name);
    expect_lost_and_nothing_committed<LeaseLost>([&](IdempotencyStore& store) { write(store, lease); });
  }
  EXPECT_FALSE(find(key()));
}

CONFORMANCE_TEST(StoreConformance, Rule1EachWriteOnAnotherTransactionsUncommittedRecordIsLeaseLost) {
  auto unit = begin();
  const Lease lease = expect_acquired(unit->store().reserve(key(), request(), options()), How::fresh).lease;
  for (const auto& write : writes()) {
    SCOPED_TRACE(write.name);
    expect_lost_and_nothing_committed<LeaseLost>([&](IdempotencyStore& store) { write(store, lease); });
  }
  unit->store().complete(lease, answer());
  unit->commit();
}

// An old lease never settles a record that was made anew under the same key.
CONFORMANCE_TEST(StoreConformance, Rule1ALeaseOfAReleasedRecordNeverSettlesTheNextOne) {
  const Lease old = acquire(key());
  release(old);
  const Lease current = acquire(key());
  EXPECT_GT(current.holder.fence, old.holder.fence);
  for (const auto& write : writes()) {
    SCOPED_TRACE(write.name);
    expect_lost_and_nothing_committed<LeaseLost>([&](IdempotencyStore& store) { write(store, old); });
  }
  complete(current);
}

CONFORMANCE_TEST(StoreConformance, Rule1ALeaseOfAnExpiredRecordNeverSettlesTheNextOne) {
  const Lease old = acquire(key());
  complete(old);
  advance(retention + std::chrono::minutes{1});
  const Lease current = acquire(key());
  EXPECT_GT(current.holder.fence, old.holder.fence);
  for (const auto& write : writes()) {
    SCOPED_TRACE(write.name);
    expect_lost_and_nothing_committed<LeaseLost>([&](IdempotencyStore& store) { write(store, old); });
  }
  complete(current);
}

CONFORMANCE_TEST(StoreConformance, Rule1ASecondSettlingIsAlreadySettledAndCommitsNothing) {
  for (const State first : {State::completed, State::failed}) {
    const Key each = key(first == State::completed ? "completed" : "failed");
    const Lease lease = acquire(each);
    first == State::completed ? complete(lease) : fail(lease);
    const Record before = record(each);
    expect_lost_and_nothing_committed<AlreadySettled>(
        [&](IdempotencyStore& store) { store.complete(lease, answer()); });
    expect_lost_and_nothing_committed<AlreadySettled>(
        [&](IdempotencyStore& store) { store.fail(lease, answer()); });
    expect_lost_and_nothing_committed<AlreadySettled>(
        [&](IdempotencyStore& store) { store.complete(lease, text_response(500, "another answer")); });
    expect_same(before, record(each));
  }
}

CONFORMANCE_TEST(StoreConformance,
                 Rule1ASecondSettlingInTheSameTransactionIsAlreadySettledAndCommitsNothing) {
  expect_lost_and_nothing_committed<AlreadySettled>([&](IdempotencyStore& store) {
    const Lease lease = expect_acquired(store.reserve(key(), request(), options()), How::fresh).lease;
    store.complete(lease, answer());
    store.complete(lease, answer());
  });
  EXPECT_FALSE(find(key()));
}

CONFORMANCE_TEST(StoreConformance, Rule1EachOtherWriteOnASettledRecordIsLeaseLostAndCommitsNothing) {
  const Lease lease = acquire(key());
  complete(lease);
  const Record before = record(key());
  for (const auto& write : writes()) {
    SCOPED_TRACE(write.name);
    expect_lost_and_nothing_committed<LeaseLost>([&](IdempotencyStore& store) { write(store, lease); });
  }
  expect_same(before, record(key()));
}

CONFORMANCE_TEST(StoreConformance, Rule1OnlySettlingActsOnAnUnknownRecord) {
  const Lease lease = acquire(key());
  mark_unknown(lease);
  const Record before = record(key());
  for (const auto& write : writes()) {
    const std::string_view name = write.name;
    if (name == "complete" || name == "fail" || name == "hold") continue;
    SCOPED_TRACE(write.name);
    expect_lost_and_nothing_committed<LeaseLost>([&](IdempotencyStore& store) { write(store, lease); });
  }
  expect_same(before, record(key()));
}

CONFORMANCE_TEST(StoreConformance, Rule1NothingOfALostTransactionIsCommittedNotEvenWhatFollows) {
  const Lease lease = acquire(key());
  complete(lease);
  {
    auto unit = begin();
    EXPECT_THROW(unit->store().complete(lease, answer()), AlreadySettled);
    try {
      (void)unit->store().reserve(key("after"), request(), options());
      unit->commit();
    } catch (const std::exception&) {
      // May refuse: the transaction is finished.
    }
  }
  EXPECT_FALSE(find(key("after")));
}

CONFORMANCE_TEST(StoreConformance, Rule1AfterLeaseLostFindInANewTransactionShowsTheAnswer) {
  const Lease stale = acquire(key(), resumable());
  advance(lease_time + std::chrono::minutes{1});
  const Lease current = expect_acquired(reserve(key(), request(), resumable()), How::took_over).lease;
  auto unit = begin();
  EXPECT_THROW(unit->store().complete(stale, answer()), LeaseLost);
  unit->rollback();
  EXPECT_EQ(record(key()).state, State::in_progress);
  complete(current);
  EXPECT_EQ(record(key()).response, answer());
}

CONFORMANCE_TEST(StoreConformance, Rule1ALapsedLeaseThatNobodyTookOverStillHolds) {
  for (const auto& write : writes()) {
    SCOPED_TRACE(write.name);
    const Lease lease = acquire(key(write.name));
    advance(lease_time + std::chrono::minutes{1});
    in_transaction([&](IdempotencyStore& store) { write(store, lease); });
  }
}

CONFORMANCE_TEST(StoreConformance, Rule1TheFenceGrowsWithEachTakeoverReplacementAndRelease) {
  std::int64_t last = 0;
  const auto grows = [&](const Lease& lease) {
    EXPECT_GT(lease.holder.fence, last);
    last = lease.holder.fence;
    return lease;
  };
  Lease lease = grows(acquire(key(), resumable()));
  for (int i = 0; i < 3; ++i) {
    advance(lease_time + std::chrono::minutes{1});
    lease = grows(expect_acquired(reserve(key(), request(), resumable()), How::took_over).lease);
  }
  complete(lease);
  advance(retention + std::chrono::minutes{1});
  lease = grows(acquire(key()));
  release(lease);
  grows(acquire(key()));
}

CONFORMANCE_TEST(StoreConformance, Rule1RenewSetsTheLeaseFromNowAndTheLeaseStaysTheHolders) {
  const Lease lease = acquire(key());
  advance(lease_time - std::chrono::minutes{1});
  const Lease renewed =
      in_transaction([&](IdempotencyStore& store) { return store.renew(lease, lease_time); });
  EXPECT_EQ(renewed.holder, lease.holder);
  EXPECT_EQ(renewed.key, lease.key);
  EXPECT_EQ(renewed.generation, lease.generation);
  EXPECT_EQ(renewed.lease_until, record(key()).lease_until);
  advance(lease_time - std::chrono::minutes{1});
  expect<InProgress>(reserve(key()));
  // The lease that was renewed and the one that came of it are the same right.
  complete(lease);
}

CONFORMANCE_TEST(StoreConformance, Rule1RenewCanShortenTheLease) {
  const Lease lease = acquire(key());
  in_transaction([&](IdempotencyStore& store) { (void)store.renew(lease, std::chrono::minutes{5}); });
  advance(std::chrono::minutes{6});
  expect<Unknown>(reserve(key()));
}

CONFORMANCE_TEST(StoreConformance, Rule1RenewRefusesATimeThatIsNone) {
  const Lease lease = acquire(key());
  auto unit = begin();
  EXPECT_THROW((void)unit->store().renew(lease, std::chrono::milliseconds{0}), InvalidArgument);
  EXPECT_THROW((void)unit->store().renew(lease, std::chrono::milliseconds{-1}), InvalidArgument);
  EXPECT_THROW((void)unit->store().renew(lease, std::chrono::milliseconds::max()), InvalidArgument);
  expect_usable(*unit);
}

CONFORMANCE_TEST(StoreConformance, Rule1LapseEndsTheLeaseAndLeavesTheRecordForTheNext) {
  const Lease lease = acquire(key(), resumable());
  in_transaction([&](IdempotencyStore& store) { store.lapse(lease); });
  const Record record = this->record(key());
  EXPECT_EQ(record.state, State::in_progress);
  EXPECT_EQ(record.holder, lease.holder);
  expect_acquired(reserve(key(), request(), resumable()), How::took_over);
}

CONFORMANCE_TEST(StoreConformance, Rule1WritesWaitForTheTransactionThatHoldsTheRecordAndThenLookAgain) {
  // The holder's own two transactions: one renews, the other completes, which must come after it.
  const Lease lease = acquire(key());
  auto renewing = begin();
  const Lease renewed = renewing->store().renew(lease, 2 * lease_time);
  auto completing = std::async(std::launch::async, [&] { complete(lease); });
  // Not for the order: only a store that does not wait is done by now.
  EXPECT_EQ(completing.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  renewing->commit();
  completing.get();
  const Record record = this->record(key());
  EXPECT_EQ(record.state, State::completed);
  EXPECT_EQ(record.lease_until, renewed.lease_until);
}

CONFORMANCE_TEST(StoreConformance, Rule1ASettlingThatWaitedForASettlingIsAlreadySettled) {
  const Lease lease = acquire(key());
  auto first = begin();
  first->store().complete(lease, answer());
  auto second = std::async(std::launch::async, [&] { fail(lease); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  first->commit();
  EXPECT_THROW(second.get(), AlreadySettled);
  EXPECT_EQ(record(key()).state, State::completed);
}

CONFORMANCE_TEST(StoreConformance, Rule1ASettlingThatWaitedForARollbackSettles) {
  const Lease lease = acquire(key());
  auto first = begin();
  first->store().complete(lease, answer());
  auto second = std::async(std::launch::async, [&] { fail(lease); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  first->rollback();
  second.get();
  EXPECT_EQ(record(key()).state, State::failed);
}

CONFORMANCE_TEST(StoreConformance, Rule1HoldChangesNothingAndKeepsOthersFromTheRecord) {
  const Lease lease = acquire(key(), resumable());
  advance(lease_time + std::chrono::minutes{1});
  const Record before = record(key());
  auto holding = begin();
  holding->store().hold(lease);
  expect_same(before, holding->store().find(key()).value());
  // The lease has lapsed, but who holds the record is not taken over.
  expect<InProgress>(reserve(key(), request(), resumable()));
  auto rival = std::async(std::launch::async, [&] { fail(lease); });
  EXPECT_EQ(rival.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  holding->store().complete(lease, answer());
  holding->commit();
  EXPECT_THROW(rival.get(), AlreadySettled);
  EXPECT_EQ(record(key()).state, State::completed);
}

CONFORMANCE_TEST(StoreConformance, Rule1HoldOfASettledRecordIsAlreadySettledAndCommitsNothing) {
  const Lease lease = acquire(key());
  complete(lease);
  expect_lost_and_nothing_committed<AlreadySettled>([&](IdempotencyStore& store) { store.hold(lease); });
}

CONFORMANCE_TEST(StoreConformance, Rule1HoldOfAnUnknownRecordOfItsOwnLeavesItUnknown) {
  const Lease lease = acquire(key());
  mark_unknown(lease);
  in_transaction([&](IdempotencyStore& store) { store.hold(lease); });
  EXPECT_EQ(record(key()).state, State::unknown);
}

}  // namespace

void register_rule_1(const std::string& name, const StoreConformance::MakeFixture& make) {
  register_conformance_cases(name, CONFORMANCE_CASES, make);
}

}  // namespace testing
}  // namespace v0
}  // namespace idem
