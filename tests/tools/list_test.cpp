#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "postgres/test_database.hpp"
#include "tools/run_idemctl.hpp"

namespace idem::test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::MatchesRegex;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class IdemctlList : public ::testing::Test {
 protected:
  [[nodiscard]] Ended list(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"list", "--database-url", postgres_test::url_of_server(), "--schema",
                                   database.schema()};
    words.insert(words.end(), more.begin(), more.end());
    return run_idemctl(words);
  }

  // The lines of a run that was done and that said nothing on standard error.
  [[nodiscard]] std::vector<std::string> lines(const std::vector<std::string>& more = {}) const {
    const Ended run = list(more);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(run.error, "");
    return lines_of(run.out);
  }

  [[nodiscard]] std::vector<nlohmann::json> objects(std::vector<std::string> more = {}) const {
    more.emplace_back("--json");
    std::vector<nlohmann::json> parsed;
    for (const std::string& line : lines(more)) parsed.push_back(nlohmann::json::parse(line));
    return parsed;
  }

  // Reserves `key`, calls `then` with the store and the lease, and commits.
  template <class Then>
  Lease reserve(const Key& key, const Then& then, const ReserveOptions& options = {}) {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    auto store = database.backend().store(tx);
    Lease lease = std::get<Acquired>(store->reserve(key, fingerprint, options)).lease;
    then(*store, lease);
    tx.commit();
    return lease;
  }
  Lease reserve(const Key& key, const ReserveOptions& options = {}) {
    return reserve(
        key, [](auto&, const Lease&) {}, options);
  }

  const postgres_test::TestDatabase database{};
  const Fingerprint fingerprint = Fingerprinter{}({.operation = "op", .body = "{}"});
};

TEST_F(IdemctlList, ShowsTheNamesOfTheColumnsWhereThereIsNothing) {
  EXPECT_THAT(lines(), ElementsAre("STATE  AGE  PRINCIPAL  OPERATION  KEY"));
  EXPECT_TRUE(objects().empty());
}

TEST_F(IdemctlList, AlignsTheColumnsAndPutsTheOldestFirst) {
  reserve({"tenant-\xc3\xa9", "POST /payments", "key-1"},
          [](auto& store, const Lease& lease) { store.complete(lease, text_response(201, "secret body")); });
  database.advance(hours{3});
  reserve({"t", "op", "key-2"}, {.lease = minutes{1}});
  database.advance(minutes{5});
  reserve({"t", "op", "key-3"},
          [](auto& store, const Lease& lease) { store.mark_unknown(lease, text_response(202, "")); });
  // So that the seconds, which pass, are not shown.
  database.advance(hours{24} * 2);
  EXPECT_THAT(lines(), ElementsAre("STATE                 AGE    PRINCIPAL  OPERATION       KEY",
                                   "COMPLETED             2d 3h  tenant-\xc3\xa9   POST /payments  key-1",
                                   "IN_PROGRESS (lapsed)  2d 0h  t          op              key-2",
                                   "UNKNOWN               2d 0h  t          op              key-3"));
}

TEST_F(IdemctlList, ShowsAnAgeInItsTwoGreatestUnits) {
  reserve({"p", "op", "k"});
  EXPECT_THAT(lines().at(1), MatchesRegex("IN_PROGRESS  [0-9]+s  .*"));
  database.advance(std::chrono::seconds{7 * 60 + 20});
  EXPECT_THAT(lines().at(1), MatchesRegex("IN_PROGRESS.*  7m [0-9]+s  .*"));
  database.advance(hours{5});
  EXPECT_THAT(lines().at(1), MatchesRegex("IN_PROGRESS.*  5h 7m  .*"));
  database.advance(hours{48});
  EXPECT_THAT(lines().at(1), MatchesRegex("IN_PROGRESS.*  2d 5h  .*"));
}

TEST_F(IdemctlList, WritesEachRecordAsOneJsonObject) {
  ReserveOptions options{.lease = minutes{1}};
  options.resumable = true;
  options.downstream = deduplicates_for("acquirer", hours{24});
  const Key key{"tenant-1", "POST /payments", "key-1"};
  const Lease first = reserve(key, options);
  database.advance(minutes{2});
  const Lease lease = reserve(key, options);
  database.execute(
      "UPDATE idem_record SET created_at = '2024-02-29 23:59:59.000001+00', lease_until = "
      "'2999-01-01 01:00:00+01'");
  const auto listed = objects();
  ASSERT_EQ(listed.size(), 1U);
  const auto age = listed[0].at("age_seconds");
  EXPECT_TRUE(age.is_number_integer());
  EXPECT_GT(age, 0);
  EXPECT_EQ(listed[0], (nlohmann::json{{"state", "IN_PROGRESS"},
                                       {"lapsed", false},
                                       {"age_seconds", age},
                                       {"principal", "tenant-1"},
                                       {"operation", "POST /payments"},
                                       {"key", "key-1"},
                                       {"created_at", "2024-02-29T23:59:59.000001Z"},
                                       {"lease_until", "2999-01-01T00:00:00.000000Z"},
                                       {"expires_at", nullptr},
                                       {"fence", lease.holder.fence},
                                       {"attempt", lease.holder.attempt.to_string()},
                                       {"generation", first.holder.fence},
                                       {"downstream", "acquirer"},
                                       {"taken_over", true}}));
}

