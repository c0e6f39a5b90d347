// A sweep resumes what it found lapsed. It must start nothing.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "idem/call/sweep.hpp"
#include "idem/memory/database.hpp"
#include "idem/testing/fake_acquirer.hpp"
#include "idem/testing/fake_clock.hpp"

namespace idem {
namespace {

using namespace std::chrono_literals;
using testing::FakeAcquirer;

struct Charge {
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
    Charge client{acquirer, prepared};
    EXPECT_TRUE(std::holds_alternative<Executed>(external_call(database, begin, request, client)));
    EXPECT_EQ(acquirer.ledger().size(), 1U);
    clock->advance(2min);
    return Charge{acquirer, prepared};
  };
  Sweep sweep{database, begin, recover, SweepOptions{.operation = "op"}};
  (void)sweep.pass();
  EXPECT_EQ(acquirer.ledger().size(), 1U) << "charged twice for one command";
  EXPECT_EQ(prepared, 0) << "a sweep made a new business row";
}

}  // namespace
}  // namespace idem
