// "From window less margin on nothing is sent any more" (docs/external-calls.md). call() may send at any time within its
// deadline: it reads its row, waits for a connection, looks a name up, connects.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>

#include "idem/call/external_call.hpp"
#include "idem/memory/database.hpp"
#include "idem/testing/fake_clock.hpp"

namespace idem {
namespace {

using namespace std::chrono_literals;

// Forgets its keys after the window, as it may.
struct Acquirer {
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

struct Charge {
  Acquirer& acquirer;
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
  Acquirer acquirer{{}, *clock};
  const Request request{{"p", "op", "k"}, Fingerprinter{}({.operation = "op", .body = "{}"})};
  CallOptions options;
  options.reserve.lease = 1h;
  options.reserve.call_deadline = 10min;  // the margin is 1 minute

  Charge first{acquirer, *clock, 0min, false};
  try {
    (void)external_call(database, begin, request, first, options);
  } catch (const InvalidArgument&) {
    return;
  }
  clock->advance(24h - 2min);  // still before window less margin
  Charge second{acquirer, *clock, 9min, true};
  (void)external_call(database, begin, request, second, options);
  EXPECT_EQ(acquirer.ledger.size(), 1U);
}

}  // namespace
}  // namespace idem
