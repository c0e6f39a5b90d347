// The words that the tests of external_call, of the sweep and of repairs are written in.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "conformance/suites.hpp"
#include "idem/call/external_call.hpp"
#include "idem/call/sweep.hpp"
#include "idem/settlement/repair.hpp"
#include "idem/testing/fake_acquirer.hpp"

namespace idem::conformance {

using testing::FakeAcquirer;
using testing::FakeCharge;

class ExternalCallConformance : public Conformance {
 public:
  explicit ExternalCallConformance(const MakeFixture& make) : Conformance{make} { fixture.make_tables(); }

 protected:
  static constexpr std::chrono::hours lease{1};
  static constexpr std::chrono::hours window{24};

  // A payment through the acquirer: PENDING, then AUTHORIZED or DECLINED with an event, or UNKNOWN without one.
  struct Payment {
    explicit Payment(ExternalCallConformance& of) : test{of} {}

    [[nodiscard]] Downstream downstream() const { return test.downstream; }
    void prepare(Tx& tx, const CallContext& context);
    CallResult<FakeAcquirer::Answer> call(const CallContext& context);
    Decision finish(Tx& tx, const CallContext& context, const FakeAcquirer::Answer& answer);
    [[nodiscard]] FakeAcquirer::Answer answer_of(const Repair& repair) const;
    Response unknown(Tx& tx, const CallContext& context);

    ExternalCallConformance& test;
  };

  // The same, for several threads at once: counts nothing.
  struct Quiet {
    [[nodiscard]] Downstream downstream() const { return test.downstream; }
    void prepare(Tx&, const CallContext&) {}
    CallResult<FakeAcquirer::Answer> call(const CallContext& context);
    Decision finish(Tx& tx, const CallContext& context, const FakeAcquirer::Answer& answer);
    Response unknown(Tx&, const CallContext&) { return test.not_known; }
    [[nodiscard]] FakeAcquirer::Answer answer_of(const Repair&) const { return {true, "ch_1"}; }

    ExternalCallConformance& test;
  };

  CallOptions options();
  Outcome pay(const Request& of = request()) { return pay(of, options()); }
  Outcome pay(const Request& of, const CallOptions& with);
  State state_of_record() { return find().value().state; }
  // The types of the events in the outbox.
  std::vector<std::string> events();

  static void expect_executed(const Outcome& outcome, State state, const Response& response);
  static void expect_replay(const Outcome& outcome, State state, const Response& response);
  template <class Expected>
  static const Expected& expect(const Outcome& outcome) {
    if (const auto* expected = std::get_if<Expected>(&outcome)) return *expected;
    throw std::runtime_error{"another outcome: " + std::to_string(outcome.index())};
  }
  // The payment is authorised once, everywhere.
  void expect_authorized();

  SweepOptions sweep_options();
  // One pass.
  SweepPass sweep();
  // Charged, and nobody came back for the answer.
  void leave_in_the_gap(const Request& of);

  // What the settlement says of the record of `of`, which is UNKNOWN.
  Repair repair_of(const Request& of, RepairAs as);
  // In a transaction of its own.
  Repaired apply(const Repair& repair);
  // Charged, the answer lost, and never asked for again.
  void leave_unknown(const Request& of);

  const Response approved = text_response(201, "ch_1");
  const Response declined = text_response(402, "ch_1");
  const Response not_known = text_response(202, "not known yet");

  Downstream downstream = deduplicates_for("acquirer", window);
  FakeAcquirer acquirer;
  std::function<void(Tx&)> in_prepare;
  std::function<void(Tx&)> in_finish;
  std::function<void()> before_call;
  std::function<void()> after_call;
  int prepared = 0;
  int finished = 0;
  int told_unknown = 0;
  std::vector<std::string> reasons;
  std::vector<std::string> recovered;
  std::vector<std::string> failed_keys;
  std::string poison;
  bool alone = true;  // no other thread has units of work
};

}  // namespace idem::conformance
