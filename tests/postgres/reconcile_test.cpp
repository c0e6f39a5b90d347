// A settlement against the records of a real server: what the join finds, and nothing else.
#include "idem/postgres/reconcile.hpp"

#include <gtest/gtest.h>

#include <pqxx/pqxx>
#include <string>
#include <utility>
#include <vector>

#include "idem/base/error.hpp"
#include "idem/call/downstream_key.hpp"
#include "idem/postgres/schema.hpp"
#include "idem/request/fingerprint.hpp"
#include "postgres/test_database.hpp"

namespace idem::postgres_test {
namespace {

using postgres::ReconcileOptions;
using std::chrono::hours;

constexpr auto charged = SettlementOutcome::charged;
constexpr auto declined = SettlementOutcome::declined;

class Reconcile : public ::testing::TestWithParam<TransactionKind> {
 protected:
  Reconcile() { names.schema = database.schema(); }

  [[nodiscard]] std::string key_of(const std::string& value) const {
    return downstream_key({"p", "op", value}, fingerprint);
  }

  [[nodiscard]] SettlementEntry entry(const std::string& value, SettlementOutcome outcome = charged,
                                      std::int64_t amount = 1290, const std::string& reference = "r") const {
    return {.downstream_key = key_of(value), .outcome = outcome, .amount = amount, .reference = reference};
  }

  // A record in this state; IN_PROGRESS has a live lease.
  void add(const std::string& value, State state, const std::string& downstream = "acquirer") const {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    auto store = database.backend().store(tx);
    ReserveOptions options;
    options.downstream = cannot_deduplicate(downstream);
    const Lease lease = std::get<Acquired>(store->reserve({"p", "op", value}, fingerprint, options)).lease;
    if (state == State::completed) store->complete(lease, text_response(201, ""));
    if (state == State::failed) store->fail(lease, text_response(402, ""));
    if (state == State::unknown) store->mark_unknown(lease, text_response(202, ""));
    tx.commit();
  }

  void change(const std::string& value, const std::string& assignments) const {
    database.execute("UPDATE idem_record SET " + assignments + " WHERE idempotency_key = '" + value + "'");
  }

  // Through the pooler where the kind says so.
  std::vector<Finding> reconcile(const std::vector<SettlementEntry>& entries,
                                 const ReconcileOptions& options = {.downstream = "acquirer"}) {
    auto connection = database.borrow();
    std::vector<Finding> findings;
    {
      pqxx::work tx{*connection};
      std::size_t next = 0;
      summary = postgres::reconcile(
          tx, names, options,
          [&] { return next < entries.size() ? std::optional{entries[next++]} : std::nullopt; },
          [&](const Finding& finding) { findings.push_back(finding); });
      tx.commit();
    }
    database.give_back(std::move(connection));
    return findings;
  }

  // "value: kind", in order.
  static std::vector<std::string> told(const std::vector<Finding>& findings) {
    std::vector<std::string> lines;
    for (const Finding& each : findings) {
      std::string line = each.ours ? each.ours->key.value : "?";
      line += ": " + std::string{to_string(each.kind)};
      if (each.differs.outcome) line += " outcome";
      if (each.differs.amount) line += " amount";
      if (each.differs.reference) line += " reference";
      if (each.differs.charged_twice) line += " charged_twice";
      lines.push_back(line);
    }
    return lines;
  }

  using Lines = std::vector<std::string>;

