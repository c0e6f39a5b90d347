// The explorer itself: it counts every order, tells who waits, and takes a deadlock for an outcome.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "interleavings/steps.hpp"

namespace idem::interleavings {
namespace {

using ::testing::Contains;

class Explorer : public ::testing::Test {
 protected:
  Explorer() {
    create_business_tables(database);
    database.execute("CREATE TABLE row (n int PRIMARY KEY); INSERT INTO row VALUES (1), (2)");
  }
  static Step touch(int row) {
    const std::string number = std::to_string(row);
    return sql("touch " + number, "UPDATE row SET n = n WHERE n = " + number);
  }
  postgres_test::TestDatabase database;
};

TEST_F(Explorer, RunsEachOrderOnce) {
  const Step look = sql("look", "SELECT 1");
  EXPECT_EQ(explore(database, {"two sessions of 4 and 5 statements",
                               {{look, look, look, look}, {look, look, look, look, look}}})
                .schedules,
            126U);
  EXPECT_EQ(explore(database, {"three sessions of 2 statements", {{look, look}, {look, look}, {look, look}}})
                .schedules,
            90U);
}

TEST_F(Explorer, BeginsEachScheduleWithThePrefix) {
  const Step look = sql("look", "SELECT 1");
  EXPECT_EQ(
      explore(database, {"a prefix of two steps", {{look, look, look}, {look, look}}, {0, 1}}).schedules, 3U);
}

// Four of the six orders let both touch before one commits; as the second has to wait, two are left of those.
TEST_F(Explorer, WhoWaitsIsNotChosenUntilTheOtherCommits) {
  EXPECT_EQ(
      explore(database, {"two sessions that touch one row", {{touch(1), commit()}, {touch(1), commit()}}})
          .schedules,
      4U);
}

TEST_F(Explorer, ADeadlockIsAnOutcome) {
  const Report report = explore(database, {"two sessions that touch two rows crosswise",
                                           {{touch(1), touch(2), commit()}, {touch(2), touch(1), commit()}}});
  EXPECT_THAT(report.answers, Contains(::testing::EndsWith("40P01")));
  EXPECT_EQ(report.violating, 0U);
}

TEST_F(Explorer, AFailureThatNoScheduleExplainsIsThrownWithTheSchedule) {
  const Step look = sql("look", "SELECT 1");
  try {
    static_cast<void>(explore(database, {"a wrong statement", {{look, sql("wrong", "SELECT 1/0")}, {look}}}));
    FAIL();
  } catch (const std::runtime_error& failure) {
    EXPECT_THAT(failure.what(), ::testing::HasSubstr("after 1.look 1.wrong"));
  }
}

}  // namespace
}  // namespace idem::interleavings
