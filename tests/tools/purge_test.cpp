#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "idem/request/fingerprint.hpp"
#include "postgres/test_database.hpp"
#include "tools/run_idemctl.hpp"

namespace idem::test {
namespace {

using std::chrono::hours;

class IdemctlPurge : public ::testing::Test {
 protected:
  [[nodiscard]] Ended purge(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"purge", "--database-url", postgres_test::url_of_server(), "--schema",
                                   database.schema()};
    words.insert(words.end(), more.begin(), more.end());
    return run_idemctl(words);
  }

  // Expects that run to have ended so, without a word on standard error.
  static void expect_told(const Ended& run, int exit_code, const std::string& out) {
    EXPECT_EQ(run.exit_code, exit_code);
    EXPECT_EQ(run.out, out);
    EXPECT_EQ(run.error, "");
  }

  // One record in each state, and one event.
  void add(const std::string& name) const {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    auto store = database.backend().store(tx);
    const auto reserve = [&](const std::string& state) {
      return std::get<Acquired>(store->reserve({"p", state, name}, fingerprint)).lease;
    };
    (void)reserve("in progress");
    store->mark_unknown(reserve("unknown"), text_response(202, ""));
    store->complete(reserve("completed"), text_response(200, ""));
    store->fail(reserve("failed"), text_response(402, ""));
    const EventIdentity event{"payments", name};
    (void)database.backend().inbox_store(tx)->receive("enrolment", {&event, 1},
                                                      {.unknown_age = UnknownAge::apply});
    tx.commit();
  }

  [[nodiscard]] std::pair<long long, long long> rows() const {
    return {database.number("SELECT count(*) FROM idem_record"),
            database.number("SELECT count(*) FROM idem_inbox")};
  }

  const postgres_test::TestDatabase database{};
  const Fingerprint fingerprint = Fingerprinter{}({.operation = "op", .body = "{}"});
};

TEST_F(IdemctlPurge, SaysWhatItWouldDeleteAndChangesNothing) {
  add("old");
  database.advance(hours{24} * 10);
  add("new");
  expect_told(purge({"--older-than", "1d"}), 3,
              "would delete 2 expired records and 1 inbox row, as they are at this moment\n"
              "nothing was changed. With --yes it is done; unsettled records stay as they are.\n");
  EXPECT_EQ(rows(), std::pair(8LL, 2LL));
}

TEST_F(IdemctlPurge, DeletesWhatHasExpiredAndNeverAnUnsettledRecord) {
  add("old");
  database.advance(hours{24} * 3000);
  add("new");
  const Ended first = purge({"--older-than", "1d", "--yes"});
  expect_told(first, 0, "deleted 2 expired records in 1 transaction, and 1 inbox row in 1 transaction\n");
  EXPECT_EQ(rows(), std::pair(6LL, 1LL));
  EXPECT_EQ(
      database.number("SELECT count(*) FROM idem_record WHERE idempotency_key = 'old' AND state IN (1, 4)"),
      2);
  const Ended again = purge({"--older-than", "1d", "--yes"});
  expect_told(again, 0, "deleted 0 expired records in 1 transaction, and 0 inbox rows in 1 transaction\n");
  EXPECT_EQ(rows(), std::pair(6LL, 1LL));
}

TEST_F(IdemctlPurge, LeavesWhatIsYoungerThanAsked) {
  add("k");
  database.advance(hours{24} * 10);
  expect_told(purge({"--older-than", "11d", "--yes"}), 0,
              "deleted 0 expired records in 1 transaction, and 0 inbox rows in 1 transaction\n");
  EXPECT_EQ(rows(), std::pair(4LL, 1LL));
}

TEST_F(IdemctlPurge, LeavesWhatIsStillNeededHoweverOld) {
  add("k");
  database.advance(hours{24} * 2);
  expect_told(purge({"--older-than", "1s"}), 3,
              "would delete 0 expired records and 0 inbox rows, as they are at this moment\n"
              "nothing was changed. With --yes it is done; unsettled records stay as they are.\n");
  EXPECT_EQ(purge({"--older-than", "1s", "--yes"}).exit_code, 0);
  EXPECT_EQ(rows(), std::pair(4LL, 1LL));
}

TEST_F(IdemctlPurge, DeletesAtMostABatchInEachTransaction) {
  for (const char* name : {"1", "2", "3", "4"}) add(name);
  database.advance(hours{24} * 10);
  const Ended run = purge({"--older-than", "1d", "--batch", "1", "--yes"});
  EXPECT_EQ(run.exit_code, 0);
  // How many it takes depends on where the rows are; never less than one for each.
  std::smatch transactions;
  ASSERT_TRUE(std::regex_match(
      run.out, transactions,
      std::regex{
          "deleted 8 expired records in (\\d+) transactions, and 4 inbox rows in (\\d+) transactions\n"}))
      << run.out;
  EXPECT_GE(std::stoi(transactions[1]), 8);
  EXPECT_GE(std::stoi(transactions[2]), 4);
  EXPECT_EQ(rows(), std::pair(8LL, 0LL));
}

TEST_F(IdemctlPurge, TakesTheTablesNames) {
  add("k");
  database.advance(hours{24} * 10);
  database.execute("ALTER TABLE idem_record RENAME TO r; ALTER TABLE idem_inbox RENAME TO i");
  const std::vector<std::string> named{"--older-than", "1d", "--record-table", "r", "--inbox-table", "i"};
  EXPECT_EQ(purge(named).exit_code, 3);
  auto done = named;
  done.emplace_back("--yes");
  EXPECT_EQ(purge(done).out,
            "deleted 2 expired records in 1 transaction, and 1 inbox row in 1 transaction\n");
  EXPECT_EQ(purge({"--older-than", "1d"}).exit_code, 2);
}

TEST_F(IdemctlPurge, RefusesToGuess) {
  expect_refused(purge({"--yes"}), "--older-than is needed, and must not be empty");
  expect_refused(purge({"--older-than", "1w"}),
                 "--older-than must be a positive whole number and s, m, h or d: 90s, 15m, 36h, 7d");
  expect_refused(purge({"--older-than", "1d", "--batch", "0"}),
                 "--batch must be a whole number from 1 to 100000");
  expect_refused(run_idemctl({"purge", "--older-than", "1d"}),
                 "--database-url is needed, and must not be empty");
}

}  // namespace
}  // namespace idem::test
