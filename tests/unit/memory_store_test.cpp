// What the conformance suite cannot see: exact times, what stays in memory, and the in-memory database as a
// backend.
#include "idem/record/store.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <future>
#include <memory>
#include <string>

#include "idem/base/error.hpp"
#include "idem/command/transact.hpp"
#include "idem/memory/database.hpp"
#include "idem/memory/subtransaction.hpp"
#include "idem/memory/table.hpp"
#include "idem/testing/fake_clock.hpp"
#include "idem/testing/race.hpp"

namespace idem::memory {
namespace {

using namespace std::chrono_literals;

Fingerprint request(std::uint8_t content = 1) {
  Fingerprint::Bytes bytes{};
  bytes.front() = std::byte{Fingerprint::sha256_scheme};
  bytes.back() = std::byte{content};
  return Fingerprint::from_bytes(bytes);
}

class MemoryStore : public ::testing::Test {
 protected:
  static Key key(std::string value = "k1") { return {"alice", "POST /payments", std::move(value)}; }

  Reservation reserve(const Key& of, const ReserveOptions& options = {}) {
    auto tx = db.begin();
    auto reservation = db.store(tx)->reserve(of, request(), options);
    tx.commit();
    return reservation;
  }
  std::optional<Record> find(const Key& of) {
    auto tx = db.begin();
    return db.store(tx)->find(of);
  }

