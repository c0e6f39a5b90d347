// The fixture of the store conformance suite, and the words that its tests are written in.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "idem/base/error.hpp"
#include "idem/record/store.hpp"
#include "idem/testing/store_conformance.hpp"
#include "testing/conformance_test.hpp"

namespace idem {
inline namespace v0 {
namespace testing {

[[noreturn]] void throw_unexpected(const Reservation& reservation);

// The alternative `Answer` of a reservation; otherwise an exception that says what it was instead.
template <class Answer>
Answer expect(Reservation reservation) {
  if (auto* answer = std::get_if<Answer>(&reservation)) return std::move(*answer);
  throw_unexpected(reservation);
}

Acquired expect_acquired(Reservation reservation, How how);

class StoreConformance : public ::testing::Test {
 public:
  using MakeFixture = std::function<std::unique_ptr<StoreFixture>()>;
  explicit StoreConformance(const MakeFixture& make);

 protected:
  using milliseconds = std::chrono::milliseconds;
  using hours = std::chrono::hours;
  using minutes = std::chrono::minutes;
  using Call = std::function<void(IdempotencyStore&)>;

  // Long, so that nothing lapses because a machine is slow.
  static constexpr hours lease_time{1};
  static constexpr hours retention{72};
  static constexpr hours window{24};

  static Key key(std::string value = "k1") { return {"alice", "POST /payments", std::move(value)}; }

  // The fingerprint of a request; each `content` is another request.
  static Fingerprint request(std::uint8_t content = 1, std::uint8_t scheme = Fingerprint::sha256_scheme);
  static Fingerprint other_request() { return request(2); }

  static ReserveOptions options();
  static ReserveOptions resumable(Downstream downstream = deduplicates_for("acquirer", window));
  static ReserveOptions waiting();
  static ReserveOptions under_attempt(const Uuid& attempt);
  static Resolution charged(const Lease& lease);
  static Resolution not_charged();
  static Response answer() { return {201, {{"Location", "/payments/1"}}, text_response(0, "paid").body}; }

  // May a race be refused with TransactionConflict, for the whole transaction to run again?
  bool keeps_its_snapshot() { return fixture_->keeps_its_snapshot(); }
  // Was `call` done? Not where it was refused so.
  bool done(const std::function<void()>& call);
  // Calls `call`, a whole transaction, until it is not refused so.
  template <class Whole>
  auto again_after_conflicts(const Whole& call) {
    for (;;) {
      try {
        return call();
      } catch (const TransactionConflict&) {
        if (!keeps_its_snapshot()) throw;
      }
    }
  }

  std::unique_ptr<StoreUnit> begin() { return fixture_->begin(); }
  void advance(milliseconds duration) { fixture_->advance(duration); }

  // Each of these is one committed transaction.

  Reservation reserve(const Key& key, const Fingerprint& fingerprint = request(),
                      const ReserveOptions& options = StoreConformance::options());
  Lease acquire(const Key& key, const ReserveOptions& options = StoreConformance::options());
  TimePoint complete(const Lease& lease, const Response& response = answer());
  TimePoint fail(const Lease& lease, const Response& response = answer());
  void mark_unknown(const Lease& lease, const Response& response = answer());
  void mark_sent(const Lease& lease);
  void release(const Lease& lease);
  TimePoint resolve(const Lease& lease, State state, const Resolution& resolution);
  std::optional<Record> find(const Key& key);
  Record record(const Key& key);

  template <class Work>
  auto in_transaction(const Work& work) {
    return again_after_conflicts([&] {
      const auto unit = begin();
      if constexpr (std::is_void_v<std::invoke_result_t<Work, IdempotencyStore&>>) {
        work(unit->store());
        unit->commit();
      } else {
        auto result = work(unit->store());
        unit->commit();
        return result;
      }
    });
  }

  // Every write that needs a lease.
  struct Write {
    const char* name;
    std::function<void(IdempotencyStore&, const Lease&)> call;
    void operator()(IdempotencyStore& store, const Lease& lease) const { call(store, lease); }
  };
  static std::vector<Write> writes();

  // `write` must throw `Lost`, LeaseLost or AlreadySettled, also where a caller swallows that and commits, with a business
  // write (here: another key) made before it. Nothing of the transaction may then be there.
  template <class Lost>
  void expect_lost_and_nothing_committed(const Call& write);

  // The transaction is usable: what it writes now is committed.
  void expect_usable(StoreUnit& unit);

  static void expect_same(const Record& before, const Record& after);

 private:
  const std::unique_ptr<StoreFixture> fixture_;
};

// Those of one source each.
void register_state_table(const std::string& name, const StoreConformance::MakeFixture& make);
void register_rule_1(const std::string& name, const StoreConformance::MakeFixture& make);
void register_rules_2_to_4(const std::string& name, const StoreConformance::MakeFixture& make);
void register_rules_5_to_7(const std::string& name, const StoreConformance::MakeFixture& make);
void register_rules_8_to_12(const std::string& name, const StoreConformance::MakeFixture& make);
void register_content(const std::string& name, const StoreConformance::MakeFixture& make);
void register_identity(const std::string& name, const StoreConformance::MakeFixture& make);
void register_in_flight(const std::string& name, const StoreConformance::MakeFixture& make);
void register_races(const std::string& name, const StoreConformance::MakeFixture& make);

}  // namespace testing
}  // namespace v0
}  // namespace idem
