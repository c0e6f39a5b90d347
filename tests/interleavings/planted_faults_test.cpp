// Faults that are here on purpose: an explorer that does not find them proves nothing.
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>

#include "idem/request/fingerprint.hpp"
#include "interleavings/steps.hpp"

namespace idem::interleavings {
namespace {

class PlantedFault : public ::testing::Test {
 protected:
  PlantedFault() { create_business_tables(database); }

  static void expect_found(const Report& report) {
    EXPECT_GT(report.violating, 0U);
    EXPECT_LT(report.violating, report.schedules) << "one after the other it is right";
    std::cout << "interleavings: the planted fault was found in " << report.violating << " of "
              << report.schedules << " schedules; first " << report.first_violation << '\n';
  }

  postgres_test::TestDatabase database;
};

// The answer is looked for, and where it is absent the work is done and the answer stored; no unique key.
std::vector<Step> check_then_insert() {
  const auto look = [](Session& session, Event& event) {
    pqxx::dbtransaction& tx = session.transaction();
    const pqxx::result rows = tx.exec(
        "SELECT session FROM planted_answer WHERE key = " + tx.quote(session.key().value) + " LIMIT 1");
    if (rows.empty()) {
      event.answer = "absent";
      // Any lease: that the session has one says that it goes on.
      session.lease = Lease{session.key(), Fingerprinter{}({.body = "{}"}), {}, 0, {}};
      return;
    }
    Response response = text_response(201, "session " + std::to_string(rows[0][0].as<int>() + 1));
    response.headers.push_back({"generation", "0"});
    event.reservation = Replay{State::completed, response, {}};
    event.answer = "Replay";
  };
  const auto insert = [](Session& session, Event& event) {
    pqxx::dbtransaction& tx = session.transaction();
    tx.exec("INSERT INTO planted_answer VALUES (" + tx.quote(session.key().value) + ", " +
            std::to_string(session.number()) + ")");
    event.settled = {0, State::completed, answer_of(session, 0)};
  };
  return {
      {"look", look, [](const Session&) { return true; }}, pay(), {"insert", insert, pay().when}, commit()};
}

TEST_F(PlantedFault, ACheckThenInsertIsFound) {
  database.execute("CREATE TABLE planted_answer (key text NOT NULL, session int NOT NULL)");
  expect_found(explore(database, {.name = "planted: check, then insert",
                                  .sessions = {check_then_insert(), check_then_insert()},
                                  .has_record = false}));
}

// Settles what is open, whoever holds it.
Step complete_without_the_fence() {
  const auto run = [](Session& session, Event& event) {
    pqxx::dbtransaction& tx = session.transaction();
    const std::int64_t generation = session.lease->generation;
    const Response response = answer_of(session, generation);
    const pqxx::result rows = tx.exec(
        "UPDATE idem_record SET state = 2, response_status = 201, response_headers = "
        "convert_to('generation:" +
        std::to_string(generation) + "\n', 'UTF8'), response_body = convert_to(" +
        tx.quote(std::string{body_text(response)}) +
        ", 'UTF8'), finished_at = clock_timestamp(), expires_at = clock_timestamp() + retention "
        "WHERE idempotency_key = " +
        tx.quote(session.key().value) + " AND state IN (1, 4)");
    if (rows.affected_rows() == 0) {
      session.rollback();
      event.answer = "lost";
    } else {
      event.settled = {generation, State::completed, response};
    }
  };
  return {"complete", run, pay().when};
}

TEST_F(PlantedFault, ASettlementThatDoesNotMatchTheFenceIsFound) {
  const std::vector<Step> slow{
      reserve(), lapse(), mark_unknown(), commit(), pay(), complete_without_the_fence(), commit()};
  const std::vector<Step> operator_then_time{find(), resolve(State::failed), commit(), expire()};
  const std::vector<Step> next{reserve(), commit(), pay(), complete_without_the_fence(), commit()};
  expect_found(explore(database, {.name = "planted: a settlement that does not match the fence",
                                  .sessions = {slow, operator_then_time, next},
                                  .prefix = {0, 0, 0, 0, 1, 1, 1, 1}}));
}

}  // namespace
}  // namespace idem::interleavings
