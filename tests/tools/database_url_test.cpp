// What idemctl tells, and does not tell, of a database that it cannot use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/test_database.hpp"
#include "tools/run_idemctl.hpp"

namespace idem::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Ended show(const std::string& url) {
  return run_idemctl({"show", "--database-url", url, "--principal", "p", "--operation", "o", "--key", "k"});
}

// `url` must hold "secret" where a password, or a part of one, may stand.
void expect_told_without_secret(const std::string& url, const std::string& reason) {
  const Ended run = show(url);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.error, StartsWith("idemctl: "));
  EXPECT_EQ(run.error.find('\n'), run.error.size() - 1);
  EXPECT_THAT(run.error, Not(HasSubstr("secret")));
  EXPECT_THAT(run.error, HasSubstr(reason));
}

TEST(IdemctlDatabaseUrl, TellsWhyThereIsNoConnection) {
  expect_told_without_secret("postgresql://u:secret@127.0.0.1:1/d", "port 1 failed: Connection refused");
}

TEST(IdemctlDatabaseUrl, TellsNothingOfAPasswordWithAnUnescapedCharacter) {
  expect_told_without_secret("postgresql://u:p@secret@127.0.0.1:1/d", "cannot connect to the database: ");
  expect_told_without_secret("postgresql://u:secret/x@127.0.0.1:1/d", "cannot connect to the database: ");
  expect_told_without_secret("postgresql://u:p?secret@127.0.0.1:1/d", "cannot connect to the database: ");
  expect_told_without_secret("postgresql://u:secret%zz@127.0.0.1:1/d", "cannot connect to the database: ");
  expect_told_without_secret("postgresql://u:se\"secret\"x/y@127.0.0.1:1/d",
                             "cannot connect to the database");
  expect_told_without_secret("postgresql://u:se%22secret%22x@:/@127.0.0.1:1/d",
                             "cannot connect to the database");
}

TEST(IdemctlDatabaseUrl, TellsNothingOfAWordThatIsNoUrl) {
  expect_told_without_secret("secret", "--database-url must begin with postgresql:// or postgres://");
  expect_told_without_secret("host=h password=secret",
                             "--database-url must begin with postgresql:// or postgres://");
}

TEST(IdemctlDatabaseUrl, TellsWhatTheServerRefuses) {
  const std::string url = postgres_test::url_of_server();
  // No table of that name is there.
  const Ended run = run_idemctl({"show", "--database-url", url, "--principal", "p", "--operation", "o",
                                 "--key", "k", "--schema", "no such schema"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.error, HasSubstr("idem's tables are missing or of another version (SQLSTATE 42P01)"));
  EXPECT_EQ(run.error.find('\n'), run.error.size() - 1);
}

}  // namespace
}  // namespace idem::test
