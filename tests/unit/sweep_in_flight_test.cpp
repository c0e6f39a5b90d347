// A reservation that is being committed at the moment of a pass, as some always are.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "idem/call/sweep.hpp"
#include "idem/memory/database.hpp"
#include "idem/testing/fake_acquirer.hpp"
#include "idem/testing/fake_clock.hpp"

namespace idem {
namespace {

using namespace std::chrono_literals;

struct Charge {
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
  Sweep sweep{database, begin, [](auto&, const LapsedRecord&) { return Charge{}; },
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

}  // namespace
}  // namespace idem
