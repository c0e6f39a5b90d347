// A schema, the three services and what happens to a refund after its first attempt, until all is settled
// and judged.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "examples/running_company.hpp"
#include "fault/saga_invariants.hpp"
#include "fault/saga_run.hpp"
#include "fault/settling.hpp"
#include "fault/told.hpp"
#include "http_services.hpp"
#include "postgres/test_database.hpp"
#include "session.hpp"

namespace idem::fault_test {

/// How often what happened, so that a test can say that it tried what it means to try.
struct SagaHappened {
  int nothing_left = 0;  ///< Refunds of which nothing was committed, and nobody retried.
  int taken_over = 0;    ///< Calls that a later attempt took over.
};

class SagaHarness {
 public:
  explicit SagaHarness(Story story);

  [[nodiscard]] const postgres_test::TestDatabase& database() const { return database_; }
  /// With the schema as its search path.
  [[nodiscard]] const std::string& database_url() const { return database_url_; }
  [[nodiscard]] const std::string& services_url() const { return process_.url(); }
  /// With no points in them.
  [[nodiscard]] const refund_saga::Services& services() const { return services_; }
  [[nodiscard]] const SagaHappened& happened() const { return happened_; }

  /// The client runs the refund, with nobody to kill it or cut it off.
  [[nodiscard]] Told ask(Flow flow, const std::string& id);

  /// Where the lease of one of the refund's calls still runs: moves the time past it.
  void lapse(const std::string& id) const;

  /// Lets the client run the refund by `ask`, or the saga's sweep, until it is over; and then once more,
  /// which must call no service. `told` is what the client was told before, and is continued. What is wrong
  /// after that.
  [[nodiscard]] std::vector<std::string> settle(const std::string& id, Then then,
                                                const std::function<Told()>& ask, std::vector<Told>& told);

 private:
  // Of the ledger, the refund's part.
  [[nodiscard]] const std::vector<nlohmann::json>& ledger_of(const std::string& id);
  // True where the refund is not in progress, or was never begun.
  [[nodiscard]] bool sweep(const std::string& id);

  Story story_;
  postgres_test::TestDatabase database_;
  std::string database_url_;
  examples_test::RunningCompany process_;
  refund_saga::HttpServices services_;
  examples::Session session_;
  std::size_t ledger_read_ = 0;  // Bytes of its file.
  std::map<std::string, std::vector<nlohmann::json>> ledger_;
  SagaHappened happened_;
};

}  // namespace idem::fault_test
