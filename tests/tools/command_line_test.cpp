#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "idem/postgres/schema.hpp"
#include "tools/run_idemctl.hpp"

namespace idem::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(IdemctlCommandLine, HelpGoesToStandardOutput) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--help"},
                                                {"-h"},
                                                {"help"},
                                                {"show", "--help"},
                                                {"show", "-h"},
                                                {"schema", "apply", "--help"}}) {
    const Ended run = run_idemctl(words);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_THAT(run.out, StartsWith("idemctl canonicalize"));
    EXPECT_EQ(run.error, "");
  }
}

TEST(IdemctlCommandLine, TellsItsVersion) {
  const Ended run = run_idemctl({"--version"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, "idemctl " IDEM_BUILD_VERSION "\n");
}

TEST(IdemctlCommandLine, RefusesAnUnknownCommandWithoutRepeatingIt) {
  const std::string message =
      "the first word must be canonicalize, fingerprint, schema, show, list, resolve, purge, reconcile, "
      "repairs or inbox; "
      "see idemctl --help";
  expect_refused(run_idemctl({}), message);
  expect_refused(run_idemctl({"postgresql://u:secret@h/d"}), message);
}

TEST(IdemctlCommandLine, SaysWhatMayFollowSchema) {
  const std::string message = "after schema comes print or apply; see idemctl --help";
  expect_refused(run_idemctl({"schema"}), message);
  expect_refused(run_idemctl({"schema", "drop"}), message);
}

TEST(IdemctlCommandLine, SaysWhatMayFollowInbox) {
  const std::string message = "after inbox comes show; see idemctl --help";
  expect_refused(run_idemctl({"inbox"}), message);
  expect_refused(run_idemctl({"inbox", "purge"}), message);
}

TEST(IdemctlCommandLine, RefusesAnUnknownOptionWithoutRepeatingIt) {
  expect_refused(run_idemctl({"show", "--databse-url=postgresql://u:secret@h/d"}),
                 "unknown option, or a value for one that takes none; see idemctl --help");
  expect_refused(run_idemctl({"canonicalize", "-x"}),
                 "unknown option, or a value for one that takes none; see idemctl --help");
  expect_refused(run_idemctl({"canonicalize", "--rfc8785=no"}),
                 "unknown option, or a value for one that takes none; see idemctl --help");
}

TEST(IdemctlCommandLine, RefusesABeginningOfAnOption) {
  // Or --y would be the --yes that a destructive verb asks for.
  for (const char* word : {"--y", "--ye", "--older=7d", "--y="}) {
    expect_refused(run_idemctl({"purge", word}),
                   "unknown option, or a value for one that takes none; see idemctl --help");
  }
}

TEST(IdemctlCommandLine, RefusesAMissingValue) {
  expect_refused(run_idemctl({"fingerprint", "--operation"}), "--operation needs a value");
  expect_refused(run_idemctl({"show", "--database-url"}), "--database-url needs a value");
}

TEST(IdemctlCommandLine, RefusesAMissingOrEmptyOption) {
  expect_refused(run_idemctl({"fingerprint"}, {.in = "{}"}), "--operation is needed, and must not be empty");
  expect_refused(run_idemctl({"fingerprint", "--operation", ""}, {.in = "{}"}),
                 "--operation is needed, and must not be empty");
  expect_refused(run_idemctl({"schema", "apply"}), "--database-url is needed, and must not be empty");
}

TEST(IdemctlCommandLine, RefusesAnOptionGivenTwice) {
  expect_refused(run_idemctl({"fingerprint", "--operation", "a", "--operation", "b"}, {.in = "{}"}),
                 "--operation is given twice");
}

TEST(IdemctlCommandLine, RefusesAFurtherWordWithoutRepeatingIt) {
  expect_refused(run_idemctl({"canonicalize", "secret.json"}),
                 "unexpected word after the options; see idemctl --help");
}

TEST(IdemctlCommandLine, FailsWhereStandardOutputCannotBeWritten) {
  const Ended run = run_idemctl({"canonicalize"}, {.in = "{}", .out_file = "/dev/full"});
  expect_refused(run, "standard output cannot be written: No space left on device");
}

TEST(IdemctlCommandLine, FailsWhereStandardInputCannotBeRead) {
  expect_refused(run_idemctl({"canonicalize"}, {.in_file = "/"}),
                 "standard input cannot be read: Is a directory");
}

TEST(IdemctlCommandLine, SchemaPrintWritesTheSchemaUnderTheGivenNames) {
  const Ended by_default = run_idemctl({"schema", "print"});
  EXPECT_EQ(by_default.exit_code, 0);
  EXPECT_EQ(by_default.out, postgres::schema_sql());
  const Ended named = run_idemctl({"schema",
                                   "print",
                                   "--schema",
                                   "My \"own\"",
                                   "--record-table",
                                   "r",
                                   "--inbox-table",
                                   "i",
                                   "--version-guard-table",
                                   "g",
                                   "--outbox-table",
                                   "o",
                                   "--version-table",
                                   "v",
                                   "--key-hash-function",
                                   "h",
                                   "--downstream-key-function",
                                   "d",
                                   "--repair-table",
                                   "q"});
  EXPECT_EQ(named.exit_code, 0);
  EXPECT_EQ(named.out, postgres::schema_sql({"My \"own\"", "r", "i", "g", "o", "v", "h", "d", "q"}));
  EXPECT_THAT(named.out, HasSubstr(R"(CREATE TABLE "My ""own"""."r" ()"));
  EXPECT_THAT(named.out, HasSubstr(R"(CREATE TABLE "My ""own"""."i" ()"));
  EXPECT_THAT(named.out, HasSubstr(R"(CREATE TABLE "My ""own"""."g" ()"));
  EXPECT_THAT(named.out, HasSubstr(R"(CREATE TABLE "My ""own"""."o" ()"));
  EXPECT_THAT(named.out, HasSubstr(R"(CREATE TABLE "My ""own"""."q" ()"));
}

TEST(IdemctlCommandLine, SchemaPrintRefusesANameThatCannotBeOne) {
  expect_refused(run_idemctl({"schema", "print", "--record-table", std::string(64, 'x')}),
                 "a name in the database must be 1 to 63 bytes long, without control characters");
}

}  // namespace
}  // namespace idem::test