TEST_F(IdemctlList, TellsInJsonWhenASettledRecordExpiresAndWhichReservationHasLapsed) {
  reserve({"p", "op", "settled"},
          [](auto& store, const Lease& lease) { store.fail(lease, text_response(402, "")); });
  database.execute("UPDATE idem_record SET expires_at = '2999-01-01 00:00:00+00'");
  database.advance(hours{1});
  reserve({"p", "op", "lapsed"}, {.lease = minutes{1}});
  database.advance(minutes{2});
  database.execute("UPDATE idem_record SET expires_at = '2999-01-01 00:00:00+00' WHERE state = 3");
  const auto listed = objects();
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].at("state"), "FAILED");
  EXPECT_EQ(listed[0].at("expires_at"), "2999-01-01T00:00:00.000000Z");
  EXPECT_EQ(listed[0].at("downstream"), nullptr);
  EXPECT_EQ(listed[0].at("lapsed"), false);
  EXPECT_EQ(listed[1].at("state"), "IN_PROGRESS");
  EXPECT_EQ(listed[1].at("lapsed"), true);
}

TEST_F(IdemctlList, LetsNothingDriveTheTerminal) {
  const Key key{"a\n\x1b[2J\\", "\xc2\x9b\x7f", "\"quoted\" \xe2\x82\xac"};
  reserve(key);
  const auto table = lines();
  ASSERT_EQ(table.size(), 2U);
  EXPECT_THAT(table[1], testing::EndsWith("  a\\x0a\\x1b[2J\\\\  \\xc2\\x9b\\x7f  \"quoted\" \xe2\x82\xac"));

  const Ended run = list({"--json"});
  for (const char c : run.out) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7f)) << static_cast<int>(c);
  const auto listed = objects();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].at("principal"), key.principal);
  EXPECT_EQ(listed[0].at("operation"), key.operation);
  EXPECT_EQ(listed[0].at("key"), key.value);
}

TEST_F(IdemctlList, ShowsWhatMeetsEveryCondition) {
  const auto unknown = [](auto& store, const Lease& lease) {
    store.mark_unknown(lease, text_response(202, ""));
  };
  reserve({"p", "op", "1"}, unknown);
  reserve({"p", "op", "completed"},
          [](auto& store, const Lease& lease) { store.complete(lease, text_response(200, "")); });
  reserve({"p", "op-2", "other operation"}, unknown);
  reserve({"p-2", "op", "other principal"}, unknown);
  database.advance(hours{2});
  reserve({"p", "op", "young"}, unknown);
  const auto listed =
      objects({"--state", "unknown", "--principal", "p", "--operation", "op", "--older-than", "2h"});
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].at("key"), "1");
  EXPECT_EQ(objects({"--state", "unknown", "--state", "COMPLETED"}).size(), 5U);
}

TEST_F(IdemctlList, LeavesOutWhatHasExpired) {
  reserve({"p", "op", "k"},
          [](auto& store, const Lease& lease) { store.complete(lease, text_response(200, "")); });
  EXPECT_EQ(objects().size(), 1U);
  database.advance(hours{73});
  EXPECT_TRUE(objects().empty());
}

TEST_F(IdemctlList, SaysWhereThereAreMore) {
  for (const std::string key : {"1", "2", "3"}) {
    reserve({"p", "op", key});
    database.advance(minutes{1});
  }
  const std::string more = "there are more; shown are the oldest 2: narrow the list, or raise --limit";
  const auto table = lines({"--limit", "2"});
  ASSERT_EQ(table.size(), 4U);
  EXPECT_THAT(table[2], testing::EndsWith("  2"));
  EXPECT_EQ(table[3], more);

  const Ended json = list({"--limit", "2", "--json"});
  EXPECT_EQ(json.exit_code, 0);
  EXPECT_EQ(json.error, "idemctl: " + more + "\n");
  EXPECT_EQ(lines_of(json.out).size(), 2U);

  EXPECT_EQ(lines({"--limit", "3"}).size(), 4U);
  EXPECT_EQ(objects({"--limit", "3"}).size(), 3U);
}

TEST_F(IdemctlList, ShowsAThousandWhereNoLimitIsGiven) {
  reserve({"p", "op", "k"});
  database.execute(R"(
    INSERT INTO idem_record (key_hash, principal, operation, idempotency_key, fingerprint, state, fence, attempt,
                             generation, reserved_xact, resumable, call_deadline, lease_until, retention, created_at)
    SELECT gen_random_uuid(), principal, operation, 'k' || n, fingerprint, state, fence, attempt, generation,
           reserved_xact, resumable, call_deadline, lease_until, retention, created_at
      FROM idem_record, generate_series(1, 1000) AS n)");
  const auto table = lines();
  ASSERT_EQ(table.size(), 1002U);
  EXPECT_EQ(table.back(), "there are more; shown are the oldest 1000: narrow the list, or raise --limit");
}

TEST_F(IdemctlList, ChangesNothing) {
  reserve({"p", "op", "k"}, {.lease = std::chrono::milliseconds{1}});
  database.advance(hours{1});
  EXPECT_EQ(objects().at(0).at("lapsed"), true);
  EXPECT_EQ(database.number("SELECT state FROM idem_record"), 1);
}

TEST_F(IdemctlList, RefusesAPrincipalThatCannotBeOne) {
  expect_refused(list({"--principal", ""}), "the principal must be 1 to 255 bytes long");
  expect_refused(list({"--operation", "\xff"}), "the operation must be UTF-8 without NUL");
}

}  // namespace
}  // namespace idem::test
