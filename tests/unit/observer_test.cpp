#include "idem/record/observer.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "idem/base/error.hpp"
#include "idem/memory/database.hpp"
#include "idem/testing/fake_clock.hpp"

namespace idem {
namespace {

using namespace std::chrono_literals;

struct Recorder final : Observer {
  void observe(const Observation& observation) noexcept override {
    events.push_back(observation.what);
    keys.push_back(observation.subject);
    EXPECT_GE(observation.duration.count(), 0);
  }
  std::vector<Observed> events;
  std::vector<Key> keys;
};

Fingerprint request(std::uint8_t content = 1, std::uint8_t scheme = Fingerprint::sha256_scheme) {
  Fingerprint::Bytes bytes{};
  bytes.front() = std::byte{scheme};
  bytes.back() = std::byte{content};
  return Fingerprint::from_bytes(bytes);
}

class ObserverOfAStore : public ::testing::Test {
 protected:
  static Key key(std::string value) { return {"alice", "POST /payments", std::move(value)}; }
  static ReserveOptions resumable() {
    ReserveOptions options;
    options.resumable = true;
    options.downstream = deduplicates_for("acquirer", 1h);
    return options;
  }
  Lease acquire(const std::string& value, const ReserveOptions& options = {}) {
    auto tx = db.begin();
    auto reservation = db.store(tx)->reserve(key(value), request(), options);
    tx.commit();
    return std::get<Acquired>(reservation).lease;
  }
  // What the calls were told as, and forgets them.
  std::vector<Observed> told() { return std::exchange(recorder->events, {}); }

  using Events = std::vector<Observed>;
  std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
  std::shared_ptr<testing::FakeClock> clock = std::make_shared<testing::FakeClock>();
  memory::Database db{clock, recorder};
};

TEST_F(ObserverOfAStore, SeesEachAnswerOfReserve) {
  const Lease lease = acquire("k", resumable());
  EXPECT_EQ(told(), Events{Observed::acquired});
  auto tx = db.begin();
  auto store = db.store(tx);
  (void)store->reserve(key("k"), request());
  (void)store->reserve(key("k"), request(2));
  ReserveOptions own = resumable();
  own.attempt = lease.holder.attempt;
  clock->advance(1min);
  (void)store->reserve(key("k"), request());
  (void)store->reserve(key("k"), request(), own);
  EXPECT_EQ(told(),
            (Events{Observed::in_progress, Observed::mismatch, Observed::unknown, Observed::acquired_again}));
  tx.commit();
  clock->advance(1min);
  const Lease taken = acquire("k", resumable());
  EXPECT_EQ(told(), Events{Observed::took_over});
  auto settling = db.begin();
  auto settled = db.store(settling);
  settled->complete(taken, text_response(201, "paid"));
  (void)settled->reserve(key("k"), request());
  EXPECT_EQ(told(), (Events{Observed::completed, Observed::replayed}));
}

TEST_F(ObserverOfAStore, SeesEachWrite) {
  const Lease failed = acquire("failed");
  const Lease unknown = acquire("unknown");
  const Lease released = acquire("released");
  (void)told();
  auto tx = db.begin();
  auto store = db.store(tx);
  store->mark_sent(failed);
  (void)store->renew(failed, 1min);
  store->lapse(failed);
  store->fail(failed, text_response(402, "declined"));
  store->mark_unknown(unknown, text_response(202, "ask again"));
  Resolution resolution{"operator", "why"};
  resolution.generation = unknown.generation;
  store->resolve(unknown.key, unknown.holder, State::completed, text_response(201, "paid"), resolution);
  store->release(released);
  (void)store->find(released.key);
  (void)store->find(failed.key);
  EXPECT_EQ(told(), (Events{Observed::marked_sent, Observed::renewed, Observed::lapsed, Observed::failed,
                            Observed::marked_unknown, Observed::resolved, Observed::released,
                            Observed::not_found, Observed::found}));
}

TEST_F(ObserverOfAStore, SeesEachError) {
  const Lease lease = acquire("k");
  (void)told();
  const auto failing = [&](const auto& call) {
    auto tx = db.begin();
    auto store = db.store(tx);
    EXPECT_ANY_THROW(call(*store));
  };
  failing([&](auto& store) { (void)store.reserve(key(""), request()); });
  failing([&](auto& store) { (void)store.reserve(key("k"), request(1, 0x80)); });
  failing([&](auto& store) {
    Lease other = lease;
    ++other.holder.fence;
    store.complete(other, text_response(201, "paid"));
  });
  failing([&](auto& store) {
    store.complete(lease, text_response(201, "paid"));
    store.complete(lease, text_response(201, "paid"));
  });
  EXPECT_EQ(told(), (Events{Observed::error, Observed::error, Observed::lease_lost, Observed::completed,
                            Observed::already_settled}));
}

TEST_F(ObserverOfAStore, IsToldWhoseKeyItWas) {
  (void)acquire("k");
  ASSERT_EQ(recorder->keys.size(), 1U);
  EXPECT_EQ(recorder->keys[0], key("k"));
}

TEST(EventName, IsStableAndItsOwn) {
  EXPECT_EQ(to_string(Observed::took_over), "took_over");
  EXPECT_EQ(to_string(Observed::already_settled), "already_settled");
  std::set<std::string_view> names;
  for (int event = 0; event <= static_cast<int>(Observed::error); ++event) {
    EXPECT_TRUE(names.insert(to_string(static_cast<Observed>(event))).second);
  }
}

TEST(ObserverOfAnInbox, SeesEachEventAndEachVersion) {
  const auto recorder = std::make_shared<Recorder>();
  memory::Database database{std::make_shared<testing::FakeClock>(), recorder};
  auto tx = database.begin();
  auto inbox = database.inbox_store(tx);
  const TimePoint now = testing::FakeClock::default_start;
  const std::vector<EventIdentity> events{{"s", "e1", now}, {"s", "e1", now}, {"s", "e2", now - 24h * 365}};
  (void)inbox->receive("consumer", events, {});
  (void)inbox->advance("consumer", "account", 2);
  (void)inbox->advance("consumer", "account", 1);
  EXPECT_THROW((void)inbox->advance("consumer", "", 1), InvalidEvent);
  EXPECT_EQ(recorder->events, (std::vector{Observed::applied, Observed::duplicate, Observed::beyond_horizon,
                                           Observed::applied, Observed::not_newer, Observed::error}));
  EXPECT_EQ(recorder->keys.front(), (Key{"s", "consumer", "e1"}));
  EXPECT_EQ(recorder->keys.at(3), (Key{"account", "consumer", "2"}));
}

}  // namespace
}  // namespace idem
