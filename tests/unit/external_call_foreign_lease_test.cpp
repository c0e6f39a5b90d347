// finish() that settles something else of idem's and is refused there.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "idem/call/external_call.hpp"
#include "idem/memory/database.hpp"
#include "idem/testing/fake_acquirer.hpp"
#include "idem/testing/fake_clock.hpp"

namespace idem {
namespace {

using testing::FakeAcquirer;

struct Charge {
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
  Charge charge{acquirer};
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

}  // namespace
}  // namespace idem
