// The connection to the database lost at every protocol message of a payment, in each direction, before and
// after it arrives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fault/charge_harness.hpp"
#include "fault/planted_bugs.hpp"
#include "fault/postgres_proxy.hpp"
#include "fault/sessions.hpp"

namespace idem::fault_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Cuts {
  int cuts = 0;
  int to_server = 0;  ///< Of them.
  int violating = 0;
  int errors = 0;  ///< Clients that were told nothing.
  std::vector<std::string> violations{};
};

class ChargeCut {
 public:
  explicit ChargeCut(Acquirer acquirer, Flow flow = Flow::right) : harness{acquirer}, flow_{flow} {
    const auto connection = harness.database().connect();
    host_ = text(connection->hostname());
    server_port_ = text(connection->port());
    rest_ = " dbname='" + text(connection->dbname()) + "' user='" + text(connection->username()) +
            "' application_name='" + harness.database().schema() + "' sslmode=disable gssencmode=disable";
  }

  Cuts at_every_message(Then then) {
    PostgresProxy proxy{host_, server_port_};
    const std::string url = "host=127.0.0.1 port=" + std::to_string(proxy.port()) + rest_;
    Cuts cuts;
    for (const Direction direction : {Direction::to_server, Direction::to_client}) {
      for (const Moment moment : {Moment::before, Moment::after}) {
        for (int message = 1; one(proxy, url, {message, direction, moment}, then, cuts); ++message) {
          ++cuts.cuts;
          if (direction == Direction::to_server) ++cuts.to_server;
        }
      }
    }
    return cuts;
  }

  ChargeHarness harness;
  CallOptions options = charge_options();

 private:
  // As libpqxx has it, by version.
  static std::string text(const char* given) { return given == nullptr ? "" : given; }
  static std::string text(std::string_view given) { return std::string{given}; }

  // False where the cut did not come.
  bool one(PostgresProxy& proxy, const std::string& url, const Cut& cut, Then then, Cuts& cuts) {
    const std::string key = std::string{cut.moment == Moment::before ? "before" : "after"} + " message " +
                            std::to_string(cut.message) +
                            (cut.direction == Direction::to_server ? " to the server" : " to the client");
    proxy.plan(cut);
    auto sessions = std::make_unique<Sessions>(url);
    const auto ask = [&]() -> Told {
      Charge charge = harness.charge();
      try {
        return told(run_flow(flow_, harness.database().backend(), sessions->begin(), charge_request(key),
                             charge, options));
      } catch (const std::exception& failure) {
        return {"error", failure.what()};
      }
    };
    std::vector<Told> told{ask()};
    const bool has_cut = proxy.has_cut();
    if (told.back().kind == "error") ++cuts.errors;
    if (then == Then::sweep_alone) {
      // The server may still be carrying out what arrived; a sweep comes later than that.
      sessions.reset();
      postgres_test::wait_until(harness.database(),
                                "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = '" +
                                    harness.database().schema() + "'");
    }
    const auto wrong = harness.settle(key, then, ask, told);
    if (!wrong.empty()) ++cuts.violating;
    cuts.violations.insert(cuts.violations.end(), wrong.begin(), wrong.end());
    return has_cut;
  }

  Flow flow_;
  std::string host_;
  std::string server_port_;
  std::string rest_;
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
  std::cout << "cut off " << cuts.cuts << " times, " << cuts.to_server << " on the way to the server; "
            << cuts.errors << " clients told nothing, " << happened.taken_over << " taken over, "
            << happened.found_charged << " reconciled as charged, " << happened.found_not_charged
            << " as not charged, nothing left of " << happened.nothing_left << '\n';
  RecordProperty("cuts", cuts.cuts);
  EXPECT_THAT(cuts.violations, IsEmpty());

  // The start and ten statements, before and after; an answer is at least two messages.
  EXPECT_GE(cuts.to_server, 2 * 11);
  EXPECT_GE(cuts.cuts - cuts.to_server, 2 * 2 * 11);
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
    std::cout << "the planted bug was found by " << cuts.violating << " of " << cuts.cuts << " cuts, by "
              << cuts.violations.size() << " violations\n";
    RecordProperty("cuts", cuts.cuts);
    RecordProperty("violations", static_cast<int>(cuts.violations.size()));
    EXPECT_THAT(cuts.violations, ::testing::Contains(HasSubstr(violation)));
    EXPECT_LT(cuts.violating, cuts.cuts);
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
