// idemctl reconcile over a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "idem/call/downstream_key.hpp"
#include "idem/request/fingerprint.hpp"
#include "postgres/test_database.hpp"
#include "tools/run_idemctl.hpp"
#include "tools/temporary_file.hpp"

namespace idem::test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

const std::string header = "downstream_key,outcome,amount,reference\n";

class IdemctlReconcile : public ::testing::Test {
 protected:
  [[nodiscard]] Ended reconcile(const std::string& lines, const Words& more = {}) const {
    const TemporaryFile file{lines};
    Words words{"reconcile", "--database-url",  postgres_test::url_of_server(),
                "--schema",  database.schema(), "--settlement",
                file.path(), "--downstream",    "acquirer"};
    words.insert(words.end(), more.begin(), more.end());
    return run_idemctl(words);
  }

  [[nodiscard]] std::string key_of(const std::string& value) const {
    return downstream_key({"p", "op", value}, fingerprint);
  }

  void add(const std::string& value, State state) const {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    auto store = database.backend().store(tx);
    ReserveOptions options;
    options.downstream = cannot_deduplicate("acquirer");
    const Lease lease = std::get<Acquired>(store->reserve({"p", "op", value}, fingerprint, options)).lease;
    if (state == State::completed) store->complete(lease, text_response(201, ""));
    if (state == State::failed) store->fail(lease, text_response(402, ""));
    if (state == State::unknown) store->mark_unknown(lease, text_response(202, ""));
    tx.commit();
  }

  // Two that match, one each of the other kinds, and one charged twice.
  [[nodiscard]] std::string settlement() const {
    add("done", State::completed);
    add("refused", State::failed);
    add("open", State::unknown);
    add("missing", State::unknown);
    return "at," + header + "," + key_of("done") + ",charged,1290,c-1\n," + key_of("refused") +
           ",declined,1290,\n2100-01-01T00:00:00Z," + key_of("open") + ",charged,500,c-2\n," +
           key_of("done") + ",charged,1290,c-3\n";
  }

  static std::vector<json> json_of(const Ended& run) {
    std::vector<json> lines;
    std::istringstream text{run.out};
    for (std::string line; std::getline(text, line);) lines.push_back(json::parse(line));
    return lines;
  }

  [[nodiscard]] long long queued() const { return database.number("SELECT count(*) FROM idem_repair"); }

  const Words closed{"--from", "2000-01-01T00:00:00Z", "--until", "2100-01-01T00:00:00Z", "--closed"};
  static Words with(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  const postgres_test::TestDatabase database{};
  const Fingerprint fingerprint = Fingerprinter{}({.operation = "op", .body = "{}"});
};

TEST_F(IdemctlReconcile, TellsWhatIsNotMatchedAndTheCounts) {
  const Ended run = reconcile(settlement());
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(run.out,
            "KIND         DIFFERS        STATE      OUTCOME  AMOUNT  REFERENCE  DOWNSTREAM KEY"
            "                        PRINCIPAL  OPERATION  KEY\n"
            "theirs_only  -              UNKNOWN    charged  500     c-2        " +
                key_of("open") +
                "  p          op         open\n"
                "differing    charged_twice  COMPLETED  charged  1290    c-3        " +
                key_of("done") +
                "  p          op         done\n"
                "ours_only    -              UNKNOWN    -        -       -          " +
                key_of("missing") +
                "  p          op         missing\n"
                "4 entries: 2 matched, 1 theirs only, 1 differing (1 charged twice); 1 record ours only\n");
  EXPECT_EQ(queued(), 0);
}

TEST_F(IdemctlReconcile, WhereAllIsMatchedThereAreOnlyTheCounts) {
  add("done", State::completed);
  EXPECT_EQ(reconcile(header + key_of("done") + ",charged,1290,c-1\n").out,
            "1 entry: 1 matched, 0 theirs only, 0 differing (0 charged twice); 0 records ours only\n");
  EXPECT_EQ(reconcile(header, {"--until", "2000-01-01T00:00:00Z"}).out,
            "0 entries: 0 matched, 0 theirs only, 0 differing (0 charged twice); 0 records ours only\n");
}

TEST_F(IdemctlReconcile, TellsTheSameAsJson) {
  const Ended run = reconcile(settlement(), {"--json"});
  EXPECT_EQ(run.exit_code, 0);
  const std::vector<json> lines = json_of(run);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].at("kind"), "theirs_only");
  EXPECT_EQ(lines[0].at("differs"), json::array());
  EXPECT_EQ(lines[0].at("entry"), (json{{"downstream_key", key_of("open")},
                                        {"outcome", "charged"},
                                        {"amount", 500},
                                        {"reference", "c-2"},
                                        {"at", "2100-01-01T00:00:00.000000Z"}}));
  const json& ours = lines[0].at("ours");
  EXPECT_EQ(ours.at("state"), "UNKNOWN");
  EXPECT_EQ(ours.at("key"), "open");
  EXPECT_EQ(ours.at("generation"),
            database.number("SELECT generation FROM idem_record WHERE idempotency_key = "
                            "'open'"));
  EXPECT_EQ(lines[1].at("differs"), json::array({"charged_twice"}));
  EXPECT_EQ(lines[2].at("kind"), "ours_only");
  EXPECT_EQ(lines[2].at("entry"), nullptr);
  EXPECT_EQ(lines[2].at("ours").at("downstream_key"), key_of("missing"));
  EXPECT_EQ(lines[3], (json{{"kind", "summary"},
                            {"entries", 4},
                            {"matched", 2},
                            {"ours_only", 1},
                            {"theirs_only", 1},
                            {"differing", 1},
                            {"charged_twice", 1}}));
}

