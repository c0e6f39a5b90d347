// What docs/postgres.md says that a service's role needs is enough.
#include <gtest/gtest.h>

#include <pqxx/pqxx>
#include <string>

#include "idem/base/error.hpp"
#include "idem/command/execute.hpp"
#include "idem/postgres/reconcile.hpp"
#include "idem/postgres/repair.hpp"
#include "idem/request/fingerprint.hpp"
#include "postgres/test_database.hpp"

namespace idem::postgres_test {
namespace {

class Privileges : public ::testing::Test {
 protected:
  // A role's name belongs to the whole server, so it is made in a transaction that is never committed.
  void become(pqxx::work& tx, const std::string& granted) const {
    const std::string role = tx.quote_name(database.schema() + "_role");
    tx.exec("CREATE ROLE " + role);
    tx.exec("GRANT USAGE ON SCHEMA " + tx.quote_name(database.schema()) + " TO " + role);
    tx.exec("GRANT " + granted + " ON idem_record TO " + role);
    tx.exec("SET LOCAL ROLE " + role);
  }

  const TestDatabase database{};
  const Request request{{"p", "op", "k"}, Fingerprinter{}({.operation = "op", .body = "{}"})};
};

TEST_F(Privileges, SelectInsertUpdateAreEnoughForACommand) {
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  become(tx, "SELECT, INSERT, UPDATE");
  const auto run = [&] {
    return execute(database.backend(), tx, request,
                   [](pqxx::work&, const Lease&) { return completed(text_response(201, "made")); });
  };
  EXPECT_TRUE(std::holds_alternative<Executed>(run()));
  EXPECT_TRUE(std::holds_alternative<Replay>(run()));
}

TEST_F(Privileges, DeleteIsNeededToRelease) {
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  become(tx, "SELECT, INSERT, UPDATE, DELETE");
  auto store = database.backend().store(tx);
  const Lease lease = std::get<Acquired>(store->reserve(request.key, request.fingerprint)).lease;
  store->release(lease);
  EXPECT_FALSE(store->find(request.key).has_value());
}

TEST_F(Privileges, SelectIsEnoughToReconcileAndInsertToQueue) {
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  become(tx, "SELECT");
  const auto reconcile = [&] {
    return postgres::reconcile(
        tx, {}, {.downstream = "acquirer"}, [] { return std::optional<SettlementEntry>{}; },
        [](const Finding&) {});
  };
  EXPECT_EQ(reconcile(), ReconcileSummary{});
  tx.exec("RESET ROLE; GRANT SELECT, INSERT ON idem_repair TO " + tx.quote_name(database.schema() + "_role") +
          "; SET LOCAL ROLE " + tx.quote_name(database.schema() + "_role"));
  const Finding finding{.kind = FindingKind::ours_only,
                        .ours = OurSide{.key = request.key,
                                        .state = State::unknown,
                                        .holder = {1, random_uuid_v4()},
                                        .generation = 1,
                                        .downstream_key = random_uuid_v4().to_string()}};
  EXPECT_TRUE(postgres::queue_repair(tx, {}, finding, "ann", Settlement::closed));
  EXPECT_FALSE(postgres::queue_repair(tx, {}, finding, "ann", Settlement::closed));
}

TEST_F(Privileges, SelectIsEnoughToFind) {
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  become(tx, "SELECT");
  EXPECT_FALSE(database.backend().store(tx)->find(request.key).has_value());
  EXPECT_ANY_THROW(
      static_cast<void>(database.backend().store(tx)->reserve(request.key, request.fingerprint)));
}

}  // namespace
}  // namespace idem::postgres_test
