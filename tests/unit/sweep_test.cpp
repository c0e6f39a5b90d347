// What the sweep does where others work at the same time, or fail; and what its options are refused for.
#include "idem/call/sweep.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <vector>

#include "idem/base/error.hpp"
#include "idem/memory/database.hpp"
#include "idem/testing/fake_acquirer.hpp"
#include "idem/testing/fake_clock.hpp"

namespace idem {
namespace {

using namespace std::chrono_literals;
using testing::FakeAcquirer;

TEST(SweepOptions, ARefusedCallIsToldWhenTheSweepIsMade) {
  SweepOptions no_tries{.operation = "op"};
  no_tries.call.retry.max_tries = 0;
  EXPECT_THROW(validate(no_tries), InvalidArgument);
  SweepOptions no_lease{.operation = "op"};
  no_lease.call.reserve.lease = 0ms;
  EXPECT_THROW(validate(no_lease), InvalidArgument);
  SweepOptions long_call{.operation = "op"};
  long_call.call.reserve.call_deadline = long_call.call.reserve.lease;
  EXPECT_THROW(validate(long_call), InvalidArgument);
}

// ---- A reservation that is being committed at the moment of a pass, as some always are.

struct AnsweredCharge {
  [[nodiscard]] static Downstream downstream() { return deduplicates_for("acquirer", 24h); }
  template <class Tx>
  void prepare(Tx&, const CallContext&) {}
  CallResult<int> call(const CallContext&) { return 1; }
  template <class Tx>
  Decision finish(Tx&, const CallContext&, const int&) {
    return completed(text_response(201, ""));
  }
  template <class Tx>
  Response unknown(Tx&, const CallContext&) {
    return text_response(202, "");
  }
};

// The pass cannot see it; the next ones look only at what is younger than that pass, for an hour.
TEST(SweepRun, ARecordThatWasBeingCommittedDuringAPassIsResumedByTheNextAfterItsLease) {
  const auto clock = std::make_shared<testing::FakeClock>();
  memory::Database database{clock};
  const auto begin = [&] { return database.begin(); };
  std::optional<memory::Transaction> in_flight = database.begin();
  (void)database.store(*in_flight)
      ->reserve({"p", "op", "k"}, Fingerprinter{}({.operation = "op", .body = "{}"}),
                {.lease = 30s, .resumable = true, .downstream = deduplicates_for("acquirer", 24h)});
  clock->advance(1ms);

  std::stop_source stop;
  std::vector<SweepPass> passes;
  Sweep sweep{database, begin, [](auto&, const LapsedRecord&) { return AnsweredCharge{}; },
              SweepOptions{.operation = "op", .interval = 1ms, .on_pass = [&](const SweepPass& pass) {
                             passes.push_back(pass);
                             if (in_flight) {
                               in_flight->commit();
                               in_flight.reset();
                               clock->advance(31s);  // and its process is dead
                             }
                             if (passes.size() == 5) stop.request_stop();
                           }}};
  sweep.run(stop.get_token());
  std::size_t settled = 0;
  for (const SweepPass& pass : passes) settled += pass.settled;
  EXPECT_EQ(settled, 1U);
}

// ---- A sweep of its own thread, as docs/external-calls.md shows it: an exception out of run() ends the whole process.

struct UnansweredCharge {
  [[nodiscard]] static Downstream downstream() { return cannot_deduplicate("acquirer"); }
  template <class Tx>
  void prepare(Tx&, const CallContext&) {}
  CallResult<int> call(const CallContext&) { return ResultUnknown{}; }
  template <class Tx>
  Decision finish(Tx&, const CallContext&, const int&) {
    return completed(text_response(201, ""));
  }
  template <class Tx>
  Response unknown(Tx&, const CallContext&) {
    return text_response(202, "");
  }
};

// external_call() itself calls begin() again after this.
TEST(SweepRun, GoesOnWhereThePoolHadNoConnectionForOnce) {
  memory::Database database;
  int begun = 0;
  const auto begin = [&] {
    if (++begun == 1) throw std::runtime_error{"all connections of the pool are lent"};
    return database.begin();
  };
  std::stop_source stop;
  int passes = 0;
  int failed = 0;
  Sweep sweep{database, begin, [](auto&, const LapsedRecord&) { return std::optional<UnansweredCharge>{}; },
              SweepOptions{.operation = "op",
                           .interval = std::chrono::milliseconds{1},
                           .on_pass =
                               [&](const SweepPass&) {
                                 ++passes;
                                 stop.request_stop();
                               },
                           .on_failed_pass = [&](const std::exception_ptr&) { ++failed; }}};
  EXPECT_NO_THROW(sweep.run(stop.get_token()));
  EXPECT_EQ(passes, 1);
  EXPECT_EQ(failed, 1);
}

// ---- A deployment that changes what the downstream promises, while a record of the old one lies lapsed.

struct DeduplicatedCharge {
  FakeAcquirer& acquirer;
  [[nodiscard]] static Downstream downstream() { return deduplicates_for("acquirer", 24h); }
  template <class Tx>
  void prepare(Tx&, const CallContext&) {}
  CallResult<FakeAcquirer::Answer> call(const CallContext& context) {
    return acquirer.charge(context.downstream_key, "1290 EUR");
  }
  template <class Tx>
  Decision finish(Tx&, const CallContext&, const FakeAcquirer::Answer& answer) {
    return completed(text_response(201, answer.reference));
  }
  template <class Tx>
  Response unknown(Tx&, const CallContext&) {
    return text_response(202, "not known yet");
  }
};

// It was never sent, so whoever comes could send it; but neither a retry nor the sweep does, ever, and reconciliation
// repairs UNKNOWN records only. The sweep counts it as "UNKNOWN now: reconciliation settles them" at every pass.
TEST(PromiseChanged, ALapsedRecordOfTheOldPromiseIsOwnedBySomebody) {
  const auto clock = std::make_shared<testing::FakeClock>();
  memory::Database database{clock};
  const auto begin = [&] { return database.begin(); };
  FakeAcquirer acquirer;
  const Request request{{"p", "op", "k"}, Fingerprinter{}({.operation = "op", .body = "{}"})};
  {
    auto tx = database.begin();
    (void)database.store(tx)->reserve(
        request.key, request.fingerprint,
        {.lease = 30s, .resumable = true, .downstream = cannot_deduplicate("acquirer")});
    tx.commit();
  }
  clock->advance(24h * 365);
  Sweep sweep{database, begin, [&](auto&, const LapsedRecord&) { return DeduplicatedCharge{acquirer}; },
              SweepOptions{.operation = "op"}};
  const SweepPass pass = sweep.pass();
  auto tx = database.begin();
  const State state = database.store(tx)->find(request.key)->state;
  EXPECT_NE(state, State::in_progress) << "nobody will ever settle it";
  EXPECT_EQ(pass.unknown == 1, state == State::unknown) << "the count says what is not so";
}

// ---- A sweep resumes what it found lapsed. It must start nothing.

struct PreparedCharge {
  FakeAcquirer& acquirer;
  int& prepared;
  [[nodiscard]] static Downstream downstream() { return cannot_deduplicate("acquirer"); }
  template <class Tx>
  void prepare(Tx&, const CallContext&) {
    ++prepared;
  }
  CallResult<FakeAcquirer::Answer> call(const CallContext& context) {
    return acquirer.charge(context.downstream_key, "1290 EUR");
  }
  template <class Tx>
  Decision finish(Tx&, const CallContext&, const FakeAcquirer::Answer& answer) {
    return completed(text_response(201, answer.reference));
  }
  template <class Tx>
  Response unknown(Tx&, const CallContext&) {
    return text_response(202, "not known yet");
  }
};

// A sweep lists its page; its process stands still (a suspended machine, a long queue of slow calls), while the client
// comes back, is served, and its record's retention ends. What the sweep then does with its stale list charges again.
TEST(Sweep, StartsNoCommandWhereTheRecordIsGone) {
  const auto clock = std::make_shared<testing::FakeClock>();
  memory::Database database{clock};
  const auto begin = [&] { return database.begin(); };
  FakeAcquirer acquirer{false};
  int prepared = 0;
  const Request request{{"p", "op", "k"}, Fingerprinter{}({.operation = "op", .body = "{}"})};

  {  // Reserved, and the process died before it marked anything.
    auto tx = database.begin();
    (void)database.store(tx)->reserve(
        request.key, request.fingerprint,
        {.lease = 30s, .retention = 1min, .resumable = true, .downstream = cannot_deduplicate("acquirer")});
    tx.commit();
    clock->advance(31s);
  }
  const auto recover = [&](auto& /*tx*/, const LapsedRecord&) {
    PreparedCharge client{acquirer, prepared};
    EXPECT_TRUE(std::holds_alternative<Executed>(external_call(database, begin, request, client)));
    EXPECT_EQ(acquirer.ledger().size(), 1U);
    clock->advance(2min);
    return PreparedCharge{acquirer, prepared};
  };
  Sweep sweep{database, begin, recover, SweepOptions{.operation = "op"}};
  (void)sweep.pass();
  EXPECT_EQ(acquirer.ledger().size(), 1U) << "charged twice for one command";
  EXPECT_EQ(prepared, 0) << "a sweep made a new business row";
}

}  // namespace
}  // namespace idem