TEST_F(IdemctlReconcile, SaysWhatItWouldQueueAndChangesNothing) {
  const Ended run = reconcile(settlement(), {"--queue"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(run.error, "");
  EXPECT_THAT(run.out,
              ::testing::EndsWith(
                  "ours only\nwould queue 1 repair; 0 are queued already\n"
                  "nothing was changed. With --yes it is done; records and business rows stay as they "
                  "are.\n"));
  EXPECT_EQ(queued(), 0);
}

TEST_F(IdemctlReconcile, QueuesOnceAndIsSafeToRepeat) {
  const std::string lines = settlement();
  const Ended first = reconcile(lines, {"--queue", "--yes", "--who", "ann"});
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_THAT(first.out, ::testing::EndsWith("\nqueued 1 repair; 0 were queued before\n"));
  EXPECT_EQ(queued(), 1);
  EXPECT_EQ(
      database.number("SELECT count(*) FROM idem_repair WHERE idempotency_key = 'open' AND repair_as = 1 AND "
                      "amount = 500 AND reference = 'c-2' AND queued_by = 'ann' AND done_at IS NULL"),
      1);
  // The record itself is as it was.
  EXPECT_EQ(database.number("SELECT count(*) FROM idem_record WHERE state = 4"), 2);

  const Ended again = reconcile(lines, {"--queue", "--yes", "--json"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(json_of(again).back().at("queued"), 0);
  EXPECT_EQ(json_of(again).back().at("queued_before"), 1);
  EXPECT_EQ(queued(), 1);
}

TEST_F(IdemctlReconcile, WhereNothingWouldBeQueuedThereIsNothingToConfirm) {
  add("done", State::completed);
  const Ended run = reconcile(header + key_of("done") + ",charged,1290,c-1\n", {"--queue"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, ::testing::HasSubstr("would queue 0 repairs"));
}

TEST_F(IdemctlReconcile, TheCallersKeysMayBeInCapitals) {
  add("done", State::completed);
  database.execute("CREATE TABLE effect AS SELECT upper('" + key_of("done") +
                   "') AS downstream_key, 1290::bigint AS amount, 'c-1' AS reference");
  EXPECT_EQ(reconcile(header + key_of("done") + ",charged,1290,c-1\n",
                      {"--effects", "effect", "--effects-schema", database.schema()})
                .out,
            "1 entry: 1 matched, 0 theirs only, 0 differing (0 charged twice); 0 records ours only\n");
}

TEST_F(IdemctlReconcile, TheQueueIsListedAndARepairCancelledOnce) {
  const auto repairs = [&](const Words& more) {
    return run_idemctl(with({"repairs"}, with(more, {"--database-url", postgres_test::url_of_server(),
                                                     "--schema", database.schema()})));
  };
  EXPECT_EQ(repairs({}).out, "");
  const std::string lines = settlement();
  ASSERT_EQ(reconcile(lines, {"--queue", "--yes", "--who", "ann"}).exit_code, 0);
  json listed = json_of(repairs({})).at(0);
  EXPECT_EQ(listed.at("as"), "charged");
  EXPECT_EQ(listed.at("key"), "open");
  EXPECT_EQ(listed.at("downstream_key"), key_of("open"));
  EXPECT_EQ(listed.at("amount"), 500);
  EXPECT_EQ(listed.at("queued_by"), "ann");
  EXPECT_EQ(listed.at("done_at"), nullptr);
  EXPECT_EQ(repairs({"--operation", "another"}).out, "");

  const Words cancel{"cancel", "--repair-key", listed.at("repair_key"), "--who", "bob",
                     "--why",  "wrong file"};
  EXPECT_EQ(repairs(cancel).exit_code, 3);
  EXPECT_EQ(json_of(repairs({})).size(), 1U);
  EXPECT_EQ(repairs(with(cancel, {"--yes"})).exit_code, 0);
  EXPECT_EQ(repairs({}).out, "");
  EXPECT_EQ(json_of(repairs({"--done"})).at(0).at("note"), "cancelled by bob: wrong file");
  const Ended again = repairs(with(cancel, {"--yes"}));
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_EQ(again.out, "");
  EXPECT_EQ(database.number("SELECT count(*) FROM idem_record WHERE state = 4"), 2);
  EXPECT_EQ(json_of(reconcile(lines, {"--queue", "--yes", "--json"})).back().at("queued"), 0);
}

TEST_F(IdemctlReconcile, AClosedSettlementSaysThatAMissingOneWasNotCharged) {
  const std::string lines = settlement();
  EXPECT_THAT(reconcile(lines, with(closed, {"--queue", "--yes"})).out,
              ::testing::EndsWith("\nqueued 2 repairs; 0 were queued before\n"));
  EXPECT_EQ(
      database.number("SELECT count(*) FROM idem_repair WHERE idempotency_key = 'missing' AND repair_as = 3 "
                      "AND amount IS NULL AND queued_by = 'idemctl reconcile'"),
      1);
}

TEST_F(IdemctlReconcile, ASettlementWithoutEntriesIsNotBelievedToBeClosed) {
  add("missing", State::unknown);
  expect_refused(reconcile(header, with(closed, {"--queue", "--yes"})),
                 "the settlement has no entries at all, so --closed is not believed; nothing was changed");
  EXPECT_EQ(queued(), 0);
}

TEST_F(IdemctlReconcile, ThePeriodIsTaken) {
  add("missing", State::unknown);
  const Words past{"--from", "2000-01-01T00:00:00Z", "--until", "2000-01-02T00:00:00Z", "--json"};
  EXPECT_EQ(json_of(reconcile(header, past)).back().at("ours_only"), 0);
  EXPECT_EQ(json_of(reconcile(header, {"--from", "2000-01-02T00:00:00Z", "--json"})).back().at("ours_only"),
            1);
}

TEST_F(IdemctlReconcile, ComparesWithTheEffects) {
  add("done", State::completed);
  database.execute("CREATE TABLE charge (downstream_key text, amount bigint, reference text)");
  database.execute("INSERT INTO charge VALUES ('" + key_of("done") + "', 1291, 'c-1')");
  const std::string lines = header + key_of("done") + ",charged,1290,c-1\n";
  const std::vector<json> told =
      json_of(reconcile(lines, {"--json", "--effects", "charge", "--effects-schema", database.schema()}));
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].at("differs"), json::array({"amount"}));
  EXPECT_EQ(told[0].at("ours").at("amount"), 1291);
  EXPECT_EQ(told[0].at("ours").at("reference"), "c-1");
  expect_refused(reconcile(lines, {"--effects", "not_there"}), "the relation of effects is not there");
}

TEST_F(IdemctlReconcile, ABadLineQueuesNothing) {
  const std::string lines = settlement();
  expect_refused(reconcile(lines + ",k,charged,secret,r\n", {"--queue", "--yes"}),
                 "line 6, column amount, of the settlement file: must be a whole number from 0 to "
                 "9223372036854775807");
  expect_refused(reconcile("downstream_key,outcome,amount\n", {"--queue", "--yes"}),
                 "line 1, column reference, of the settlement file: is missing");
  EXPECT_EQ(queued(), 0);
}

TEST_F(IdemctlReconcile, NothingDrivesTheTerminal) {
  const std::string hostile = "\x1b[2J\tx";
  const Ended table = reconcile(header + "\"" + hostile + "\",charged,1,\"" + hostile + "\n\"\n");
  EXPECT_THAT(table.out, ::testing::HasSubstr("\\x1b[2J\\x09x\\x0a  \\x1b[2J\\x09x    -"));
  const Ended lines = reconcile(header + hostile + ",charged,1,r\xc2\x9b\n", {"--json"});
  EXPECT_EQ(lines.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(lines.out.find('\xc2'), std::string::npos);
  EXPECT_EQ(json_of(lines)[0].at("entry").at("downstream_key"), hostile);
}

TEST_F(IdemctlReconcile, TakesTheTablesNames) {
  const std::string lines = settlement();
  database.execute(
      "ALTER TABLE idem_record RENAME TO r; ALTER TABLE idem_repair RENAME TO q; ALTER FUNCTION "
      "idem_downstream_key(text, text, text, bytea) RENAME TO f; ALTER FUNCTION "
      "idem_downstream_key(text, text, text, bytea, bigint) RENAME TO f");
  EXPECT_EQ(reconcile(lines).exit_code, 2);
  const Words named{"--record-table", "r",    "--repair-table", "q", "--downstream-key-function", "f",
                    "--queue",        "--yes"};
  EXPECT_EQ(reconcile(lines, named).exit_code, 0);
  EXPECT_EQ(database.number("SELECT count(*) FROM q"), 1);
}

// What is found may be more than the memory should hold: only a temporary file grows.
TEST_F(IdemctlReconcile, KeepsItsMemoryWhateverIsFound) {
  const TemporaryFile out{""};
  const auto peak = [&](int count, const Words& more) {
    const TemporaryFile file{""};
    {  // Line by line: a new process begins with the peak of this one.
      std::ofstream lines{file.path()};
      lines << header;
      for (int n = 0; n < count; ++n) lines << 'k' << n << ",charged,1290," << std::string(200, 'r') << '\n';
    }
    Words words{"reconcile", "--database-url",  postgres_test::url_of_server(),
                "--schema",  database.schema(), "--settlement",
                file.path(), "--downstream",    "acquirer"};
    words.insert(words.end(), more.begin(), more.end());
    const Ended run = run_idemctl(words, {.out_file = out.path()});
    EXPECT_EQ(run.exit_code, 0) << run.error;
    return run.peak_kib;
  };
  for (const Words& more : {Words{}, Words{"--json"}}) {
    const long small = peak(2'000, more);
    // 40,000 findings are 10 MiB and more.
    EXPECT_LT(peak(40'000, more), small + most_growth_kib);
  }
}

TEST_F(IdemctlReconcile, RefusesToGuess) {
  const auto refused = [&](const Words& more, const std::string& message) {
    expect_refused(reconcile(header, more), message);
  };
  refused({"--closed"}, "--closed needs --from and --until: the period that the settlement is complete for");
  refused({"--closed", "--from", "2026-01-01T00:00:00Z"},
          "--closed needs --from and --until: the period that the settlement is complete for");
  refused({"--yes"}, "--yes and --who are of use with --queue only");
  refused({"--who", "ann"}, "--yes and --who are of use with --queue only");
  refused({"--effects-schema", "s"}, "--effects-schema is of use with --effects only");
  refused({"--from", "2026-01-02T00:00:00Z", "--until", "2026-01-01T00:00:00Z"},
          "--from must be before --until");
  refused({"--from", "yesterday"},
          "--from must be a time as RFC 3339 has it: 2026-01-31T12:00:00.5Z, 2026-01-31T14:00:00+02:00");
  const std::string url = postgres_test::url_of_server();
  expect_refused(run_idemctl({"reconcile", "--database-url", url, "--settlement", "/x"}),
                 "--downstream is needed, and must not be empty");
  expect_refused(run_idemctl({"reconcile", "--database-url", url, "--downstream", "acquirer"}),
                 "--settlement is needed, and must not be empty");
  expect_refused(
      run_idemctl({"reconcile", "--database-url", url, "--downstream", "a", "--settlement", "/nowhere/x"}),
      "the settlement file cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace idem::test
