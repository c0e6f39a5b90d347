// The README's code and the demo, as programs.
#include <gtest/gtest.h>

#include <string>

#include "examples/program.hpp"
#include "postgres/test_database.hpp"
#include "session.hpp"

namespace idem::examples_test {
namespace {

class Programs : public ::testing::Test {
 protected:
  [[nodiscard]] std::string url() const { return database_.url(); }

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

TEST_F(Programs, ThePaymentsProgramTellsItsUsage) {
  const Finished all = run_program({PAYMENTS, "--help"});
  EXPECT_EQ(all.status, 0);
  EXPECT_EQ(all.err, "");
  for (const char* verb : {"run", "sweep", "repair", "serve", "client"}) {
    EXPECT_NE(all.out.find(std::string{"payments "} + verb + " --"), std::string::npos) << verb;
    const Finished one = run_program({PAYMENTS, verb, "--help"});
    EXPECT_EQ(one.status, 0);
    EXPECT_EQ(one.err, "");
    EXPECT_EQ(one.out, all.out);
  }
  // As a value it is one.
  EXPECT_EQ(run_program({PAYMENTS, "repair", "--database-url", "--help"}).status, 1);
}

TEST_F(Programs, ASessionThatTheServerHasEndedIsReplaced) {
  examples::Session session{url()};
  const auto pid = [&] {
    return std::to_string(session.begin()->exec(std::string{"SELECT pg_backend_pid()"})[0][0].as<int>());
  };
  const std::string first = pid();
  EXPECT_EQ(pid(), first);
  database_.execute("SELECT pg_terminate_backend(" + first + ")");
  postgres_test::wait_until(database_,
                            "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = " + first + ")");
  EXPECT_NE(pid(), first);
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
