// The tables: installed once, renamed safely, and refusing rows that must not exist.
#include "idem/postgres/schema.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "idem/base/error.hpp"
#include "idem/call/downstream_key.hpp"
#include "idem/request/fingerprint.hpp"
#include "idem/testing/race.hpp"
#include "postgres/test_database.hpp"
#include "request/key_hash.hpp"

namespace idem::postgres_test {
namespace {

Fingerprint some_fingerprint() {
  return Fingerprinter{}({.method = "POST", .operation = "op", .query = {}, .body = "{}"});
}

// Beside the ones that a TestDatabase has.
postgres::Names other_names(const std::string& schema) {
  return {.schema = schema,
          .record = "r2",
          .inbox = "i2",
          .version_guard = "g2",
          .outbox = "o2",
          .schema_version = "v2",
          .key_hash = "h2",
          .downstream_key = "d2",
          .repair = "p2"};
}

TEST(Schema, InstallsOnceAndIsSafeToRepeat) {
  const TestDatabase database;
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  EXPECT_EQ(postgres::install_schema(tx, {.schema = database.schema()}), postgres::schema_version);
  EXPECT_EQ(tx.exec("SELECT count(*) FROM idem_schema_version")[0][0].as<int>(), postgres::schema_version);
}

TEST(Schema, RolledBackInstallsNothing) {
  const TestDatabase database;
  const postgres::Names other = other_names(database.schema());
  const auto connection = database.connect();
  {
    pqxx::work tx{*connection};
    EXPECT_EQ(postgres::install_schema(tx, other), 0);
  }
  pqxx::work tx{*connection};
  const pqxx::result rows = tx.exec(
      "SELECT coalesce(to_regclass('r2'), to_regclass('i2'), to_regclass('g2'), to_regclass('p2'), "
      "to_regclass('v2')) IS NULL");
  EXPECT_TRUE(rows[0][0].as<bool>());
}

TEST(Schema, OneOfManyInstallersInstallsAndTheOthersSucceed) {
  const TestDatabase database;
  const postgres::Names names{.schema = database.schema() + "_new"};
  std::atomic<int> installed{0};
  testing::race(8, [&](std::size_t) {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    if (postgres::install_schema(tx, names) == 0) ++installed;
    tx.commit();
  });
  EXPECT_EQ(installed, 1);
  database.execute("DROP SCHEMA \"" + names.schema + "\" CASCADE");
}

TEST(Schema, ANewerSchemaIsRefused) {
  const TestDatabase database;
  database.execute("INSERT INTO idem_schema_version (version) VALUES (1000)");
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  EXPECT_THROW(postgres::install_schema(tx, {.schema = database.schema()}), StoredDataError);
}

TEST(Schema, AnotherRecordTableNeedsAVersionTableOfItsOwn) {
  const TestDatabase database;
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  postgres::Names names = other_names(database.schema());
  names.schema_version = postgres::Names{}.schema_version;
  EXPECT_THROW(postgres::install_schema(tx, names), StoredDataError);
  names = other_names(database.schema());
  names.inbox = postgres::Names{}.inbox;
  EXPECT_THROW(postgres::install_schema(tx, names), TransactionConflict);
  names = other_names(database.schema());
  names.repair = postgres::Names{}.repair;
  EXPECT_THROW(postgres::install_schema(tx, names), TransactionConflict);
  names = other_names(database.schema());
  EXPECT_EQ(postgres::install_schema(tx, names), 0);
  EXPECT_EQ(postgres::install_schema(tx, names), postgres::schema_version);
}

TEST(Schema, AnInstallerWhoseSnapshotIsOlderThanTheTablesTriesAgain) {
  const TestDatabase database;
  const postgres::Names names = other_names(database.schema());
  const auto late = database.connect();
  const auto early = database.connect();
  database.execute("CREATE TABLE v2 (version integer PRIMARY KEY, installed_at timestamptz DEFAULT now())");
  pqxx::transaction<pqxx::repeatable_read> old{*late};
  old.exec("SELECT 1");
  {
    pqxx::work tx{*early};
    ASSERT_EQ(postgres::install_schema(tx, names), 0);
    tx.commit();
  }
  EXPECT_THROW(postgres::install_schema(old, names), TransactionConflict);
  old.abort();
  pqxx::transaction<pqxx::repeatable_read> again{*late};
  EXPECT_EQ(postgres::install_schema(again, names), postgres::schema_version);
}

std::string file(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

TEST(Schema, AnUpgradeFromVersion1KeepsTheRecords) {
  const TestDatabase database;
  database.execute(
      "DROP TABLE idem_inbox, idem_version_guard, idem_outbox, idem_repair, idem_record, "
      "idem_schema_version; DROP "
      "FUNCTION "
      "idem_key_hash, idem_downstream_key(text, text, text, bytea), "
      "idem_downstream_key(text, text, text, bytea, bigint)");
  database.execute(file(IDEM_SQL_FOLDER "/0001_record.sql"));
  const Key key{"p", "o", "k"};
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  auto store = database.backend().store(tx);
  store->complete(std::get<Acquired>(store->reserve(key, some_fingerprint())).lease,
                  text_response(200, "done"));
  EXPECT_EQ(postgres::install_schema(tx, {.schema = database.schema()}), 1);
  EXPECT_EQ(body_text(std::get<Replay>(store->reserve(key, some_fingerprint())).response), "done");
  EXPECT_EQ(database.backend().inbox_store(tx)->advance("c", "entity", 1), Versioned::applied);
  const OutboxMessage message{"payment", "p1", "Paid", {}};
  EXPECT_EQ(database.backend().outbox_store(tx)->append({&message, 1}).size(), 1U);
  EXPECT_EQ(tx.exec("SELECT count(*) FROM idem_schema_version")[0][0].as<int>(), postgres::schema_version);
}

TEST(Schema, ThePrintedScriptInstallsTheSame) {
  const TestDatabase database;
  const postgres::Names names{.schema = database.schema() + "_printed"};
  database.execute(postgres::schema_sql(names));
  const postgres::Backend backend{{.names = names}};
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  EXPECT_EQ(postgres::install_schema(tx, names), postgres::schema_version);
  EXPECT_TRUE(
      std::holds_alternative<Acquired>(backend.store(tx)->reserve({"p", "o", "k"}, some_fingerprint())));
  tx.exec("DROP SCHEMA \"" + names.schema + "\" CASCADE");
  tx.commit();
}

TEST(Schema, EveryNameMayNeedQuoting) {
  const postgres::Names names{.schema = "Sch\"ema '$1' {record} {inbox}",
                              .record = "Records; DROP TABLE x --$2 $$ $sql$ {clock} {inbox}",
                              .inbox = "in\"box {purged}$1",
                              .version_guard = "gu'ard {useless} $3",
                              .outbox = "out {inbox} $1box",
                              .schema_version = "ver'sion\"",
                              .key_hash = "h\xc3\xa4sh $9",
                              .downstream_key = "key {clock} $1\"('",
                              .repair = "re$2pair {effects}\""};
  const TestDatabase database{{.names = {}}};
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  ASSERT_EQ(postgres::install_schema(tx, names), 0);
  const postgres::Backend backend{{.names = names}};
  auto store = backend.store(tx);
  const Key key{"p", "o", "k"};
  const auto lease = std::get<Acquired>(store->reserve(key, some_fingerprint())).lease;
  store->complete(lease, text_response(200, "done"));
  EXPECT_EQ(body_text(std::get<Replay>(store->reserve(key, some_fingerprint())).response), "done");
  auto inbox = backend.inbox_store(tx);
  const EventIdentity event{"s", "e", std::nullopt};
  EXPECT_EQ(inbox->receive("c", {&event, 1}, {.unknown_age = UnknownAge::apply}).front(), Delivery::applied);
  EXPECT_EQ(inbox->receive("c", {&event, 1}, {}).front(), Delivery::duplicate);
  EXPECT_EQ(inbox->advance("c", "entity", 1), Versioned::applied);
  const OutboxMessage message{"payment", "p1", "Paid", {}};
  EXPECT_EQ(backend.outbox_store(tx)->append({&message, 1}).size(), 1U);
  EXPECT_TRUE(backend.lapsed_records(tx, {.operation = "o"}).records.empty());
  const PurgeBatch everything{.most_rows = 10, .places = 1000};
  EXPECT_TRUE(backend.purge_records(tx, everything).at_end);
  EXPECT_TRUE(backend.purge_inbox(tx, everything).at_end);
  EXPECT_EQ(postgres::install_schema(tx, names), postgres::schema_version);
}

TEST(Schema, TheDownstreamKeyFunctionGivesTheKeyThatWasHandedOver) {
  const TestDatabase database;
  const std::vector<Key> keys{{"p", "o", "k"},
                              {"a", "bc", "d"},
                              {"ab", "c", "d"},
                              {"\xc3\xa9", "POST /payments", "8e03978e-40d5-43e8-bc93-6894a57f9324"},
                              {std::string(255, 'x'), "'; --", "\"\\"}};
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  for (int round = 0; round < 40; ++round) {  // so that each value of the bits that are replaced is there
    for (const Key& key : keys) {
      const Fingerprint fingerprint = Fingerprinter{}({.operation = "op", .body = std::to_string(round)});
      const pqxx::result rows =
          tx.exec("SELECT idem_downstream_key(" + tx.quote(key.principal) + "," + tx.quote(key.operation) +
                  "," + tx.quote(key.value) + ", decode('" + fingerprint.hex() + "', 'hex'))::text");
      EXPECT_EQ(rows[0][0].as<std::string>(), downstream_key(key, fingerprint));
      const std::int64_t generation = 1'780'000'000'000'000 + round;
      const pqxx::result of_generation =
          tx.exec("SELECT idem_downstream_key(" + tx.quote(key.principal) + "," + tx.quote(key.operation) +
                  "," + tx.quote(key.value) + ", decode('" + fingerprint.hex() + "', 'hex'), " +
                  std::to_string(generation) + ")::text");
      EXPECT_EQ(of_generation[0][0].as<std::string>(), downstream_key(key, fingerprint, generation));
    }
  }
}

TEST(Schema, ANameThatPostgresWouldCutIsRefused) {
  EXPECT_THROW(postgres::Backend({.names = {.record = std::string(64, 'x')}}), InvalidArgument);
  EXPECT_THROW(postgres::Backend({.names = {.record = ""}}), InvalidArgument);
  EXPECT_THROW(postgres::Backend({.names = {.record = std::string("a\0b", 3)}}), InvalidArgument);
  EXPECT_THROW(postgres::Backend({.names = {.record = "a\nb"}}), InvalidArgument);
  EXPECT_THROW(postgres::Backend({.names = {.record = "a$idem$b"}}), InvalidArgument);
  EXPECT_THROW(static_cast<void>(postgres::schema_sql({.key_hash = std::string(64, 'x')})), InvalidArgument);
}

TEST(Schema, WithoutTablesTheErrorSaysSo) {
  const TestDatabase database;
  const postgres::Backend backend{{.names = {.schema = database.schema(), .record = "not_there"}}};
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  EXPECT_THROW(static_cast<void>(backend.store(tx)->find({"p", "o", "k"})), StoredDataError);
}

TEST(Schema, TheKeyHashFunctionGivesTheStoredHash) {
  const TestDatabase database;
  const std::vector<Key> keys{{"p", "o", "k"},
                              {"a", "bc", "d"},
                              {"ab", "c", "d"},
                              {"\xc3\xa9", "POST /payments", "8e03978e-40d5-43e8-bc93-6894a57f9324"},
                              {std::string(255, 'x'), "'; --", "\"\\"}};
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  for (const Key& key : keys) {
    const std::string arguments =
        tx.quote(key.principal) + "," + tx.quote(key.operation) + "," + tx.quote(key.value);
    const pqxx::result rows = tx.exec("SELECT idem_key_hash(" + arguments + ")::text");
    EXPECT_EQ(rows[0][0].as<std::string>(), hash_key(key).id.to_string());
  }
}

// Fault 2: a lease that is not set must be impossible, and so must every other half-made row.
TEST(Schema, RowsThatMustNotExistAreRefusedByTheTable) {
  const TestDatabase database;
  const Key key{"p", "o", "k"};
  const auto connection = database.connect();
  {
    pqxx::work tx{*connection};
    auto reservation = database.backend().store(tx)->reserve(key, some_fingerprint());
    ASSERT_TRUE(std::holds_alternative<Acquired>(reservation));
    tx.commit();
  }
  for (const char* const change :
       {"lease_until = NULL", "expires_at = now()", "finished_at = now()", "state = 2", "state = 3",
        "state = 5", "state = 0", "fence = 0", "generation = fence + 1", "retention = interval '0'",
        "response_status = 200", "fingerprint = '\\x00'", "idempotency_key = ''",
        "principal = repeat('x', 256)", "resumable = true", "call_deadline = interval '-1 s'",
        "window_until = now()", "resolved_by = 'x'", "reserved_xact = NULL"}) {
    EXPECT_THROW(database.execute(std::string{"UPDATE idem_record SET "} + change),
                 pqxx::integrity_constraint_violation)
        << change;
  }
}

// An update stays heap-only, without a write to any index, only as long as that is so.
TEST(Schema, NoIndexHoldsAColumnThatSettlingChanges) {
  const TestDatabase database;
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  const pqxx::result rows = tx.exec(
      "SELECT string_agg(DISTINCT attname, ',' ORDER BY attname) FROM pg_index JOIN pg_attribute ON attrelid "
      "= indrelid "
      "AND attnum = ANY (indkey) WHERE indrelid = 'idem_record'::regclass");
  EXPECT_EQ(rows[0][0].as<std::string>(), "created_at,key_hash");
}

}  // namespace
}  // namespace idem::postgres_test
