// Rules 5 to 7, by number.
#include "testing/store_conformance/suite.hpp"

namespace idem {
inline namespace v0 {
namespace testing {
namespace {

CONFORMANCE_TESTS_OF(StoreConformance);

// ---- 5: resolving

CONFORMANCE_TEST(StoreConformance, Rule5ResolveToCompletedWithTheGeneration) {
  const Lease lease = acquire(key());
  mark_unknown(lease);
  const TimePoint expires_at = resolve(lease, State::completed, charged(lease));
  const Record record = this->record(key());
  EXPECT_EQ(record.state, State::completed);
  EXPECT_EQ(record.resolved_by, "operator");
  EXPECT_EQ(record.resolved_note, "the acquirer's report shows the charge");
  EXPECT_EQ(record.expires_at, expires_at);
  EXPECT_EQ(record.holder, lease.holder);
  const auto replay = expect<Replay>(reserve(key()));
  EXPECT_EQ(replay.state, State::completed);
  EXPECT_EQ(replay.response, answer());
}

CONFORMANCE_TEST(StoreConformance, Rule5ResolveToCompletedWithTheTimeOfTheCharge) {
  const Lease lease = acquire(key());
  mark_unknown(lease);
  Resolution resolution{"operator", "found the charge"};
  resolution.effect_at = record(key()).created_at;
  resolve(lease, State::completed, resolution);
  EXPECT_EQ(record(key()).state, State::completed);
}

CONFORMANCE_TEST(StoreConformance,
                 Rule5ResolveToCompletedForAnotherGenerationsChargeIsRefusedAndTheTransactionUsable) {
  const Lease lease = acquire(key());
  mark_unknown(lease);
  const Record before = record(key());
  auto unit = begin();
  const auto resolve = [&](const Resolution& resolution) {
    unit->store().resolve(lease.key, lease.holder, State::completed, answer(), resolution);
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
  expect_usable(*unit);
  expect_same(before, record(key()));
}

CONFORMANCE_TEST(StoreConformance, Rule5ResolveToFailedIsTooEarlyUntilTheLeaseAndTheCallsDeadlineAreOver) {
  ReserveOptions calling = options();
  calling.call_deadline = std::chrono::minutes{30};
  const Lease lease = acquire(key(), calling);
  mark_unknown(lease);
  for (const auto step : {std::chrono::minutes{0}, std::chrono::minutes{61}, std::chrono::minutes{28}}) {
    advance(step);
    const Record before = record(key());
    auto unit = begin();
    EXPECT_THROW(unit->store().resolve(lease.key, lease.holder, State::failed, answer(), not_charged()),
                 TooEarly);
    unit->commit();
    expect_same(before, record(key()));
  }
  advance(std::chrono::minutes{2});
  resolve(lease, State::failed, not_charged());
  EXPECT_EQ(expect<Replay>(reserve(key())).state, State::failed);
}

CONFORMANCE_TEST(StoreConformance, Rule5ResolveToFailedNeedsADefinitiveAnswer) {
  const Lease lease = acquire(key());
  mark_unknown(lease);
  advance(lease_time + std::chrono::minutes{1});
  auto unit = begin();
  const Resolution not_found{"operator", "not found at the acquirer"};
  EXPECT_THROW(unit->store().resolve(lease.key, lease.holder, State::failed, answer(), not_found),
               InvalidArgument);
  expect_usable(*unit);
  EXPECT_EQ(record(key()).state, State::unknown);
}

CONFORMANCE_TEST(StoreConformance, Rule5ResolveActsOnUnknownOnly) {
  const Lease lease = acquire(key());
  const auto resolve = [&](IdempotencyStore& store) {
    store.resolve(lease.key, lease.holder, State::completed, answer(), charged(lease));
  };
  expect_lost_and_nothing_committed<LeaseLost>(resolve);
  EXPECT_EQ(record(key()).state, State::in_progress);
  // A lapsed record that nobody has turned UNKNOWN is still IN_PROGRESS.
  advance(lease_time + std::chrono::minutes{1});
  expect_lost_and_nothing_committed<LeaseLost>(resolve);
  release(lease);
  expect_lost_and_nothing_committed<LeaseLost>(resolve);
}

CONFORMANCE_TEST(StoreConformance, Rule5ResolveMatchesFenceAndAttempt) {
  const Lease lease = acquire(key());
  mark_unknown(lease);
  Lease other = lease;
  ++other.holder.fence;
  const auto resolve = [&](IdempotencyStore& store) {
    store.resolve(other.key, other.holder, State::completed, answer(), charged(lease));
  };
  expect_lost_and_nothing_committed<LeaseLost>(resolve);
  other = lease;
  other.holder.attempt = random_uuid_v4();
  expect_lost_and_nothing_committed<LeaseLost>(resolve);
  EXPECT_EQ(record(key()).state, State::unknown);
}

CONFORMANCE_TEST(StoreConformance, Rule5ASecondResolveIsAlreadySettledAndCommitsNothing) {
  const Lease lease = acquire(key());
  mark_unknown(lease);
  resolve(lease, State::completed, charged(lease));
  const Record before = record(key());
  expect_lost_and_nothing_committed<AlreadySettled>([&](IdempotencyStore& store) {
    store.resolve(lease.key, lease.holder, State::completed, answer(), charged(lease));
  });
  expect_lost_and_nothing_committed<AlreadySettled>(
      [&](IdempotencyStore& store) { store.complete(lease, answer()); });
  expect_same(before, record(key()));
}

CONFORMANCE_TEST(StoreConformance, Rule5ResolveAfterTheSlowWorkerSettledIsAlreadySettled) {
  const Lease lease = acquire(key());
  mark_unknown(lease);
  complete(lease);
  expect_lost_and_nothing_committed<AlreadySettled>([&](IdempotencyStore& store) {
    store.resolve(lease.key, lease.holder, State::completed, text_response(200, "another"), charged(lease));
  });
  EXPECT_EQ(record(key()).response, answer());
}

CONFORMANCE_TEST(StoreConformance, Rule5ResolveIsRolledBackWithItsTransaction) {
  const Lease lease = acquire(key());
  mark_unknown(lease);
  {
    auto unit = begin();
    unit->store().resolve(lease.key, lease.holder, State::completed, answer(), charged(lease));
    unit->rollback();
  }
  EXPECT_EQ(record(key()).state, State::unknown);
}

CONFORMANCE_TEST(StoreConformance, Rule5ResolveRefusesAnythingButASettledStateAndItsNames) {
  const Lease lease = acquire(key());
  mark_unknown(lease);
  auto unit = begin();
  const auto resolve = [&](State state, const Resolution& resolution) {
    unit->store().resolve(lease.key, lease.holder, state, answer(), resolution);
  };
  EXPECT_THROW(resolve(State::in_progress, charged(lease)), InvalidArgument);
  EXPECT_THROW(resolve(State::unknown, charged(lease)), InvalidArgument);
  Resolution nameless = charged(lease);
  nameless.who.clear();
  EXPECT_THROW(resolve(State::completed, nameless), InvalidArgument);
  Resolution long_winded = charged(lease);
  long_winded.why.assign(1001, 'x');
  EXPECT_THROW(resolve(State::completed, long_winded), InvalidArgument);
  expect_usable(*unit);
}

// ---- 6: releasing

CONFORMANCE_TEST(StoreConformance, Rule6ReleaseMakesTheKeyANewRequest) {
  const Lease lease = acquire(key());
  release(lease);
  EXPECT_FALSE(find(key()));
  const Lease next = expect_acquired(reserve(key(), other_request()), How::fresh).lease;
  EXPECT_GT(next.holder.fence, lease.holder.fence);
}

CONFORMANCE_TEST(StoreConformance, Rule6ReleaseIsRolledBackWithItsTransaction) {
  const Lease lease = acquire(key());
  const Record before = record(key());
  {
    auto unit = begin();
    unit->store().release(lease);
    EXPECT_FALSE(unit->store().find(key()));
    unit->rollback();
  }
  expect_same(before, record(key()));
}

CONFORMANCE_TEST(StoreConformance, Rule6ReleaseInTheReservingTransactionLeavesNothing) {
  auto unit = begin();
  Lease lease = expect_acquired(unit->store().reserve(key(), request(), options()), How::fresh).lease;
  unit->store().release(lease);
  lease = expect_acquired(unit->store().reserve(key(), other_request(), options()), How::fresh).lease;
  unit->store().release(lease);
  expect_usable(*unit);
  EXPECT_FALSE(find(key()));
}

CONFORMANCE_TEST(StoreConformance, Rule6ReleaseOfARecordThatWasTakenOverIsRefusedAndTheTransactionUsable) {
  acquire(key(), resumable());
  advance(lease_time + std::chrono::minutes{1});
  const Lease lease = expect_acquired(reserve(key(), request(), resumable()), How::took_over).lease;
  const Record before = record(key());
  auto unit = begin();
  EXPECT_THROW(unit->store().release(lease), InvalidArgument);
  expect_usable(*unit);
  expect_same(before, record(key()));
}

CONFORMANCE_TEST(StoreConformance, Rule6ReleaseOfARecordThatWasMarkedSentIsRefusedAndTheTransactionUsable) {
  const Lease lease = acquire(key());
  mark_sent(lease);
  const Record before = record(key());
  auto unit = begin();
  EXPECT_THROW(unit->store().release(lease), InvalidArgument);
  expect_usable(*unit);
  expect_same(before, record(key()));
}

// ---- 7: only decisions are stored

// Fault 50.
CONFORMANCE_TEST(StoreConformance, Rule7WhatIsRolledBackIsNotStored) {
  {
    auto unit = begin();
    const Lease lease = expect_acquired(unit->store().reserve(key(), request(), options()), How::fresh).lease;
    unit->store().fail(lease, answer());
    EXPECT_TRUE(unit->store().find(key()));
    unit->rollback();
  }
  EXPECT_FALSE(find(key()));
  expect_acquired(reserve(key(), other_request()), How::fresh);
}

CONFORMANCE_TEST(StoreConformance, Rule7ATransactionThatIsDroppedStoresNothing) {
  {
    auto unit = begin();
    const Lease lease = expect_acquired(unit->store().reserve(key(), request(), options()), How::fresh).lease;
    unit->store().complete(lease, answer());
  }
  EXPECT_FALSE(find(key()));
}

CONFORMANCE_TEST(StoreConformance, Rule7EachWriteIsRolledBackWithItsTransaction) {
  for (const auto& write : writes()) {
    SCOPED_TRACE(write.name);
    const Lease lease = acquire(key(write.name));
    const Record before = record(key(write.name));
    {
      auto unit = begin();
      write(unit->store(), lease);
      unit->rollback();
    }
    expect_same(before, record(key(write.name)));
  }
}

CONFORMANCE_TEST(StoreConformance, Rule7ATakeoverAndATurnToUnknownAreRolledBackWithTheirTransaction) {
  acquire(key("resumable"), resumable());
  acquire(key("not"));
  advance(lease_time + std::chrono::minutes{1});
  const Record resumed = record(key("resumable"));
  const Record not_resumable = record(key("not"));
  {
    auto unit = begin();
    expect_acquired(unit->store().reserve(key("resumable"), request(), resumable()), How::took_over);
    expect<Unknown>(unit->store().reserve(key("not"), request(), options()));
    unit->rollback();
  }
  expect_same(resumed, record(key("resumable")));
  expect_same(not_resumable, record(key("not")));
}

}  // namespace

void register_rules_5_to_7(const std::string& name, const StoreConformance::MakeFixture& make) {
  register_conformance_cases(name, CONFORMANCE_CASES, make);
}

}  // namespace testing
}  // namespace v0
}  // namespace idem
