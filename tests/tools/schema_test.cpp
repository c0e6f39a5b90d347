#include <gtest/gtest.h>

#include "postgres/test_database.hpp"
#include "tools/run_idemctl.hpp"

namespace idem::test {
namespace {

class IdemctlSchemaApply : public ::testing::Test {
 protected:
  // Other names than the fixture's own tables have, in the fixture's schema, which it drops.
  [[nodiscard]] std::vector<std::string> apply() const {
    return {"schema",
            "apply",
            "--database-url",
            postgres_test::url_of_server(),
            "--schema",
            database.schema(),
            "--record-table",
            "other",
            "--inbox-table",
            "other_inbox",
            "--version-guard-table",
            "other_guard",
            "--outbox-table",
            "other_outbox",
            "--version-table",
            "other_version",
            "--key-hash-function",
            "other_hash",
            "--repair-table",
            "other_repair",
            "--downstream-key-function",
            "other_key"};
  }

  postgres_test::TestDatabase database{};
};

TEST_F(IdemctlSchemaApply, InstallsTheSchemaOnceAndTellsWhatItFound) {
  const Ended first = run_idemctl(apply());
  EXPECT_EQ(first.exit_code, 0) << first.error;
  EXPECT_EQ(first.out, "found none: installed version 4\n");
  for (const char* table : {"other", "other_inbox", "other_guard", "other_outbox", "other_repair"}) {
    EXPECT_EQ(database.number("SELECT count(*) FROM \"" + database.schema() + "\"." + table), 0);
  }

  const Ended second = run_idemctl(apply());
  EXPECT_EQ(second.exit_code, 0) << second.error;
  EXPECT_EQ(second.out, "found version 4: nothing to do\n");
}

TEST_F(IdemctlSchemaApply, RefusesANewerSchemaAndLeavesIt) {
  ASSERT_EQ(run_idemctl(apply()).exit_code, 0);
  database.execute("INSERT INTO \"" + database.schema() + "\".other_version (version) VALUES (99)");
  expect_refused(run_idemctl(apply()),
                 "idem's schema is version 99, newer than this library's 4: link a newer idem");
}

TEST_F(IdemctlSchemaApply, InstallsNothingWhereItFails) {
  // In the way of the function, which is made after the table.
  database.execute(
      "CREATE FUNCTION \"" + database.schema() +
      "\".other_hash(principal text, operation text, idempotency_key text) RETURNS integer LANGUAGE sql AS "
      "'SELECT 1'");
  const Ended run = run_idemctl(apply());
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(database.number("SELECT count(*) FROM pg_class WHERE relname = 'other' AND relnamespace = '\"" +
                            database.schema() + "\"'::regnamespace"),
            0);
}

}  // namespace
}  // namespace idem::test
