// The connection to the database lost at every protocol message of a payment, in each direction, before and
// after it arrives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "fault/charge_harness.hpp"
#include "fault/cuts.hpp"
#include "fault/planted_bugs.hpp"
#include "fault/sessions.hpp"

namespace idem::fault_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ChargeCut {
 public:
  explicit ChargeCut(Acquirer acquirer, Flow flow = Flow::right) : harness{acquirer}, flow_{flow} {}

  Cuts at_every_message(Then then) {
    const auto open = [this](const std::string& url, const std::string& key) -> Client {
      return [this, key, sessions = std::make_shared<Sessions>(url)] {
        Charge charge = harness.charge();
        return told(run_flow(flow_, harness.database().backend(), sessions->begin(), charge_request(key),
                             charge, options));
      };
    };
    return cut_at_every_message(harness, open, then);
  }

  ChargeHarness harness;
  CallOptions options = charge_options();

 private:
  Flow flow_;
};

struct Variant {
  Acquirer acquirer;
  int tries;  ///< external_call's own.
  Then then;
};

std::ostream& operator<<(std::ostream& out, const Variant& variant) {
  return out << (variant.acquirer == Acquirer::deduplicates ? "Deduplicates" : "CannotDeduplicate")
             << (variant.tries > 1 ? "ItRetries" : "ItGivesUp")
             << (variant.then == Then::client_retries ? "ClientRetries" : "SweepAlone");
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const Acquirer acquirer : {Acquirer::deduplicates, Acquirer::cannot_deduplicate}) {
    for (const int tries : {RetryOptions{}.max_tries, 1}) {
      for (const Then then : {Then::client_retries, Then::sweep_alone})
        all.push_back({acquirer, tries, then});
    }
  }
  return all;
}

class ChargeIsCutOff : public ::testing::TestWithParam<Variant> {};

TEST_P(ChargeIsCutOff, AtEveryMessageAndItIsChargedOnce) {
  const auto& [acquirer, tries, then] = GetParam();
  ChargeCut cut{acquirer};
  cut.options.retry.max_tries = tries;
  cut.options.settle_tries = tries;
  const Cuts cuts = cut.at_every_message(then);
  const Happened& happened = cut.harness.happened();
  std::cout << "cut off " << cuts.points << " times, " << cuts.to_server << " on the way to the server; "
            << cuts.errors << " clients told nothing, " << happened.taken_over << " taken over, "
            << happened.found_charged << " reconciled as charged, " << happened.found_not_charged
            << " as not charged, nothing left of " << happened.nothing_left << '\n';
  RecordProperty("cuts", cuts.points);
  EXPECT_THAT(cuts.violations, IsEmpty());

  // The start and ten statements, before and after; an answer is at least two messages.
  EXPECT_GE(cuts.to_server, 2 * 11);
  EXPECT_GE(cuts.points - cuts.to_server, 2 * 2 * 11);
  if (tries > 1) {
    EXPECT_EQ(cuts.errors, 0);
    EXPECT_EQ(happened.taken_over + happened.found_charged + happened.found_not_charged, 0)
        << "one lost connection is what it gets over by itself";
  } else {
    EXPECT_GT(cuts.errors, 0);
    EXPECT_GT(happened.taken_over, 0);
    EXPECT_EQ(happened.found_charged > 0, acquirer == Acquirer::cannot_deduplicate);
  }
}

INSTANTIATE_TEST_SUITE_P(Charge, ChargeIsCutOff, ::testing::ValuesIn(variants()),
                         ::testing::PrintToStringParamName());

// A bug is found where it shows at some cuts, and not at all of them: uninterrupted it is right.
class PlantedBugIsCutOff : public ::testing::TestWithParam<Acquirer> {
 protected:
  static void expect_found(Flow flow, const std::string& violation) {
    ChargeCut cut{GetParam(), flow};
    const Cuts cuts = cut.at_every_message(Then::client_retries);
    std::cout << "the planted bug was found by " << cuts.violating << " of " << cuts.points << " cuts, by "
              << cuts.violations.size() << " violations\n";
    RecordProperty("cuts", cuts.points);
    RecordProperty("violations", static_cast<int>(cuts.violations.size()));
    EXPECT_THAT(cuts.violations, ::testing::Contains(HasSubstr(violation)));
    EXPECT_LT(cuts.violating, cuts.points);
  }
};

TEST_P(PlantedBugIsCutOff, ARecordCompletedInASecondTransactionIsFound) {
  expect_found(Flow::second_transaction, ": 2 events");
}

TEST_P(PlantedBugIsCutOff, ABlindRetryIsFound) {
  expect_found(Flow::blind_retry, ": 2 charges");
}

INSTANTIATE_TEST_SUITE_P(Charge, PlantedBugIsCutOff,
                         ::testing::Values(Acquirer::deduplicates, Acquirer::cannot_deduplicate),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace idem::fault_test
