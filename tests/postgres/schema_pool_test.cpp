// A schema that a test has used is as new for the next one, or is not used again.
#include "postgres/schema_pool.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string>

#include "postgres/test_database.hpp"

namespace idem::postgres_test {
namespace {

class Pool : public ::testing::Test {
 protected:
  void execute(const std::string& sql) { pqxx::nontransaction{session}.exec(sql); }
  [[nodiscard]] int number(const std::string& sql) {
    const pqxx::result rows = pqxx::nontransaction{session}.exec(sql);
    return rows[0][0].as<int>();
  }
  // A schema that was lent while `sql` was run in it. This session stays, and says that it leaves nothing open.
  [[nodiscard]] std::string used_for(const std::string& sql) {
    const std::string schema = pool.take({});
    execute("SET application_name = '" + session_name() + "'; SET search_path = \"" + schema + "\"; " + sql);
    pool.give_back(schema);
    return schema;
  }
  [[nodiscard]] bool exists(const std::string& schema) {
    return number("SELECT count(*) FROM pg_namespace WHERE nspname = '" + schema + "'") == 1;
  }

  // Lends and takes back until `schema` is lent again, or is gone. Meanwhile other tests' programs and transactions may keep the
  // pool from looking at it.
  void until_looked_at(const std::string& schema) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes{1};
    while (exists(schema)) {
      const std::string lent = pool.take({});
      if (lent == schema) return;
      pool.give_back(lent);
      if (std::chrono::steady_clock::now() > end)
        throw std::runtime_error{"the pool never looks at " + schema};
    }
  }
  // Whether it is lent again, and as new.
  [[nodiscard]] bool is_used_again(const std::string& schema) {
    until_looked_at(schema);
    return exists(schema);
  }

