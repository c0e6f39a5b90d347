// Duplicates at the same time.
#pragma once

#include <atomic>

#include "idem/testing/race.hpp"
#include "idem/testing/store_conformance/suite.hpp"

namespace idem {
inline namespace v0 {
namespace testing {

// One thread holds both transactions: a store that waits never answers.
TYPED_TEST_P(StoreConformance, RaceLoserIsAnsweredWhileTheWinnerIsOpenAndItsTransactionIsUsable) {
  auto winner = this->begin();
  auto loser = this->begin();
  const Lease lease =
      expect_acquired(winner.store().reserve(this->key(), this->request(), this->options()), How::fresh)
          .lease;
  expect_acquired(loser.store().reserve(this->key("loser's own"), this->request(), this->options()),
                  How::fresh);
  const InProgress answer =
      expect<InProgress>(loser.store().reserve(this->key(), this->request(), this->options()));
  EXPECT_EQ(answer.retry_after, std::chrono::seconds{1});
  this->expect_usable(loser);
  EXPECT_TRUE(this->find(this->key("loser's own")));
  const bool done = this->done([&] {
    winner.store().complete(lease, this->answer());
    winner.commit();
  });
  const Reservation next = this->reserve(this->key());
  EXPECT_EQ(std::holds_alternative<Replay>(next), done);
  EXPECT_EQ(std::holds_alternative<Acquired>(next), !done);
}

// What the winner asked for cannot be seen yet.
TYPED_TEST_P(StoreConformance, RaceLoserWithAnotherFingerprintIsInProgressThenMismatch) {
  auto winner = this->begin();
  auto loser = this->begin();
  const Lease lease =
      expect_acquired(winner.store().reserve(this->key(), this->request(), this->options()), How::fresh)
          .lease;
  expect<InProgress>(loser.store().reserve(this->key(), this->other_request(), this->options()));
  winner.store().complete(lease, this->answer());
  winner.commit();
  const bool seen = this->done([&] {
    expect<Mismatch>(loser.store().reserve(this->key(), this->other_request(), this->options()));
    loser.commit();
  });
  if (!seen) expect<Mismatch>(this->reserve(this->key(), this->other_request()));
}

TYPED_TEST_P(StoreConformance, RaceLoserAcquiresAfterTheWinnerRolledBack) {
  auto winner = this->begin();
  auto loser = this->begin();
  expect_acquired(winner.store().reserve(this->key(), this->request(), this->options()), How::fresh);
  expect<InProgress>(loser.store().reserve(this->key(), this->request(), this->options()));
  winner.rollback();
  expect_acquired(loser.store().reserve(this->key(), this->request(), this->options()), How::fresh);
  loser.commit();
}

TYPED_TEST_P(StoreConformance, RaceRetryAfterIsNotLongerThanTheLeaseAskedFor) {
  auto winner = this->begin();
  auto loser = this->begin();
  ReserveOptions brief = this->options();
  brief.lease = std::chrono::milliseconds{300};
  expect_acquired(winner.store().reserve(this->key(), this->request(), brief), How::fresh);
  const InProgress answer = expect<InProgress>(loser.store().reserve(this->key(), this->request(), brief));
  EXPECT_GE(answer.retry_after, std::chrono::milliseconds{1});
  EXPECT_LE(answer.retry_after, std::chrono::milliseconds{300});
}

TYPED_TEST_P(StoreConformance, RaceForALapsedRecordIsAnsweredWhileTheOtherIsOpen) {
  this->acquire(this->key("resumable"), this->resumable());
  this->acquire(this->key("not"));
  this->complete(this->acquire(this->key("expired")));
  this->advance(this->retention + std::chrono::minutes{1});
  ReserveOptions resumable = this->resumable(cannot_deduplicate("acquirer"));
  this->acquire(this->key("fresh"), resumable);
  this->advance(this->lease_time + std::chrono::minutes{1});

  auto winner = this->begin();
  auto loser = this->begin();
  expect_acquired(winner.store().reserve(this->key("fresh"), this->request(), resumable), How::took_over);
  expect<Unknown>(winner.store().reserve(this->key("not"), this->request(), this->options()));
  expect_acquired(winner.store().reserve(this->key("expired"), this->request(), this->options()), How::fresh);
  const std::pair<const char*, ReserveOptions> losing[]{
      {"fresh", resumable}, {"not", this->options()}, {"expired", this->options()}};
  for (const auto& [name, options] : losing) {
    SCOPED_TRACE(name);
    const InProgress answer =
        expect<InProgress>(loser.store().reserve(this->key(name), this->request(), options));
    EXPECT_GE(answer.retry_after, std::chrono::milliseconds{1});
    EXPECT_LE(answer.retry_after, std::chrono::seconds{1});
  }
  // What was committed before can be seen, so another request is told so at once.
  expect<Mismatch>(loser.store().reserve(this->key("fresh"), this->other_request(), resumable));
  expect<Mismatch>(loser.store().reserve(this->key("not"), this->other_request(), this->options()));
  this->expect_usable(loser);
  if (!this->done([&] { winner.commit(); })) return;
  expect<InProgress>(this->reserve(this->key("fresh"), this->request(), resumable));
  expect<Unknown>(this->reserve(this->key("not")));
  expect<InProgress>(this->reserve(this->key("expired")));
}

TYPED_TEST_P(StoreConformance, RaceWithAnOpenSettlingIsInProgress) {
  const Lease lease = this->acquire(this->key());
  auto settling = this->begin();
  settling.store().complete(lease, this->answer());
  expect<InProgress>(this->reserve(this->key()));
  expect<Mismatch>(this->reserve(this->key(), this->other_request()));
  EXPECT_EQ(this->record(this->key()).state, State::in_progress);
  settling.commit();
  expect<Replay>(this->reserve(this->key()));
}

TYPED_TEST_P(StoreConformance, RaceWithAnOpenReleaseIsInProgressUntilItIsCommitted) {
  const Lease lease = this->acquire(this->key());
  auto releasing = this->begin();
  releasing.store().release(lease);
  expect<InProgress>(this->reserve(this->key()));
  releasing.commit();
  expect_acquired(this->reserve(this->key(), this->other_request()), How::fresh);
}

TYPED_TEST_P(StoreConformance, RaceFindNeitherSeesNorWaitsForAnUncommittedRecord) {
  auto unit = this->begin();
  const Lease lease =
      expect_acquired(unit.store().reserve(this->key(), this->request(), this->options()), How::fresh).lease;
  EXPECT_FALSE(this->find(this->key()));
  EXPECT_TRUE(unit.store().find(this->key()));
  unit.store().complete(lease, this->answer());
  EXPECT_FALSE(this->find(this->key()));
  unit.commit();
  EXPECT_TRUE(this->find(this->key()));
}

// Fault 17: 32 double-clicks.
TYPED_TEST_P(StoreConformance, RaceOf32ThreadsForOneKeyHasOneWinnerAndNoException) {
  std::atomic<int> acquired{0};
  std::atomic<int> refused{0};
  const auto thrown = race_errors(32, [&](std::size_t) {
    const Reservation reservation = this->in_transaction([&](IdempotencyStore& store) {
      Reservation answer = store.reserve(this->key(), this->request(), this->options());
      if (const auto* won = std::get_if<Acquired>(&answer)) store.complete(won->lease, this->answer());
      return answer;
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
  expect<Replay>(this->reserve(this->key()));
}

TYPED_TEST_P(StoreConformance, RaceOf32ThreadsForALapsedRecordHasOneTakeover) {
  this->acquire(this->key(), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  std::atomic<int> acquired{0};
  const auto thrown = race_errors(32, [&](std::size_t) {
    const Reservation reservation = this->reserve(this->key(), this->request(), this->resumable());
    if (std::holds_alternative<Acquired>(reservation)) {
      ++acquired;
    } else {
      EXPECT_TRUE(std::holds_alternative<InProgress>(reservation));
    }
  });
  EXPECT_TRUE(thrown.empty());
  EXPECT_EQ(acquired, 1);
}

TYPED_TEST_P(StoreConformance, RaceOf32ThreadsForALapsedRecordThatMustNotBeResumedHasNoWinner) {
  this->acquire(this->key());
  this->advance(this->lease_time + std::chrono::minutes{1});
  const auto thrown = race_errors(32, [&](std::size_t) {
    const Reservation reservation = this->reserve(this->key());
    EXPECT_TRUE(std::holds_alternative<Unknown>(reservation) ||
                std::holds_alternative<InProgress>(reservation));
  });
  EXPECT_TRUE(thrown.empty());
  EXPECT_EQ(this->record(this->key()).state, State::unknown);
}

TYPED_TEST_P(StoreConformance, RaceOf32ThreadsForAnExpiredRecordHasOneWinner) {
  this->complete(this->acquire(this->key()));
  this->advance(this->retention + std::chrono::minutes{1});
  std::atomic<int> acquired{0};
  const auto thrown = race_errors(32, [&](std::size_t) {
    if (std::holds_alternative<Acquired>(this->reserve(this->key()))) ++acquired;
  });
  EXPECT_TRUE(thrown.empty());
  EXPECT_EQ(acquired, 1);
}

// The slow worker against the one who took its record over: one of the two answers is stored, never both.
TYPED_TEST_P(StoreConformance, RaceOfASettlingWithATakeoverHasOneWinner) {
  for (int round = 0; round < 20; ++round) {
    const Key key = this->key("k" + std::to_string(round));
    const Lease slow = this->acquire(key, this->resumable());
    this->advance(this->lease_time + std::chrono::minutes{1});
    std::atomic<int> settled{0};
    const auto thrown = race_errors(2, [&](std::size_t index) {
      if (index == 0) {
        try {
          this->complete(slow, text_response(200, "slow"));
          ++settled;
        } catch (const LeaseLost&) {
          // The other one was first.
        }
      } else {
        const Reservation reservation = this->reserve(key, this->request(), this->resumable());
        if (const auto* taken = std::get_if<Acquired>(&reservation)) {
          this->complete(taken->lease, text_response(200, "next"));
          ++settled;
        }
      }
    });
    EXPECT_TRUE(thrown.empty());
    EXPECT_EQ(settled, 1);
    expect<Replay>(this->reserve(key));
  }
}

// Each key has one winner, and nobody is told of another key's answer.
TYPED_TEST_P(StoreConformance, RaceOf16ThreadsOver10KeysHasOneWinnerEach) {
  constexpr std::size_t keys = 10;
  std::array<std::atomic<int>, keys> acquired{};
  const auto thrown = race_errors(16, [&](std::size_t index) {
    for (std::size_t i = 0; i < keys; ++i) {
      const std::size_t n = (i + index) % keys;
      const Key key = this->key("k" + std::to_string(n));
      const Reservation reservation = this->in_transaction([&](IdempotencyStore& store) {
        Reservation answer = store.reserve(key, this->request(), this->options());
        if (const auto* won = std::get_if<Acquired>(&answer)) {
          store.complete(won->lease, text_response(200, key.value));
        }
        return answer;
      });
      if (std::holds_alternative<Acquired>(reservation)) ++acquired[n];
      if (const auto* replay = std::get_if<Replay>(&reservation)) {
        EXPECT_EQ(body_text(replay->response), key.value);
      }
    }
  });
  EXPECT_TRUE(thrown.empty());
  for (const auto& count : acquired) EXPECT_EQ(count, 1);
}

}  // namespace testing
}  // namespace v0
}  // namespace idem
