#include "testing/store_conformance/suite.hpp"

#include <array>
#include <exception>
#include <stdexcept>
#include <utility>

namespace idem {
inline namespace v0 {
namespace testing {

void throw_unexpected(const Reservation& reservation) {
  constexpr std::array names{"Acquired", "Replay", "InProgress", "Mismatch", "Unknown"};
  throw std::runtime_error{std::string{"reserve answered something else: "} + names.at(reservation.index())};
}

Acquired expect_acquired(Reservation reservation, How how) {
  auto acquired = expect<Acquired>(std::move(reservation));
  if (acquired.how != how) throw std::runtime_error{"reserve acquired the key in another way"};
  return acquired;
}

StoreConformance::StoreConformance(const MakeFixture& make) : fixture_{make()} {
  if (!fixture_) throw std::invalid_argument{"no fixture was made"};
}

Fingerprint StoreConformance::request(std::uint8_t content, std::uint8_t scheme) {
  Fingerprint::Bytes bytes{};
  bytes.front() = std::byte{scheme};
  bytes.back() = std::byte{content};
  return Fingerprint::from_bytes(bytes);
}

ReserveOptions StoreConformance::options() {
  ReserveOptions options;
  options.lease = lease_time;
  options.retention = retention;
  return options;
}

ReserveOptions StoreConformance::resumable(Downstream downstream) {
  ReserveOptions resumable = options();
  resumable.resumable = true;
  resumable.downstream = std::move(downstream);
  return resumable;
}

ReserveOptions StoreConformance::waiting() {
  ReserveOptions waiting = options();
  waiting.on_in_flight = OnInFlight::wait(minutes{1});
  return waiting;
}

ReserveOptions StoreConformance::under_attempt(const Uuid& attempt) {
  ReserveOptions own = options();
  own.attempt = attempt;
  return own;
}

Resolution StoreConformance::charged(const Lease& lease) {
  Resolution resolution{"operator", "the acquirer's report shows the charge"};
  resolution.generation = lease.generation;
  return resolution;
}

Resolution StoreConformance::not_charged() {
  Resolution resolution{"operator", "the acquirer has stored its decline"};
  resolution.no_effect = NoEffect::stored_decline;
  return resolution;
}

bool StoreConformance::done(const std::function<void()>& call) {
  try {
    call();
    return true;
  } catch (const TransactionConflict&) {
    if (!keeps_its_snapshot()) throw;
    return false;
  }
}

Reservation StoreConformance::reserve(const Key& key, const Fingerprint& fingerprint,
                                      const ReserveOptions& options) {
  return in_transaction([&](IdempotencyStore& store) { return store.reserve(key, fingerprint, options); });
}

Lease StoreConformance::acquire(const Key& key, const ReserveOptions& options) {
  return expect_acquired(reserve(key, request(), options), How::fresh).lease;
}

TimePoint StoreConformance::complete(const Lease& lease, const Response& response) {
  return in_transaction([&](IdempotencyStore& store) { return store.complete(lease, response); });
}

TimePoint StoreConformance::fail(const Lease& lease, const Response& response) {
  return in_transaction([&](IdempotencyStore& store) { return store.fail(lease, response); });
}

void StoreConformance::mark_unknown(const Lease& lease, const Response& response) {
  in_transaction([&](IdempotencyStore& store) { store.mark_unknown(lease, response); });
}

void StoreConformance::mark_sent(const Lease& lease) {
  in_transaction([&](IdempotencyStore& store) { store.mark_sent(lease); });
}

void StoreConformance::release(const Lease& lease) {
  in_transaction([&](IdempotencyStore& store) { store.release(lease); });
}

TimePoint StoreConformance::resolve(const Lease& lease, State state, const Resolution& resolution) {
  return in_transaction([&](IdempotencyStore& store) {
    return store.resolve(lease.key, lease.holder, state, answer(), resolution);
  });
}

std::optional<Record> StoreConformance::find(const Key& key) {
  const auto unit = begin();
  return unit->store().find(key);
}

Record StoreConformance::record(const Key& key) {
  auto found = find(key);
  if (!found) throw std::runtime_error{"there is no record"};
  return *std::move(found);
}

std::vector<StoreConformance::Write> StoreConformance::writes() {
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

template <class Lost>
void StoreConformance::expect_lost_and_nothing_committed(const Call& write) {
  const Key business = key("business");
  {
    const auto unit = begin();
    expect_acquired(unit->store().reserve(business, request(), options()), How::fresh);
    EXPECT_THROW(write(unit->store()), Lost);
    try {
      unit->commit();
    } catch (const std::exception&) {
      // May say that nothing can be committed.
    }
  }
  EXPECT_FALSE(find(business)) << "a business write was committed after the lease was lost";
}

template void StoreConformance::expect_lost_and_nothing_committed<LeaseLost>(const Call& write);
template void StoreConformance::expect_lost_and_nothing_committed<AlreadySettled>(const Call& write);

void StoreConformance::expect_usable(StoreUnit& unit) {
  const Key later = key("later");
  expect_acquired(unit.store().reserve(later, request(), options()), How::fresh);
  unit.commit();
  EXPECT_TRUE(find(later)) << "a write after the answer was not committed";
}

void StoreConformance::expect_same(const Record& before, const Record& after) {
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

void register_store_conformance(const std::string& prefix,
                                const std::function<std::unique_ptr<StoreFixture>()>& make) {
  const std::string name = prefix + "/StoreConformance";
  register_state_table(name, make);
  register_rule_1(name, make);
  register_rules_2_to_4(name, make);
  register_rules_5_to_7(name, make);
  register_rules_8_to_12(name, make);
  register_content(name, make);
  register_identity(name, make);
  register_in_flight(name, make);
  register_races(name, make);
}

}  // namespace testing
}  // namespace v0
}  // namespace idem
