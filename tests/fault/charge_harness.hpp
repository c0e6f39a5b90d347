// A schema, the acquirer and what happens to a payment after its first attempt, until all is settled and
// judged.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "acquirer_client.hpp"
#include "examples/running_company.hpp"
#include "fault/charge.hpp"
#include "fault/sessions.hpp"
#include "fault/settling.hpp"
#include "fault/told.hpp"
#include "postgres/test_database.hpp"

namespace idem::fault_test {

/// How often what happened, so that a test can say that it tried what it means to try.
struct Happened {
  int runs = 0;
  int nothing_left = 0;  ///< Nothing was committed, and nobody retried.
  int taken_over = 0;
  int found_charged = 0;      ///< UNKNOWN, and reconciliation found the charge.
  int found_not_charged = 0;  ///< UNKNOWN, and there was none.
};

class ChargeHarness {
 public:
  explicit ChargeHarness(Acquirer acquirer);

  [[nodiscard]] const postgres_test::TestDatabase& database() const { return database_; }
  [[nodiscard]] const std::string& acquirer_url() const { return process_.url(); }
  [[nodiscard]] Acquirer acquirer() const { return acquirer_; }
  [[nodiscard]] const Happened& happened() const { return happened_; }

  /// The operation, with no points in it.
  [[nodiscard]] Charge charge() const {
    return {database_.backend(), database_.schema(), client_, acquirer_};
  }

  /// Where the payment's lease still runs: moves the time past it.
  void lapse(const std::string& key) const;

  /// Lets the client ask by `ask`, or the sweep, until all is settled; reconciles what is UNKNOWN then; and
  /// lets the client come back for its answer. `told` is what the client was told before, and is continued.
  /// What is wrong after that.
  [[nodiscard]] std::vector<std::string> settle(const std::string& key, Then then,
                                                const std::function<Told()>& ask, std::vector<Told>& told);

 private:
  [[nodiscard]] std::optional<Record> find(const std::string& key);
  void sweep(const std::string& key);
  void reconcile(const std::string& key);

  Acquirer acquirer_;
  postgres_test::TestDatabase database_;
  examples_test::RunningAcquirer process_;
  payments::AcquirerClient client_;
  Sessions sessions_;
  Happened happened_;
};

}  // namespace idem::fault_test
