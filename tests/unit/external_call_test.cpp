// How long a lease is good for a call, by the process's own clock; and what external_call refuses.
#include "idem/call/external_call.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>

#include "idem/memory/database.hpp"
#include "idem/testing/fake_acquirer.hpp"
#include "idem/testing/fake_clock.hpp"

namespace idem {
namespace {

using namespace std::chrono_literals;
using testing::FakeAcquirer;

const TimePoint now{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};

Lease lease_of(std::chrono::milliseconds lease, std::optional<TimePoint> window_until = {}) {
  const Fingerprint fingerprint =
      Fingerprinter{}({.method = "POST", .operation = "op", .query = {}, .body = "{}"});
  return {{"p", "op", "k"}, fingerprint, {1, {}}, 1, now + lease, window_until};
}

ReserveOptions options_of(std::chrono::milliseconds lease, std::chrono::milliseconds deadline,
                          Downstream downstream = deduplicates_for("acquirer", 24h)) {
  return {.lease = lease, .downstream = std::move(downstream), .call_deadline = deadline};
}

detail::LeaseTime begun() {
  detail::LeaseTime time;
  time.begin();
  return time;
}

TEST(LeaseTime, ACallThatFitsIntoTheLeaseMayBeSent) {
  EXPECT_TRUE(begun().may_send(lease_of(1h), options_of(1h, 30min)));
  EXPECT_TRUE(begun().may_send(lease_of(1h, now + 24h), options_of(1h, 30min)));
}

TEST(LeaseTime, ACallThatWouldOutliveTheLeaseMayNot) {
  EXPECT_FALSE(begun().may_send(lease_of(1h), options_of(1h, 1h)));
  // Begun at the clock's own beginning: the lease is long over.
  EXPECT_FALSE(detail::LeaseTime{}.may_send(lease_of(1ms), options_of(1ms, 0ms)));
}

TEST(LeaseTime, NothingMayBeSentFromTheWindowsEndLessTheMarginOn) {
  Downstream downstream = deduplicates_for("acquirer", 24h);
  downstream.margin = 2h;
  const ReserveOptions options = options_of(1h, 30min, downstream);
  EXPECT_TRUE(begun().may_send(lease_of(1h, now + 2h + 1min), options));
  EXPECT_FALSE(begun().may_send(lease_of(1h, now + 2h), options));
  EXPECT_FALSE(begun().may_send(lease_of(1h, now - 1h), options));
}

TEST(CallReservation, IsResumableForTheOperationsDownstreamWithADeadlineInsideTheLease) {
  const ReserveOptions reserve = detail::call_reservation({}, cannot_deduplicate("acquirer"));
  EXPECT_TRUE(reserve.resumable);
  EXPECT_EQ(reserve.downstream, cannot_deduplicate("acquirer"));
  EXPECT_EQ(reserve.call_deadline, ReserveOptions{}.lease / 3);
}

// ---- "From window less margin on nothing is sent any more" (docs/external-calls.md). call() may send at any time within its
// deadline: it reads its row, waits for a connection, looks a name up, connects.

// Forgets its keys after the window, as it may.
struct ForgetfulAcquirer {
  struct Charged {
    TimePoint at;
    std::string key;
  };
  std::vector<Charged> ledger;
  const testing::FakeClock& clock;

