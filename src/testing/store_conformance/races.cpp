// Duplicates at the same time.
#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "idem/testing/race.hpp"
#include "testing/store_conformance/suite.hpp"

namespace idem {
inline namespace v0 {
namespace testing {
namespace {

CONFORMANCE_TESTS_OF(StoreConformance);

// One thread holds both transactions: a store that waits never answers.
CONFORMANCE_TEST(StoreConformance, RaceLoserIsAnsweredWhileTheWinnerIsOpenAndItsTransactionIsUsable) {
  auto winner = begin();
  auto loser = begin();
  const Lease lease = expect_acquired(winner->store().reserve(key(), request(), options()), How::fresh).lease;
  expect_acquired(loser->store().reserve(key("loser's own"), request(), options()), How::fresh);
  const auto told = expect<InProgress>(loser->store().reserve(key(), request(), options()));
  EXPECT_EQ(told.retry_after, std::chrono::seconds{1});
  expect_usable(*loser);
  EXPECT_TRUE(find(key("loser's own")));
  const bool settled = done([&] {
    winner->store().complete(lease, answer());
    winner->commit();
  });
  const Reservation next = reserve(key());
  EXPECT_EQ(std::holds_alternative<Replay>(next), settled);
  EXPECT_EQ(std::holds_alternative<Acquired>(next), !settled);
}

// What the winner asked for cannot be seen yet.
CONFORMANCE_TEST(StoreConformance, RaceLoserWithAnotherFingerprintIsInProgressThenMismatch) {
  auto winner = begin();
  auto loser = begin();
  const Lease lease = expect_acquired(winner->store().reserve(key(), request(), options()), How::fresh).lease;
  expect<InProgress>(loser->store().reserve(key(), other_request(), options()));
  winner->store().complete(lease, answer());
  winner->commit();
  const bool seen = done([&] {
    expect<Mismatch>(loser->store().reserve(key(), other_request(), options()));
    loser->commit();
  });
  if (!seen) expect<Mismatch>(reserve(key(), other_request()));
}

CONFORMANCE_TEST(StoreConformance, RaceLoserAcquiresAfterTheWinnerRolledBack) {
  auto winner = begin();
  auto loser = begin();
  expect_acquired(winner->store().reserve(key(), request(), options()), How::fresh);
  expect<InProgress>(loser->store().reserve(key(), request(), options()));
  winner->rollback();
  expect_acquired(loser->store().reserve(key(), request(), options()), How::fresh);
  loser->commit();
}

CONFORMANCE_TEST(StoreConformance, RaceRetryAfterIsNotLongerThanTheLeaseAskedFor) {
  auto winner = begin();
  auto loser = begin();
  ReserveOptions brief = options();
  brief.lease = std::chrono::milliseconds{300};
  expect_acquired(winner->store().reserve(key(), request(), brief), How::fresh);
  const auto told = expect<InProgress>(loser->store().reserve(key(), request(), brief));
  EXPECT_GE(told.retry_after, std::chrono::milliseconds{1});
  EXPECT_LE(told.retry_after, std::chrono::milliseconds{300});
}

CONFORMANCE_TEST(StoreConformance, RaceForALapsedRecordIsAnsweredWhileTheOtherIsOpen) {
  acquire(key("resumable"), resumable());
  acquire(key("not"));
  complete(acquire(key("expired")));
  advance(retention + std::chrono::minutes{1});
  const ReserveOptions resuming = resumable(cannot_deduplicate("acquirer"));
  acquire(key("fresh"), resuming);
  advance(lease_time + std::chrono::minutes{1});

  auto winner = begin();
  auto loser = begin();
  expect_acquired(winner->store().reserve(key("fresh"), request(), resuming), How::took_over);
  expect<Unknown>(winner->store().reserve(key("not"), request(), options()));
  expect_acquired(winner->store().reserve(key("expired"), request(), options()), How::fresh);
  const std::vector<std::pair<const char*, ReserveOptions>> losing{
      {"fresh", resuming}, {"not", options()}, {"expired", options()}};
  for (const auto& [name, asked] : losing) {
    SCOPED_TRACE(name);
    const auto told = expect<InProgress>(loser->store().reserve(key(name), request(), asked));
    EXPECT_GE(told.retry_after, std::chrono::milliseconds{1});
    EXPECT_LE(told.retry_after, std::chrono::seconds{1});
  }
  // What was committed before can be seen, so another request is told so at once.
  expect<Mismatch>(loser->store().reserve(key("fresh"), other_request(), resuming));
  expect<Mismatch>(loser->store().reserve(key("not"), other_request(), options()));
  expect_usable(*loser);
  if (!done([&] { winner->commit(); })) return;
  expect<InProgress>(reserve(key("fresh"), request(), resuming));
  expect<Unknown>(reserve(key("not")));
  expect<InProgress>(reserve(key("expired")));
}

CONFORMANCE_TEST(StoreConformance, RaceWithAnOpenSettlingIsInProgress) {
  const Lease lease = acquire(key());
  auto settling = begin();
  settling->store().complete(lease, answer());
  expect<InProgress>(reserve(key()));
  expect<Mismatch>(reserve(key(), other_request()));
  EXPECT_EQ(record(key()).state, State::in_progress);
  settling->commit();
  expect<Replay>(reserve(key()));
}

CONFORMANCE_TEST(StoreConformance, RaceWithAnOpenReleaseIsInProgressUntilItIsCommitted) {
  const Lease lease = acquire(key());
  auto releasing = begin();
  releasing->store().release(lease);
  expect<InProgress>(reserve(key()));
  releasing->commit();
  expect_acquired(reserve(key(), other_request()), How::fresh);
}

CONFORMANCE_TEST(StoreConformance, RaceFindNeitherSeesNorWaitsForAnUncommittedRecord) {
  auto unit = begin();
  const Lease lease = expect_acquired(unit->store().reserve(key(), request(), options()), How::fresh).lease;
  EXPECT_FALSE(find(key()));
  EXPECT_TRUE(unit->store().find(key()));
  unit->store().complete(lease, answer());
  EXPECT_FALSE(find(key()));
  unit->commit();
  EXPECT_TRUE(find(key()));
}

// Fault 17: 32 double-clicks.
CONFORMANCE_TEST(StoreConformance, RaceOf32ThreadsForOneKeyHasOneWinnerAndNoException) {
  std::atomic<int> acquired{0};
  std::atomic<int> refused{0};
  const auto thrown = race_errors(32, [&](std::size_t) {
    const Reservation reservation = in_transaction([&](IdempotencyStore& store) {
      Reservation reserved = store.reserve(key(), request(), options());
      if (const auto* won = std::get_if<Acquired>(&reserved)) store.complete(won->lease, answer());
      return reserved;
    });
    if (std::holds_alternative<Acquired>(reservation)) {
      ++acquired;
    } else {
      EXPECT_TRUE(std::holds_alternative<InProgress>(reservation) ||
                  std::holds_alternative<Replay>(reservation));
      ++refused;
    }
  });
  EXPECT_TRUE(thrown.empty());
  EXPECT_EQ(acquired, 1);
  EXPECT_EQ(refused, 31);
  expect<Replay>(reserve(key()));
}

CONFORMANCE_TEST(StoreConformance, RaceOf32ThreadsForALapsedRecordHasOneTakeover) {
  acquire(key(), resumable());
  advance(lease_time + std::chrono::minutes{1});
  std::atomic<int> acquired{0};
  const auto thrown = race_errors(32, [&](std::size_t) {
    const Reservation reservation = reserve(key(), request(), resumable());
    if (std::holds_alternative<Acquired>(reservation)) {
      ++acquired;
    } else {
      EXPECT_TRUE(std::holds_alternative<InProgress>(reservation));
    }
  });
  EXPECT_TRUE(thrown.empty());
  EXPECT_EQ(acquired, 1);
}

CONFORMANCE_TEST(StoreConformance, RaceOf32ThreadsForALapsedRecordThatMustNotBeResumedHasNoWinner) {
  acquire(key());
  advance(lease_time + std::chrono::minutes{1});
  const auto thrown = race_errors(32, [&](std::size_t) {
    const Reservation reservation = reserve(key());
    EXPECT_TRUE(std::holds_alternative<Unknown>(reservation) ||
                std::holds_alternative<InProgress>(reservation));
  });
  EXPECT_TRUE(thrown.empty());
  EXPECT_EQ(record(key()).state, State::unknown);
}

CONFORMANCE_TEST(StoreConformance, RaceOf32ThreadsForAnExpiredRecordHasOneWinner) {
  complete(acquire(key()));
  advance(retention + std::chrono::minutes{1});
  std::atomic<int> acquired{0};
  const auto thrown = race_errors(32, [&](std::size_t) {
    if (std::holds_alternative<Acquired>(reserve(key()))) ++acquired;
  });
  EXPECT_TRUE(thrown.empty());
  EXPECT_EQ(acquired, 1);
}

// The slow worker against the one who took its record over: one of the two answers is stored, never both.
CONFORMANCE_TEST(StoreConformance, RaceOfASettlingWithATakeoverHasOneWinner) {
  for (int round = 0; round < 20; ++round) {
    const Key each = key("k" + std::to_string(round));
    const Lease slow = acquire(each, resumable());
    advance(lease_time + std::chrono::minutes{1});
    std::atomic<int> settled{0};
    const auto thrown = race_errors(2, [&](std::size_t index) {
      if (index == 0) {
        try {
          complete(slow, text_response(200, "slow"));
          ++settled;
        } catch (const LeaseLost&) {
          // The other one was first.
        }
      } else {
        const Reservation reservation = reserve(each, request(), resumable());
        if (const auto* taken = std::get_if<Acquired>(&reservation)) {
          complete(taken->lease, text_response(200, "next"));
          ++settled;
        }
      }
    });
    EXPECT_TRUE(thrown.empty());
    EXPECT_EQ(settled, 1);
    expect<Replay>(reserve(each));
  }
}

// Each key has one winner, and nobody is told of another key's answer.
CONFORMANCE_TEST(StoreConformance, RaceOf16ThreadsOver10KeysHasOneWinnerEach) {
  constexpr std::size_t keys = 10;
  std::array<std::atomic<int>, keys> acquired{};
  const auto thrown = race_errors(16, [&](std::size_t index) {
    for (std::size_t i = 0; i < keys; ++i) {
      const std::size_t n = (i + index) % keys;
      const Key each = key("k" + std::to_string(n));
      const Reservation reservation = in_transaction([&](IdempotencyStore& store) {
        Reservation answer = store.reserve(each, request(), options());
        if (const auto* won = std::get_if<Acquired>(&answer)) {
          store.complete(won->lease, text_response(200, each.value));
        }
        return answer;
      });
      if (std::holds_alternative<Acquired>(reservation)) ++acquired[n];
      if (const auto* replay = std::get_if<Replay>(&reservation)) {
        EXPECT_EQ(body_text(replay->response), each.value);
      }
    }
  });
  EXPECT_TRUE(thrown.empty());
  for (const auto& count : acquired) EXPECT_EQ(count, 1);
}

}  // namespace

void register_races(const std::string& name, const StoreConformance::MakeFixture& make) {
  register_conformance_cases(name, CONFORMANCE_CASES, make);
}

}  // namespace testing
}  // namespace v0
}  // namespace idem