  const TestDatabase database{{}, GetParam()};
  postgres::Names names{};
  ReconcileSummary summary;
  const Fingerprint fingerprint = Fingerprinter{}({.operation = "op", .body = "{}"});
};

INSTANTIATE_TEST_SUITE_P(ReadCommitted, Reconcile, ::testing::Values(read_committed));
INSTANTIATE_TEST_SUITE_P(Pooler, Reconcile, ::testing::Values(pooler));

TEST_P(Reconcile, NothingAgainstNothingIsNothing) {
  EXPECT_TRUE(reconcile({}).empty());
  EXPECT_EQ(summary, ReconcileSummary{});
}

TEST_P(Reconcile, FindsEachKindAndCountsIt) {
  add("charged", State::completed);
  add("declined", State::failed);
  add("decided otherwise", State::failed);
  add("not known", State::unknown);
  add("held", State::in_progress);
  add("missing", State::completed);
  add("missing and not known", State::unknown);
  add("missing and lapsed", State::in_progress);
  change("missing and lapsed", "lease_until = now() - interval '1 second'");
  add("missing and held", State::in_progress);
  add("missing decline", State::failed);
  add("another downstream's", State::completed, "other");
  // Older than all that it stands before.
  change("missing", "created_at = now() - interval '3 hours'");
  change("missing and not known", "created_at = now() - interval '2 hours'");
  change("missing and lapsed", "created_at = now() - interval '1 hour'");
  const auto findings =
      reconcile({entry("charged"), entry("declined", declined), entry("decided otherwise"),
                 entry("not known"), entry("held"), entry("never heard of"), entry("another downstream's")});
  EXPECT_EQ(
      told(findings),
      (Lines{"charged: matched", "declined: matched", "decided otherwise: differing outcome",
             "not known: theirs_only", "held: theirs_only", "?: theirs_only", "?: theirs_only",
             "missing: ours_only", "missing and not known: ours_only", "missing and lapsed: ours_only"}));
  EXPECT_EQ(summary,
            (ReconcileSummary{.entries = 7, .matched = 2, .ours_only = 3, .theirs_only = 4, .differing = 1}));
}

TEST_P(Reconcile, TellsBothSidesAsTheyAre) {
  add("k", State::unknown);
  SettlementEntry theirs =
      entry("k", charged, 9'223'372'036'854'775'807, "Za\xc5\xbc\xc3\xb3\xc5\x82\xc4\x87 'x' \\ $1");
  theirs.at = TimePoint{std::chrono::microseconds{1'780'000'000'123'456}};
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  const Record record = database.backend().store(tx)->find({"p", "op", "k"}).value();
  const std::vector<Finding> findings = reconcile({theirs});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0], (Finding{.kind = FindingKind::theirs_only,
                                  .entry = theirs,
                                  .ours = OurSide{.key = record.key,
                                                  .state = State::unknown,
                                                  .holder = record.holder,
                                                  .generation = record.generation,
                                                  .created_at = record.created_at,
                                                  .downstream_key = key_of("k")}}));
}

TEST_P(Reconcile, KnowsAKeyInCapitalsAndReportsOneThatIsNoUuid) {
  add("k", State::completed);
  SettlementEntry capitals = entry("k");
  for (char& c : capitals.downstream_key) {
    if (c >= 'a' && c <= 'f') c = static_cast<char>(c - 'a' + 'A');
  }
  SettlementEntry foreign = entry("k");
  foreign.downstream_key = "order 7; DROP TABLE idem_record --";
  const auto findings = reconcile({capitals, foreign});
  EXPECT_EQ(told(findings), (Lines{"k: matched", "?: theirs_only"}));
  EXPECT_EQ(findings[0].entry, entry("k"));
  EXPECT_EQ(findings[1].entry, foreign);
}

// Or the charge would be nobody's, and its record without one.
TEST_P(Reconcile, KnowsAKeyHoweverAUuidIsSpelled) {
  add("k", State::completed);
  const std::string key = key_of("k");
  std::string bare = key;
  std::erase(bare, '-');
  for (const std::string& spelled :
       {bare, "{" + key + "}", "{" + bare + "}", "urn:uuid:" + key, "URN:UUID:" + key, "urn:uuid:" + bare}) {
    SettlementEntry other = entry("k");
    other.downstream_key = spelled;
    EXPECT_EQ(told(reconcile({other})), Lines{"k: matched"}) << spelled;
  }
  for (const std::string& none :
       std::vector<std::string>{"{" + key, key + "}", "{}", "urn:uuid:", bare + "0", "x" + bare}) {
    SettlementEntry other = entry("k");
    other.downstream_key = none;
    EXPECT_EQ(told(reconcile({other})), (Lines{"?: theirs_only", "k: ours_only"})) << none;
  }
}

TEST_P(Reconcile, TheSecondChargeOfAKeyIsToldWhereverItStands) {
  add("done", State::completed);
  add("open", State::unknown);
  add("refused", State::failed);
  EXPECT_EQ(told(reconcile({entry("done", charged, 1, "1"), entry("open"), entry("done", charged, 1, "2"),
                            entry("nobody's"), entry("open"), entry("nobody's"), entry("done"),
                            entry("refused", declined), entry("refused", declined)})),
            (Lines{"done: matched", "open: theirs_only", "done: differing charged_twice", "?: theirs_only",
                   "open: differing charged_twice", "?: differing charged_twice",
                   "done: differing charged_twice", "refused: matched", "refused: matched"}));
  EXPECT_EQ(summary.charged_twice, 4U);
}

TEST_P(Reconcile, TheSecondChargeOfAForeignKeyIsToldToo) {
  SettlementEntry foreign = entry("k");
  foreign.downstream_key = "order 7";
  SettlementEntry other = foreign;
  other.downstream_key = "order 8";
  EXPECT_EQ(told(reconcile({foreign, other, foreign})),
            (Lines{"?: theirs_only", "?: theirs_only", "?: differing charged_twice"}));
}

TEST_P(Reconcile, ADeclineBesideAChargeIsNotBelievedWhicheverComesFirst) {
  add("a", State::unknown);
  add("b", State::unknown);
  EXPECT_EQ(told(reconcile({entry("a", declined), entry("a"), entry("b"), entry("b", declined)})),
            (Lines{"a: differing outcome", "a: theirs_only", "b: theirs_only", "b: differing outcome"}));
}

TEST_P(Reconcile, ThePeriodIsOfRecordsThatNoEntryNames) {
  for (const char* value : {"before", "first", "last", "after", "before, named", "after, named"}) {
    add(value, State::completed);
  }
  const TimePoint from{std::chrono::sys_days{std::chrono::year{2026} / 1 / 31}};
  change("before", "created_at = '2026-01-30 23:59:59.999999+00'");
  change("first", "created_at = '2026-01-31 00:00:00+00'");
  change("last", "created_at = '2026-01-31 23:59:59.999999+00'");
  change("after", "created_at = '2026-02-01 00:00:00+00'");
  change("before, named", "created_at = '2026-01-01 00:00:00+00'");
  change("after, named", "created_at = '2026-03-01 00:00:00+00'");
  const std::vector<SettlementEntry> entries{entry("before, named"), entry("after, named")};
  const Lines named{"before, named: matched", "after, named: matched"};
  const auto with = [&](std::initializer_list<std::string> more) {
    Lines all = named;
    all.insert(all.end(), more);
    return all;
  };
  EXPECT_EQ(told(reconcile(entries, {.downstream = "acquirer", .from = from, .until = from + hours{24}})),
            with({"first: ours_only", "last: ours_only"}));
  EXPECT_EQ(told(reconcile(entries, {.downstream = "acquirer", .from = from})),
            with({"first: ours_only", "last: ours_only", "after: ours_only"}));
  EXPECT_EQ(told(reconcile(entries, {.downstream = "acquirer", .until = from})), with({"before: ours_only"}));
}

TEST_P(Reconcile, ComparesWithWhatTheCallerThinksThatItCharged) {
  for (const char* value : {"equal", "amount", "reference", "both", "no row", "nulls", "not known"}) {
    add(value, value == std::string{"not known"} ? State::unknown : State::completed);
  }
  add("missing", State::completed);
  database.execute(
      "CREATE TABLE \"Our {record} $1\"\"x\" (downstream_key text, amount integer, reference text)");
  const auto charge = [&](const std::string& value, const std::string& rest) {
    database.execute("INSERT INTO \"Our {record} $1\"\"x\" VALUES ('" + key_of(value) + "', " + rest + ")");
  };
  charge("equal", "1290, 'r'");
  charge("amount", "1291, 'r'");
  charge("reference", "1290, 's'");
  charge("both", "1, ''");
  charge("nulls", "NULL, NULL");
  charge("not known", "1290, 'r'");
  charge("missing", "5, 'm'");
  charge("not ours", "1, 'r'");
  database.execute("INSERT INTO \"Our {record} $1\"\"x\" VALUES (NULL, 1, 'r'), (NULL, 2, 'r')");
  const auto findings = reconcile(
      {entry("equal"), entry("amount"), entry("reference"), entry("both"), entry("no row"), entry("nulls"),
       entry("not known")},
      {.downstream = "acquirer", .effects = postgres::Relation{database.schema(), "Our {record} $1\"x"}});
  EXPECT_EQ(told(findings),
            (Lines{"equal: matched", "amount: differing amount", "reference: differing reference",
                   "both: differing amount reference", "no row: differing amount reference", "nulls: matched",
                   "not known: theirs_only", "missing: ours_only"}));
  EXPECT_EQ(findings[1].ours->amount, 1291);
  EXPECT_EQ(findings[4].ours->amount, std::nullopt);
  EXPECT_TRUE(findings[4].ours->effect_is_missing);
  EXPECT_EQ(findings[7].ours->amount, 5);
  EXPECT_EQ(findings[7].ours->reference, "m");
}

TEST_P(Reconcile, TheCallersKeysMayBeUuids) {
  add("k", State::completed);
  database.execute("CREATE TABLE payment (id uuid, cents bigint, charge text)");
  database.execute("INSERT INTO payment VALUES ('" + key_of("k") + "', 1290, 'r')");
  database.execute(
      "CREATE VIEW effect AS SELECT id AS downstream_key, cents AS amount, charge AS reference FROM payment");
  EXPECT_EQ(told(reconcile({entry("k")}, {.downstream = "acquirer",
                                          .effects = postgres::Relation{database.schema(), "effect"}})),
            Lines{"k: matched"});
}

TEST_P(Reconcile, RefusesEffectsThatItCannotCompareWith) {
  add("k", State::completed);
  database.execute("CREATE TABLE short (downstream_key text, amount bigint)");
  database.execute("CREATE TABLE fraction (downstream_key text, amount numeric, reference text)");
  database.execute("CREATE TABLE twice (downstream_key text, amount bigint, reference text)");
  database.execute("INSERT INTO twice VALUES ('" + key_of("k") + "', 1, 'a'), ('" + key_of("k") +
                   "', 1, 'b')");
  const auto refused = [&](const std::string& relation) -> std::string {
    try {
      reconcile({entry("k")},
                {.downstream = "acquirer", .effects = postgres::Relation{database.schema(), relation}});
    } catch (const InvalidArgument& refusal) {
      return refusal.what();
    }
    return {};
  };
  const std::string columns =
      "the relation of effects must have the columns downstream_key, amount (smallint, integer or bigint) "
      "and "
      "reference";
  EXPECT_EQ(refused("not_there"), "the relation of effects is not there");
  EXPECT_EQ(refused("short"), columns);
  EXPECT_EQ(refused("fraction"), columns);
  EXPECT_EQ(refused("twice"), "the relation of effects has two rows for one downstream key: " + key_of("k"));
}

TEST_P(Reconcile, EveryNameMayNeedQuoting) {
  const postgres::Names odd{.schema = database.schema() + " \"x'",
                            .record = "re{clock}cord $1",
                            .downstream_key = "key {effect} '$2\""};
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  ASSERT_EQ(postgres::install_schema(tx, odd), 0);
  const postgres::Backend backend{{.names = odd}};
  ReserveOptions options;
  options.downstream = cannot_deduplicate("ac'quirer \\ $3");
  auto store = backend.store(tx);
  const Key key{"p'", "o\\", "k\" $1"};
  store->complete(std::get<Acquired>(store->reserve(key, fingerprint, options)).lease,
                  text_response(201, ""));
  std::vector<SettlementEntry> entries{
      {.downstream_key = downstream_key(key, fingerprint), .reference = "'"}};
  std::vector<Finding> findings;
  static_cast<void>(postgres::reconcile(
      tx, odd, {.downstream = "ac'quirer \\ $3"},
      [&] {
        if (entries.empty()) return std::optional<SettlementEntry>{};
        const SettlementEntry last = entries.back();
        entries.pop_back();
        return std::optional{last};
      },
      [&](const Finding& finding) { findings.push_back(finding); }));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, FindingKind::matched);
  EXPECT_EQ(findings[0].ours->key, key);
}

TEST_P(Reconcile, MoreThanOneBatchOnBothSides) {
  // Both sides' batches are 500.
  constexpr int count = 1201;
  for (const char* value : {"first", "last"}) add(value, State::completed);
  std::vector<SettlementEntry> entries;
  entries.push_back(entry("first"));
  for (int n = 0; n < count; ++n) entries.push_back(entry("other " + std::to_string(n)));
  entries.push_back(entry("last"));
  const auto findings = reconcile(entries);
  ASSERT_EQ(findings.size(), entries.size());
  for (std::size_t at = 0; at < entries.size(); ++at) EXPECT_EQ(findings[at].entry, entries[at]);
  EXPECT_EQ(summary, (ReconcileSummary{.entries = count + 2, .matched = 2, .theirs_only = count}));
}

TEST_P(Reconcile, LeavesNothingBehindAndMayBeRepeatedInOneTransaction) {
  add("k", State::completed);
  auto connection = database.borrow();
  {
    pqxx::work tx{*connection};
    for (int round = 0; round < 2; ++round) {
      bool given = false;
      const auto found = postgres::reconcile(
          tx, names, {.downstream = "acquirer"},
          [&]() -> std::optional<SettlementEntry> {
            if (std::exchange(given, true)) return std::nullopt;
            return entry("k");
          },
          [](const Finding&) {});
      EXPECT_EQ(found.matched, 1U);
      EXPECT_EQ(tx.exec("SELECT (SELECT count(*) FROM pg_class WHERE relpersistence = 't' AND relname LIKE "
                        "'idem_settlement%' AND relnamespace = pg_my_temp_schema()) + (SELECT count(*) FROM "
                        "pg_cursors WHERE name LIKE 'idem_findings%')")[0][0]
                    .as<int>(),
                0);
    }
    tx.commit();
  }
  database.give_back(std::move(connection));
}

TEST_P(Reconcile, ASourceOrASinkThatThrowsIsHeard) {
  add("k", State::completed);
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  EXPECT_THROW(postgres::reconcile(
                   tx, names, {.downstream = "acquirer"},
                   []() -> std::optional<SettlementEntry> { throw std::out_of_range{"line 2"}; },
                   [](const Finding&) {}),
               std::out_of_range);
  EXPECT_THROW(postgres::reconcile(
                   tx, names, {.downstream = "acquirer"}, [] { return std::optional<SettlementEntry>{}; },
                   [](const Finding&) { throw std::out_of_range{"disk"}; }),
               std::out_of_range);
}

TEST_P(Reconcile, RefusesWhatIsOutOfBoundsBeforeAnythingIsSent) {
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  const auto run = [&](const ReconcileOptions& options, const std::optional<SettlementEntry>& only = {}) {
    postgres::reconcile(
        tx, names, options, [&] { return only; }, [](const Finding&) {});
  };
  const TimePoint time{std::chrono::sys_days{std::chrono::year{2026} / 1 / 31}};
  EXPECT_THROW(run({}), InvalidArgument);
  EXPECT_THROW(run({.downstream = std::string(256, 'x')}), InvalidArgument);
  EXPECT_THROW(run({.downstream = "acquirer", .from = time, .until = time}), InvalidArgument);
  EXPECT_THROW(run({.downstream = "acquirer", .effects = postgres::Relation{"", "a\nb"}}), InvalidArgument);
  EXPECT_THROW(run({.downstream = "acquirer"}, SettlementEntry{}), InvalidArgument);
  tx.exec("SELECT 1");  // still usable
}

TEST_P(Reconcile, WithoutTablesTheErrorSaysSo) {
  const auto missing = [&](const postgres::Names& other) {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    EXPECT_THROW(postgres::reconcile(
                     tx, other, {.downstream = "acquirer"}, [] { return std::optional<SettlementEntry>{}; },
                     [](const Finding&) {}),
                 StoredDataError);
  };
  missing({.record = "not_there"});
  missing({.downstream_key = "not_there"});
}

}  // namespace
}  // namespace idem::postgres_test