  pqxx::connection session{url_of_server()};
  SchemaPool pool;
};

const std::string a_message =
    "INSERT INTO idem_outbox (event_id, shard, aggregate_type, aggregate_id, event_type, payload, headers, "
    "created_at) VALUES (gen_random_uuid(), 1, 'a', 'b', 'c', '', '', now());";

TEST_F(Pool, ASchemaIsUsedAgainAndEmpty) {
  const std::string schema =
      used_for(a_message + a_message + "INSERT INTO idem_inbox VALUES ('c', 's', 'e', now(), now())");
  ASSERT_TRUE(is_used_again(schema));
  EXPECT_EQ(number("SELECT (SELECT count(*) FROM idem_outbox) + (SELECT count(*) FROM idem_inbox)"), 0);
  execute(a_message);
  EXPECT_EQ(number("SELECT sequence FROM idem_outbox"), 1);
}

TEST_F(Pool, WhatWasAddedIsGone) {
  const std::string schema = used_for(
      "CREATE TABLE payment (id serial PRIMARY KEY, record uuid REFERENCES idem_record); CREATE SEQUENCE s; "
      "CREATE VIEW effect AS SELECT key_hash FROM idem_record; CREATE MATERIALIZED VIEW m AS SELECT 1 AS "
      "one; "
      "CREATE FUNCTION twice(integer) RETURNS integer LANGUAGE sql AS 'SELECT 2 * $1'");
  EXPECT_TRUE(is_used_again(schema));
  EXPECT_EQ(number("SELECT count(*) FROM pg_class WHERE relnamespace = '\"" + schema +
                   "\"'::regnamespace AND relname !~ '^idem_'"),
            0);
  EXPECT_EQ(number("SELECT count(*) FROM pg_proc WHERE pronamespace = '\"" + schema + "\"'::regnamespace"),
            3);
}

TEST_F(Pool, ATriggerOfAnAddedFunctionGoesWithIt) {
  const std::string schema = used_for(
      "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; "
      "CREATE TRIGGER hold BEFORE UPDATE ON idem_record FOR EACH STATEMENT EXECUTE FUNCTION hold()");
  EXPECT_TRUE(is_used_again(schema));
  EXPECT_EQ(number("SELECT count(*) FROM pg_trigger WHERE tgrelid = 'idem_record'::regclass"), 0);
}

TEST_F(Pool, WhatWasAlteredIsDroppedAndNotUsedAgain) {
  for (const std::string alteration :
       {"ALTER TABLE idem_record RENAME TO other", "ALTER TABLE idem_record ADD COLUMN more integer",
        "ALTER TABLE idem_outbox ALTER COLUMN attempts SET DEFAULT 7", "DROP TABLE idem_inbox",
        "ALTER TABLE idem_repair DROP COLUMN note", "CREATE INDEX ON idem_record (principal)",
        "ALTER TABLE idem_inbox ADD CHECK (source <> 'x')", "ALTER TABLE idem_outbox SET (fillfactor = 50)",
        "GRANT SELECT ON idem_record TO PUBLIC", "GRANT SELECT (principal) ON idem_record TO PUBLIC",
        "ALTER TABLE idem_record ENABLE ROW LEVEL SECURITY", "CREATE DOMAIN d AS integer",
        "CREATE RULE r AS ON INSERT TO idem_inbox DO INSTEAD NOTHING",
        "ALTER FUNCTION idem_key_hash(text, text, text) STABLE",
        "DROP FUNCTION idem_key_hash(text, text, text)", "CREATE POLICY p ON idem_record USING (true)",
        "INSERT INTO idem_schema_version VALUES (1000)",
        "DELETE FROM idem_schema_version WHERE version = 1"}) {
    const std::string schema = used_for(alteration);
    EXPECT_FALSE(is_used_again(schema)) << alteration;
  }
}

TEST_F(Pool, ASchemaThatWasMadeAnewOrHasAnotherBesideItIsNotUsedAgain) {
  const std::string made_anew = pool.take({});
  execute("SET client_min_messages = warning; DROP SCHEMA \"" + made_anew + "\" CASCADE; CREATE SCHEMA \"" +
          made_anew + "\"");
  pool.give_back(made_anew);
  EXPECT_FALSE(is_used_again(made_anew));
  const std::string beside = pool.take({});
  execute("CREATE SCHEMA \"" + beside + "_new\"");
  pool.give_back(beside);
  EXPECT_FALSE(is_used_again(beside));
  execute("DROP SCHEMA \"" + beside + "_new\"");
}

TEST_F(Pool, OtherNamesAreAnotherSchema) {
  const std::string schema = used_for("");
  const std::string other = pool.take({.record = "r2"});
  EXPECT_NE(other, schema);
  EXPECT_EQ(number("SELECT count(*) FROM \"" + other + "\".r2"), 0);
  EXPECT_TRUE(is_used_again(schema));
}

TEST_F(Pool, ASchemaThatIsLentIsNotLentTwice) {
  const std::string first = pool.take({});
  EXPECT_NE(pool.take({}), first);
}

// As a connection that a test has closed, whose session on the server has not noticed.
TEST_F(Pool, ASchemaIsNotUsedAsLongAsASessionOfItIsThere) {
  const std::string schema = pool.take({});
  execute("SET application_name = '" + session_name(schema) + "'");
  pool.give_back(schema);
  EXPECT_NE(pool.take({}), schema);
  execute("SET application_name = '" + session_name() + "'");
  EXPECT_TRUE(is_used_again(schema));
}

// As one of a program that was killed.
TEST_F(Pool, ASchemaIsNotUsedAsLongAsASessionThatSaysNothingMayWorkInIt) {
  const std::string schema = pool.take({});
  pqxx::connection since{url_of_server()};
  pool.give_back(schema);
  EXPECT_NE(pool.take({}), schema);
}

TEST_F(Pool, ASchemaIsNotUsedAsLongAsATransactionHasLocksInIt) {
  const std::string schema = pool.take({});
  execute("SET application_name = '" + session_name() + "'");
  {
    pqxx::work open{session};
    open.exec("SELECT FROM \"" + schema + "\".idem_record");
    pool.give_back(schema);
    EXPECT_NE(pool.take({}), schema);
  }
  EXPECT_TRUE(is_used_again(schema));
}

// A later transaction at SERIALIZABLE would be refused for what an earlier test has read.
TEST_F(Pool, ASchemaIsNotUsedAsLongAsACommittedTransactionsReadsCountThere) {
  const std::string schema = pool.take({});
  execute("SET application_name = '" + session_name() + "'");
  pqxx::connection other{url_of_server()};
  pqxx::nontransaction{other}.exec("SET application_name = '" + session_name() + "'");
  {
    pqxx::transaction<pqxx::serializable> long_one{other};
    long_one.exec("SELECT FROM pg_class");
    {
      pqxx::transaction<pqxx::serializable> reader{session};
      reader.exec("SELECT FROM \"" + schema + "\".idem_record; CREATE TEMPORARY TABLE written ()");
      reader.commit();
    }
    pool.give_back(schema);
    EXPECT_NE(pool.take({}), schema);
  }
  EXPECT_TRUE(is_used_again(schema));
}

TEST(PoolsEnd, DropsAllThatItMade) {
  pqxx::connection session{url_of_server()};
  std::string first;
  std::string second;
  {
    SchemaPool pool;
    first = pool.take({});
    second = pool.take({});
    pool.give_back(first);
  }
  pqxx::work tx{session};
  const pqxx::result rows = tx.exec("SELECT count(*) FROM pg_namespace WHERE nspname IN (" + tx.quote(first) +
                                    ", " + tx.quote(second) + ")");
  EXPECT_EQ(rows[0][0].as<int>(), 0);
}

}  // namespace
}  // namespace idem::postgres_test
