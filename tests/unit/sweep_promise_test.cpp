// A deployment that changes what the downstream promises, while a record of the old one lies lapsed.
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
  Sweep sweep{database, begin, [&](auto&, const LapsedRecord&) { return Charge{acquirer}; },
              SweepOptions{.operation = "op"}};
  const SweepPass pass = sweep.pass();
  auto tx = database.begin();
  const State state = database.store(tx)->find(request.key)->state;
  EXPECT_NE(state, State::in_progress) << "nobody will ever settle it";
  EXPECT_EQ(pass.unknown == 1, state == State::unknown) << "the count says what is not so";
}

}  // namespace
}  // namespace idem