  std::shared_ptr<testing::FakeClock> clock = std::make_shared<testing::FakeClock>();
  Database db{clock};
};

// Fault 1: lease 1 s; at 0.5 s in progress with 0.5 s to go; at its very end it may be taken over.
TEST_F(MemoryStore, ALeaseEndsAtItsVeryEnd) {
  ReserveOptions options;
  options.lease = 1s;
  options.resumable = true;
  options.downstream = deduplicates_for("acquirer", 1h);
  ASSERT_TRUE(std::holds_alternative<Acquired>(reserve(key(), options)));
  clock->advance(500ms);
  EXPECT_EQ(std::get<InProgress>(reserve(key(), options)).retry_after, 500ms);
  clock->advance(499'999us);
  EXPECT_EQ(std::get<InProgress>(reserve(key(), options)).retry_after, 1ms);
  clock->advance(1us);
  EXPECT_EQ(std::get<Acquired>(reserve(key(), options)).how, How::took_over);
}

TEST_F(MemoryStore, ARecordExpiresAtTheVeryEndOfItsRetention) {
  const Lease lease = std::get<Acquired>(reserve(key())).lease;
  {
    auto tx = db.begin();
    EXPECT_EQ(db.store(tx)->complete(lease, text_response(201, "paid")), clock->now() + 72h);
    tx.commit();
  }
  clock->advance(72h - 1us);
  EXPECT_TRUE(find(key()));
  EXPECT_TRUE(std::holds_alternative<Replay>(reserve(key())));
  clock->advance(1us);
  EXPECT_FALSE(find(key()));
  EXPECT_EQ(std::get<Acquired>(reserve(key())).how, How::fresh);
}

TEST_F(MemoryStore, AFenceIsTheClocksMicrosecondsOrOneMoreThanTheLast) {
  const Lease first = std::get<Acquired>(reserve(key("k1"))).lease;
  EXPECT_EQ(first.holder.fence, clock->now().time_since_epoch().count());
  EXPECT_EQ(std::get<Acquired>(reserve(key("k2"))).lease.holder.fence, first.holder.fence + 1);
  clock->advance(1h);
  EXPECT_EQ(std::get<Acquired>(reserve(key("k3"))).lease.holder.fence,
            clock->now().time_since_epoch().count());
}

TEST_F(MemoryStore, WithoutAClockItIsTheMachinesOwn) {
  Database real;
  auto tx = real.begin();
  auto store = real.store(tx);
  const auto before = std::chrono::system_clock::now() - 1us;
  ASSERT_TRUE(std::holds_alternative<Acquired>(store->reserve(key(), request())));
  const TimePoint created_at = store->find(key())->created_at;
  EXPECT_GE(created_at, before);
  EXPECT_LE(created_at, std::chrono::system_clock::now());
}

TEST_F(MemoryStore, LapseNeverLengthensALeaseThatIsOver) {
  const Lease lease = std::get<Acquired>(reserve(key())).lease;
  clock->advance(1h);
  auto tx = db.begin();
  auto store = db.store(tx);
  store->lapse(lease);
  EXPECT_EQ(store->find(key())->lease_until, lease.lease_until);
}

// Savepoints: the reservation and its settling go with the level that they were made in.
TEST_F(MemoryStore, ASubtransactionThatRollsBackTakesItsReservationWithIt) {
  auto tx = db.begin();
  {
    Subtransaction sub{tx};
    ASSERT_TRUE(std::holds_alternative<Acquired>(db.store(sub)->reserve(key(), request())));
  }
  EXPECT_FALSE(db.store(tx)->find(key()));
  ASSERT_TRUE(std::holds_alternative<Acquired>(db.store(tx)->reserve(key(), request())));
  tx.commit();
  EXPECT_TRUE(find(key()));
}

TEST_F(MemoryStore, AnOuterReservationIsAlreadyReservedInASubtransaction) {
  auto tx = db.begin();
  const auto reservation = db.store(tx)->reserve(key(), request());
  {
    Subtransaction sub{tx};
    auto store = db.store(sub);
    EXPECT_THROW((void)store->reserve(key(), request()), AlreadyReserved);
    store->complete(std::get<Acquired>(reservation).lease, text_response(201, "paid"));
  }
  EXPECT_EQ(db.store(tx)->find(key())->state, State::in_progress);
}

TEST_F(MemoryStore, ExecuteRunsInASubtransaction) {
  Table<std::string, int> payments{db};
  auto tx = db.begin();
  {
    Subtransaction sub{tx};
    const Outcome outcome = execute(db, sub, {key(), request()}, [&](Subtransaction& given, const Lease&) {
      payments.put(given, "p1", 1290);
      return completed(text_response(201, "paid"));
    });
    EXPECT_TRUE(std::holds_alternative<Executed>(outcome));
    sub.commit();
  }
  tx.commit();
  EXPECT_EQ(find(key())->state, State::completed);
  auto reader = db.begin();
  EXPECT_EQ(payments.find(reader, "p1"), 1290);
}

// Two that settle each other's lost COMMITs wait in a ring: one is told to run again.
TEST_F(MemoryStore, ReservationsThatWaitForEachOtherAreADeadlock) {
  std::barrier both_hold_one{2};
  std::atomic<int> conflicts{0};
  testing::race(2, [&](std::size_t index) {
    auto tx = db.begin();
    auto store = db.store(tx);
    ASSERT_TRUE(std::holds_alternative<Acquired>(store->reserve(key(index == 0 ? "a" : "b"), request())));
    both_hold_one.arrive_and_wait();
    ReserveOptions waiting;
    waiting.attempt = random_uuid_v4();
    try {
      (void)store->reserve(key(index == 0 ? "b" : "a"), request(), waiting);
      tx.commit();
    } catch (const TransactionConflict&) {
      ++conflicts;
    }
  });
  EXPECT_EQ(conflicts, 1);
  EXPECT_EQ(db.record_count(), 2U);
}

// Fault 19: nothing is kept for keys that are not used any more.
TEST_F(MemoryStore, NothingIsLeftOfReservationsThatWereReleasedOrRolledBack) {
  testing::race(16, [&](std::size_t index) {
    for (int i = 0; i < 10'000 / 16; ++i) {
      const Key of = key("k" + std::to_string((static_cast<std::size_t>(i) * 7 + index) % 100));
      auto tx = db.begin();
      auto store = db.store(tx);
      const auto reservation = store->reserve(of, request());
      if (!std::holds_alternative<Acquired>(reservation)) continue;
      if (i % 2 == 0) continue;
      tx.commit();
      auto releasing = db.begin();
      db.store(releasing)->release(std::get<Acquired>(reservation).lease);
      releasing.commit();
    }
  });
  EXPECT_EQ(db.record_count(), 0U);
}

TEST_F(MemoryStore, ARecordIsCountedUntilItIsGone) {
  auto tx = db.begin();
  const auto reservation = db.store(tx)->reserve(key(), request());
  EXPECT_EQ(db.record_count(), 1U);
  tx.commit();
  EXPECT_EQ(db.record_count(), 1U);
  auto releasing = db.begin();
  db.store(releasing)->release(std::get<Acquired>(reservation).lease);
  EXPECT_EQ(db.record_count(), 1U);
  releasing.commit();
  EXPECT_EQ(db.record_count(), 0U);
}

// Fault 18.
TEST_F(MemoryStore, RaceOf64ThreadsHasOneEffectAKey) {
  Table<std::string, int> payments{db};
  constexpr int keys = 20;
  std::atomic<int> runs{0};
  TransactOptions quick;
  quick.retry.pause = [](std::chrono::milliseconds) {};
  const auto thrown = testing::race_errors(64, [&](std::size_t index) {
    for (int i = 0; i < keys; ++i) {
      const std::string id = "k" + std::to_string((i + static_cast<int>(index) % 3) % keys);
      for (bool answered = false; !answered;) {
        const Outcome outcome = transact(
            db, [&] { return db.begin(); }, {key(id), request()},
            [&](Transaction& tx, const Lease&) {
              ++runs;
              EXPECT_TRUE(payments.insert(tx, id, 1290));
              return completed(text_response(201, id));
            },
            quick);
        answered = !std::holds_alternative<InProgress>(outcome);
        if (!answered) continue;
        const auto* replay = std::get_if<Replay>(&outcome);
        EXPECT_EQ(body_text(replay != nullptr ? replay->response : std::get<Executed>(outcome).response), id);
      }
    }
  });
  EXPECT_TRUE(thrown.empty());
  EXPECT_EQ(runs, keys);
  auto tx = db.begin();
  EXPECT_EQ(payments.size(tx), static_cast<std::size_t>(keys));
}

// A response beyond the limit is refused before anything changes.
TEST_F(MemoryStore, AResponseOverTheLimitIsRefused) {
  const Lease lease = std::get<Acquired>(reserve(key())).lease;
  auto tx = db.begin();
  auto store = db.store(tx);
  Response response{200, {}, std::vector<std::byte>((std::size_t{16} << 20) + 1)};
  EXPECT_THROW(store->complete(lease, response), InvalidArgument);
  response.body.pop_back();
  store->complete(lease, response);
  tx.commit();
  EXPECT_EQ(std::get<Replay>(reserve(key())).response.body.size(), std::size_t{16} << 20);
}

TEST(MemoryBackend, SaysWhatAnExceptionMeans) {
  const Database db;
  const auto failure_of = [&](const auto& error) { return db.failure_of(std::make_exception_ptr(error)); };
  EXPECT_EQ(failure_of(TransactionConflict{"x"}), Failure::transient);
  EXPECT_EQ(failure_of(LeaseLost{"x"}), Failure::definite);
  EXPECT_EQ(failure_of(AlreadySettled{"x"}), Failure::definite);
  EXPECT_EQ(failure_of(InvalidArgument{"x"}), Failure::definite);
  EXPECT_EQ(failure_of(TransactionClosed{"x"}), Failure::definite);
  EXPECT_EQ(failure_of(CommitLost{"x"}), Failure::lost);
  EXPECT_EQ(failure_of(std::runtime_error{"x"}), Failure::unknown);
  EXPECT_EQ(failure_of(1), Failure::unknown);
}

}  // namespace
}  // namespace idem::memory
