// The README's code and the demo, as programs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "examples/program.hpp"
#include "postgres/test_database.hpp"

namespace idem::examples_test {
namespace {

class Programs : public ::testing::Test {
 protected:
  [[nodiscard]] std::string url() const {
    return std::getenv("IDEM_TEST_DATABASE_URL") +
           ("&options=-csearch_path%3D%22" + database_.schema() + "%22");
  }

  postgres_test::TestDatabase database_;
};

TEST_F(Programs, TheReadmesCodeWithdrawsAndDepositsOncePerKey) {
  const Finished readme = run_program({README, url(), "a", "a", "b", "c", "c", "a"});
  EXPECT_EQ(readme.status, 0);
  EXPECT_EQ(readme.err, "");
  EXPECT_EQ(readme.out,
            "a: 201 500 withdrawn\n"
            "a: 201 500 withdrawn\n"
            "b: 201 500 withdrawn\n"
            "c: 402 not enough money\n"
            "c: 402 not enough money\n"
            "a: 201 500 withdrawn\n"
            "deposit a: 201 100 deposited\n"
            "deposit a: 201 100 deposited\n"
            "interest: applied\n"
            "interest: duplicate\n"
            "left: 307\n");
}

TEST_F(Programs, TheEventLoopAnswersOnItsOwnThreadAndDepositsOncePerKey) {
  const Finished loop = run_program({EVENT_LOOP, url()});
  EXPECT_EQ(loop.status, 0);
  EXPECT_EQ(loop.err, "");
  EXPECT_EQ(loop.out, "20 answers, 20 replays, 0 of them not on the loop's thread; 20 deposits\n");
}

TEST_F(Programs, TheDemoFindsEveryNumberRightOnAnEmptyDatabaseAndWrongOnAUsedOne) {
  const Finished demo =
      run_program({PAYMENTS_DEMO, "--database-url", url(), "--requests", PAYMENTS_REQUESTS});
  EXPECT_EQ(demo.status, 0);
  EXPECT_EQ(demo.err, "");
  EXPECT_TRUE(demo.out.ends_with("\nEvery number is right: each command and each event took effect once.\n"))
      << demo.out;
  EXPECT_EQ(run_program({PAYMENTS_DEMO, "--database-url", url(), "--requests", PAYMENTS_REQUESTS}).status, 1);
}

}  // namespace
}  // namespace idem::examples_test
