#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "postgres/test_database.hpp"
#include "tools/run_idemctl.hpp"

namespace idem::test {
namespace {

class IdemctlInboxShow : public ::testing::Test {
 protected:
  [[nodiscard]] Ended show(const std::string& consumer, const std::string& source, const std::string& event,
                           const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"inbox",          "show",
                                   "--database-url", postgres_test::url_of_server(),
                                   "--schema",       database.schema(),
                                   "--consumer",     consumer,
                                   "--source",       source,
                                   "--event",        event};
    words.insert(words.end(), more.begin(), more.end());
    return run_idemctl(words);
  }

  void receive(const std::string& consumer, const EventIdentity& event) const {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    ASSERT_EQ(database.backend().inbox_store(tx)->receive(consumer, {&event, 1},
                                                          {.unknown_age = UnknownAge::apply}),
              std::vector{Delivery::applied});
    tx.commit();
    database.execute(
        "UPDATE idem_inbox SET received_at = '2024-02-29 23:59:59.000001+00', keep_until = '2999-01-01 "
        "01:00:00+01'");
  }

  static void expect_unseen(const Ended& run) {
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.error, "idemctl: this consumer has not seen that event, or the row was purged\n");
  }

  const postgres_test::TestDatabase database{};
};

TEST_F(IdemctlInboxShow, TellsWhenTheEventWasReceivedAndHowLongThatIsKept) {
  receive("enrolment", {"payments", "o'brien\n1"});
  const Ended run = show("enrolment", "payments", "o'brien\n1");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(run.out,
            "consumer     enrolment\n"
            "source       payments\n"
            "event id     o'brien\\x0a1\n"
            "received at  2024-02-29T23:59:59.000001Z\n"
            "keep until   2999-01-01T00:00:00.000000Z\n");
}

TEST_F(IdemctlInboxShow, ExitsWith1WhereTheConsumerHasNotSeenTheEvent) {
  receive("enrolment", {"payments", "1"});
  expect_unseen(show("mail", "payments", "1"));
  expect_unseen(show("enrolment", "refunds", "1"));
  expect_unseen(show("enrolment", "payments", "2"));
}

TEST_F(IdemctlInboxShow, TakesTheTablesName) {
  receive("enrolment", {"payments", "1"});
  database.execute("ALTER TABLE idem_inbox RENAME TO other");
  EXPECT_EQ(show("enrolment", "payments", "1", {"--inbox-table", "other"}).exit_code, 0);
  EXPECT_THAT(show("enrolment", "payments", "1").error,
              ::testing::StartsWith("idemctl: idem's tables are missing"));
}

TEST_F(IdemctlInboxShow, RefusesWhatCannotBeAnIdentity) {
  expect_refused(show("", "s", "e"), "--consumer is needed, and must not be empty");
  expect_refused(show("c", "", "e"), "--source is needed, and must not be empty");
  expect_refused(show("c", "s", ""), "--event is needed, and must not be empty");
  expect_refused(show("\xff", "s", "e"), "a consumer's name must be UTF-8 without NUL");
  expect_refused(show("c", "s", std::string(513, 'e')), "an event's id must be 1 to 512 bytes long");
}

}  // namespace
}  // namespace idem::test