  void charge(const std::string& key) {
    for (const Charged& each : ledger) {
      if (each.key == key && clock.now() < each.at + 24h) return;
    }
    ledger.push_back({clock.now(), key});
  }
};

struct SlowCharge {
  ForgetfulAcquirer& acquirer;
  testing::FakeClock& clock;
  std::chrono::milliseconds pause;  // before it sends; within the deadline
  bool answered;
  [[nodiscard]] static Downstream downstream() { return deduplicates_for("acquirer", 24h); }
  template <class Tx>
  void prepare(Tx&, const CallContext&) {}
  CallResult<int> call(const CallContext& context) {
    EXPECT_LT(pause, context.deadline);
    clock.advance(pause);
    acquirer.charge(context.downstream_key);
    if (!answered) return ResultUnknown{"timed out"};
    return 1;
  }
  template <class Tx>
  Decision finish(Tx&, const CallContext&, const int&) {
    return completed(text_response(201, ""));
  }
  template <class Tx>
  Response unknown(Tx&, const CallContext&) {
    return text_response(202, "");
  }
};

// All options are taken; either they are refused, or nothing is charged twice.
TEST(Margin, ACallThatMayTakeLongerThanTheMarginChargesNotTwice) {
  const auto clock = std::make_shared<testing::FakeClock>();
  memory::Database database{clock};
  const auto begin = [&] { return database.begin(); };
  ForgetfulAcquirer acquirer{{}, *clock};
  const Request request{{"p", "op", "k"}, Fingerprinter{}({.operation = "op", .body = "{}"})};
  CallOptions options;
  options.reserve.lease = 1h;
  options.reserve.call_deadline = 10min;  // the margin is 1 minute

  SlowCharge first{acquirer, *clock, 0min, false};
  try {
    (void)external_call(database, begin, request, first, options);
  } catch (const InvalidArgument&) {
    return;
  }
  clock->advance(24h - 2min);  // still before window less margin
  SlowCharge second{acquirer, *clock, 9min, true};
  (void)external_call(database, begin, request, second, options);
  EXPECT_EQ(acquirer.ledger.size(), 1U);
}

// ---- finish() that settles something else of idem's and is refused there.

struct ChargeThatLosesAnotherLease {
  FakeAcquirer& acquirer;
  [[nodiscard]] static Downstream downstream() {
    return deduplicates_for("acquirer", std::chrono::hours{24});
  }
  template <class Tx>
  void prepare(Tx&, const CallContext&) {}
  CallResult<FakeAcquirer::Answer> call(const CallContext& context) {
    return acquirer.charge(context.downstream_key, "1290 EUR");
  }
  template <class Tx>
  Decision finish(Tx&, const CallContext&, const FakeAcquirer::Answer&) {
    // As the store says it of another record, whose lease was lost.
    throw AlreadySettled{"the order's own record is settled already"};
  }
  template <class Tx>
  Response unknown(Tx&, const CallContext&) {
    return text_response(202, "not known yet");
  }
};

// "… and what finish() throws, after the result was recorded as not known."
TEST(ExternalCall, WhatFinishThrowsIsPassedOnAlsoWhereItIsALeaseLostOfAnotherRecord) {
  const auto clock = std::make_shared<testing::FakeClock>();
  memory::Database database{clock};
  FakeAcquirer acquirer;
  ChargeThatLosesAnotherLease charge{acquirer};
  const Request request{{"p", "op", "k"}, Fingerprinter{}({.operation = "op", .body = "{}"})};
  int told = 0;
  CallOptions options;
  options.on_unknown = [&](const UnknownCall& call) { told += call.exception != nullptr; };
  EXPECT_THROW((void)external_call(
                   database, [&] { return database.begin(); }, request, charge, options),
               AlreadySettled);
  EXPECT_EQ(told, 1) << "nobody is told that the answer could not be kept";
  auto tx = database.begin();
  EXPECT_LE(database.store(tx)->find(request.key)->lease_until, clock->now()) << "it was not recorded";
}

// ---- "Conflicts and lost connections are retried within the bounds of the options" (external_call()).

struct ChargeThatLosesConnections {
  int lost = 1;
  int calls = 0;
  [[nodiscard]] static Downstream downstream() {
    return deduplicates_for("acquirer", std::chrono::hours{24});
  }
  template <class Tx>
  void prepare(Tx&, const CallContext&) {
    // As a statement on a connection that the server has ended meanwhile: nothing is sent, nothing is committed.
    if (lost-- > 0) throw memory::CommitLost{"the connection was lost"};
  }
  CallResult<int> call(const CallContext&) { return ++calls; }
  template <class Tx>
  Decision finish(Tx&, const CallContext&, const int&) {
    return completed(text_response(201, ""));
  }
  template <class Tx>
  Response unknown(Tx&, const CallContext&) {
    return text_response(202, "");
  }
};

TEST(ExternalCall, AConnectionLostBeforeTheReservationsCommitIsRetriedAsIsOneOfTheOthers) {
  memory::Database database;
  ChargeThatLosesConnections charge;
  const Request request{{"p", "op", "k"}, Fingerprinter{}({.operation = "op", .body = "{}"})};
  EXPECT_NO_THROW({
    const Outcome outcome = external_call(
        database, [&] { return database.begin(); }, request, charge);
    EXPECT_TRUE(std::holds_alternative<Executed>(outcome));
  });
  EXPECT_EQ(charge.calls, 1);
}

}  // namespace
}  // namespace idem
