// The fixture of the store conformance suite, and the words that its tests are written in.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "idem/base/error.hpp"
#include "idem/record/store.hpp"

namespace idem {
inline namespace v0 {
namespace testing {

// The alternative `Answer` of a reservation; otherwise an exception that says what it was instead.
template <class Answer>
Answer expect(Reservation reservation) {
  if (auto* answer = std::get_if<Answer>(&reservation)) return std::move(*answer);
  constexpr std::array names{"Acquired", "Replay", "InProgress", "Mismatch", "Unknown"};
  throw std::runtime_error{std::string{"reserve answered something else: "} + names.at(reservation.index())};
}

inline Acquired expect_acquired(Reservation reservation, How how) {
  Acquired acquired = expect<Acquired>(std::move(reservation));
  if (acquired.how != how) throw std::runtime_error{"reserve acquired the key in another way"};
  return acquired;
}

template <class Fixture>
class StoreConformance : public ::testing::Test {
 protected:
  using milliseconds = std::chrono::milliseconds;
  using hours = std::chrono::hours;
  using minutes = std::chrono::minutes;

  // Long, so that nothing lapses because a machine is slow.
  static constexpr hours lease_time{1};
  static constexpr hours retention{72};
  static constexpr hours window{24};

  static Key key(std::string value = "k1") { return {"alice", "POST /payments", std::move(value)}; }

  // The fingerprint of a request; each `content` is another request.
  static Fingerprint request(std::uint8_t content = 1, std::uint8_t scheme = Fingerprint::sha256_scheme) {
    Fingerprint::Bytes bytes{};
    bytes.front() = std::byte{scheme};
    bytes.back() = std::byte{content};
    return Fingerprint::from_bytes(bytes);
  }
  static Fingerprint other_request() { return request(2); }

  static ReserveOptions options() {
    ReserveOptions options;
    options.lease = lease_time;
    options.retention = retention;
    return options;
  }
  static ReserveOptions resumable(Downstream downstream = deduplicates_for("acquirer", window)) {
    ReserveOptions resumable = options();
    resumable.resumable = true;
    resumable.downstream = std::move(downstream);
    return resumable;
  }
  static ReserveOptions waiting() {
    ReserveOptions waiting = options();
    waiting.on_in_flight = OnInFlight::wait(minutes{1});
    return waiting;
  }
  static ReserveOptions under_attempt(const Uuid& attempt) {
    ReserveOptions own = options();
    own.attempt = attempt;
    return own;
  }
  static Resolution charged(const Lease& lease) {
    Resolution resolution{"operator", "the acquirer's report shows the charge"};
    resolution.generation = lease.generation;
    return resolution;
  }
  static Resolution not_charged() {
    Resolution resolution{"operator", "the acquirer has stored its decline"};
    resolution.no_effect = NoEffect::stored_decline;
    return resolution;
  }

  // May a race be refused with TransactionConflict, for the whole transaction to run again?
  bool keeps_its_snapshot() {
    if constexpr (requires { fixture_.keeps_its_snapshot(); }) {
      return fixture_.keeps_its_snapshot();
    } else {
      return false;
    }
  }
  // Was `call` done? Not where it was refused so.
  template <class Call>
  bool done(const Call& call) {
    try {
      call();
      return true;
    } catch (const TransactionConflict&) {
      if (!keeps_its_snapshot()) throw;
      return false;
    }
  }
  // Calls `call`, a whole transaction, until it is not refused so.
  template <class Call>
  auto again_after_conflicts(const Call& call) {
    for (;;) {
      try {
        return call();
      } catch (const TransactionConflict&) {
        if (!keeps_its_snapshot()) throw;
      }
    }
  }

  auto begin() { return fixture_.begin(); }
  void advance(milliseconds duration) { fixture_.advance(duration); }

  // Each of these is one committed transaction.

  Reservation reserve(const Key& key, const Fingerprint& fingerprint = request(),
                      const ReserveOptions& options = StoreConformance::options()) {
    return in_transaction([&](IdempotencyStore& store) { return store.reserve(key, fingerprint, options); });
  }
  Lease acquire(const Key& key, const ReserveOptions& options = StoreConformance::options()) {
    return expect_acquired(reserve(key, request(), options), How::fresh).lease;
  }
  TimePoint complete(const Lease& lease, const Response& response = answer()) {
    return in_transaction([&](IdempotencyStore& store) { return store.complete(lease, response); });
  }
  TimePoint fail(const Lease& lease, const Response& response = answer()) {
    return in_transaction([&](IdempotencyStore& store) { return store.fail(lease, response); });
  }
  void mark_unknown(const Lease& lease, const Response& response = answer()) {
    in_transaction([&](IdempotencyStore& store) { store.mark_unknown(lease, response); });
  }
  void mark_sent(const Lease& lease) {
    in_transaction([&](IdempotencyStore& store) { store.mark_sent(lease); });
  }
  void release(const Lease& lease) {
    in_transaction([&](IdempotencyStore& store) { store.release(lease); });
  }
  TimePoint resolve(const Lease& lease, State state, const Resolution& resolution) {
    return in_transaction([&](IdempotencyStore& store) {
      return store.resolve(lease.key, lease.holder, state, answer(), resolution);
    });
  }
  std::optional<Record> find(const Key& key) {
    auto unit = begin();
    return unit.store().find(key);
  }
  Record record(const Key& key) {
    auto found = find(key);
    if (!found) throw std::runtime_error{"there is no record"};
    return *std::move(found);
  }

  template <class Call>
  auto in_transaction(const Call& call) {
    return again_after_conflicts([&] {
      auto unit = begin();
      if constexpr (std::is_void_v<std::invoke_result_t<Call, IdempotencyStore&>>) {
        call(unit.store());
        unit.commit();
      } else {
        auto result = call(unit.store());
        unit.commit();
        return result;
      }
    });
  }

  static Response answer() { return {201, {{"Location", "/payments/1"}}, text_response(0, "paid").body}; }

  // Every write that needs a lease.
  struct Write {
    const char* name;
    std::function<void(IdempotencyStore&, const Lease&)> call;
    void operator()(IdempotencyStore& store, const Lease& lease) const { call(store, lease); }
  };
  static std::vector<Write> writes() {
    return {
        {"complete", [](IdempotencyStore& store, const Lease& lease) { store.complete(lease, answer()); }},
        {"fail", [](IdempotencyStore& store, const Lease& lease) { store.fail(lease, answer()); }},
        {"mark_unknown",
         [](IdempotencyStore& store, const Lease& lease) { store.mark_unknown(lease, answer()); }},
        {"hold", [](IdempotencyStore& store, const Lease& lease) { store.hold(lease); }},
        {"mark_sent", [](IdempotencyStore& store, const Lease& lease) { store.mark_sent(lease); }},
        {"renew", [](IdempotencyStore& store, const Lease& lease) { (void)store.renew(lease, lease_time); }},
        {"lapse", [](IdempotencyStore& store, const Lease& lease) { store.lapse(lease); }},
        {"release", [](IdempotencyStore& store, const Lease& lease) { store.release(lease); }},
    };
  }

  // `write` must throw `Lost`, also where a caller swallows that and commits, with a business write (here:
  // another key) made before it. Nothing of the transaction may then be there.
  template <class Lost, class Call>
  void expect_lost_and_nothing_committed(const Call& write) {
    const Key business = key("business");
    {
      auto unit = begin();
      expect_acquired(unit.store().reserve(business, request(), options()), How::fresh);
      EXPECT_THROW(write(unit.store()), Lost);
      try {
        unit.commit();
      } catch (const std::exception&) {
        // May say that nothing can be committed.
      }
    }
    EXPECT_FALSE(find(business)) << "a business write was committed after the lease was lost";
  }

  // The transaction is usable: what it writes now is committed.
  template <class Unit>
  void expect_usable(Unit& unit) {
    const Key later = key("later");
    expect_acquired(unit.store().reserve(later, request(), options()), How::fresh);
    unit.commit();
    EXPECT_TRUE(find(later)) << "a write after the answer was not committed";
  }

  static void expect_same(const Record& before, const Record& after) {
    EXPECT_EQ(before.fingerprint, after.fingerprint);
    EXPECT_EQ(before.state, after.state);
    EXPECT_EQ(before.holder, after.holder);
    EXPECT_EQ(before.generation, after.generation);
    EXPECT_EQ(before.resumable, after.resumable);
    EXPECT_EQ(before.downstream, after.downstream);
    EXPECT_EQ(before.window_until, after.window_until);
    EXPECT_EQ(before.call_deadline, after.call_deadline);
    EXPECT_EQ(before.sent_at, after.sent_at);
    EXPECT_EQ(before.lease_until, after.lease_until);
    EXPECT_EQ(before.retention, after.retention);
    EXPECT_EQ(before.response, after.response);
    EXPECT_EQ(before.created_at, after.created_at);
    EXPECT_EQ(before.finished_at, after.finished_at);
    EXPECT_EQ(before.expires_at, after.expires_at);
    EXPECT_EQ(before.resolved_by, after.resolved_by);
    EXPECT_EQ(before.resolved_note, after.resolved_note);
  }

 private:
  Fixture fixture_;
};

TYPED_TEST_SUITE_P(StoreConformance);

}  // namespace testing
}  // namespace v0
}  // namespace idem
