// A sweep of its own thread, as docs/external-calls.md shows it: an exception out of run() ends the whole process.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>

#include "idem/call/sweep.hpp"
#include "idem/memory/database.hpp"
#include "idem/testing/fake_acquirer.hpp"

namespace idem {
namespace {

struct Charge {
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
  Sweep sweep{database, begin, [](auto&, const LapsedRecord&) { return std::optional<Charge>{}; },
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

}  // namespace
}  // namespace idem
