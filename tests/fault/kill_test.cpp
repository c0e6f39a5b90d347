// SIGKILL at crash point 1, 2, 3, … of a command in one transaction, until none fires.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <pqxx/pqxx>
#include <string>

#include "idem/command/execute.hpp"
#include "idem/command/transact.hpp"
#include "idem/event/inbox.hpp"
#include "idem/request/fingerprint.hpp"
#include "postgres/test_database.hpp"

namespace idem::postgres_test {
namespace {

// Kills the process at its n-th point: no destructor, no rollback, no goodbye to the server.
class CrashPoints {
 public:
  explicit CrashPoints(int fatal) : fatal_{fatal} {}
  void reach() {
    if (++reached_ == fatal_) ::kill(::getpid(), SIGKILL);
  }

 private:
  int fatal_;
  int reached_ = 0;
};

struct SeatTaken {
  EventIdentity identity;
};

// An event's consumer, with a point on each side of each statement.
struct Enrolment {
  static constexpr std::string_view name = "enrolment";

  void apply(pqxx::work& tx, const SeatTaken& event) const {
    points.reach();
    tx.exec("INSERT INTO payment VALUES (" + tx.quote(event.identity.id) + ")");
    points.reach();
    tx.exec("INSERT INTO receipt VALUES (" + tx.quote(event.identity.id) + ")");
    points.reach();
  }

  CrashPoints& points;
};

class Kill : public ::testing::Test {
 protected:
  Kill() {
    database.execute("CREATE TABLE payment (key text NOT NULL); CREATE TABLE receipt (key text NOT NULL)");
  }

  Request request(const std::string& name) const {
    return {{"p", "op", name},
            Fingerprinter{}({.method = "POST", .operation = "op", .query = {}, .body = "{}"})};
  }

  // A command as a service would write it, with a point on each side of each statement and of the COMMIT.
  void command(const Request& asked, CrashPoints& points) const {
    const auto connection = database.connect();
    points.reach();
    pqxx::work tx{*connection};
    points.reach();
    static_cast<void>(execute(database.backend(), tx, asked, [&](pqxx::work& open, const Lease&) {
      points.reach();
      open.exec("INSERT INTO payment VALUES (" + open.quote(asked.key.value) + ")");
      points.reach();
      open.exec("INSERT INTO receipt VALUES (" + open.quote(asked.key.value) + ")");
      points.reach();
      return completed(text_response(201, asked.key.value));
    }));
    points.reach();
    tx.commit();
    points.reach();
  }

  // Runs `run(points)` in a child that dies at `fatal`; true where the point was reached.
  template <class Run>
  [[nodiscard]] bool killed_at(int fatal, const Run& run) const {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        CrashPoints points{fatal};
        run(points);
      } catch (...) {
        ::_exit(2);
      }
      ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "the child failed at point " << fatal;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

  // The client's retries: while the server has not noticed the death, "in progress"; then the one answer.
  [[nodiscard]] Response retried(const Request& asked) const {
    for (;;) {
      const Outcome outcome = transact(
          database.backend(), [&] { return Retry{database}; }, asked,
          [&](pqxx::work& tx, const Lease&) {
            tx.exec("INSERT INTO payment VALUES (" + tx.quote(asked.key.value) + ")");
            tx.exec("INSERT INTO receipt VALUES (" + tx.quote(asked.key.value) + ")");
            return completed(text_response(201, asked.key.value));
          });
      if (const auto* executed = std::get_if<Executed>(&outcome)) return executed->response;
      if (const auto* replay = std::get_if<Replay>(&outcome)) return replay->response;
      if (!std::holds_alternative<InProgress>(outcome))
        throw std::logic_error{"neither an answer nor in progress"};
    }
  }

  struct Retry {
    explicit Retry(const TestDatabase& database)
        : connection{database.connect()}, work{std::make_unique<pqxx::work>(*connection)} {}
    pqxx::work& transaction() { return *work; }
    void commit() { work->commit(); }

    std::unique_ptr<pqxx::connection> connection;
    std::unique_ptr<pqxx::work> work;
  };

  TestDatabase database;
};

TEST_F(Kill, AtEveryPointAndTheRetryHasTheEffectOnce) {
  int point = 1;
  for (;; ++point) {
    const std::string name = "killed at " + std::to_string(point);
    const Request asked = request(name);
    const bool killed = killed_at(point, [&](CrashPoints& points) { command(asked, points); });
    const Response first = retried(asked);
    EXPECT_EQ(first, text_response(201, name));
    EXPECT_EQ(retried(asked), first);
    const std::string where = " WHERE key = '" + name + "'";
    EXPECT_EQ(database.number("SELECT count(*) FROM payment" + where), 1) << name;
    EXPECT_EQ(database.number("SELECT count(*) FROM receipt" + where), 1) << name;
    if (!killed) break;
  }
  std::cout << "killed at " << point - 1 << " points\n";
  EXPECT_EQ(point - 1, 7);
  EXPECT_EQ(database.number("SELECT count(*) FROM idem_record WHERE state <> 2"), 0);
}

// Fault 60: at no point is an event marked as seen without its effect, or has its effect without the mark.
TEST_F(Kill, ADeliveryAtEveryPointIsAppliedOnceByTheRedelivery) {
  const auto deliver = [&](const SeatTaken& event, CrashPoints& points) {
    const auto connection = database.connect();
    points.reach();
    pqxx::work tx{*connection};
    points.reach();
    Enrolment consumer{points};
    Inbox inbox{database.backend(), consumer, {.unknown_age = UnknownAge::apply}};
    const Delivery delivery = inbox.deliver(tx, event);
    points.reach();
    tx.commit();
    points.reach();
    return delivery;
  };
  int point = 1;
  for (;; ++point) {
    const SeatTaken event{{"payments", "killed at " + std::to_string(point), std::nullopt}};
    const bool killed =
        killed_at(point, [&](CrashPoints& points) { static_cast<void>(deliver(event, points)); });
    CrashPoints none{0};
    const Delivery second = deliver(event, none);
    // The last point is after the COMMIT.
    EXPECT_EQ(second, point < 7 ? Delivery::applied : Delivery::duplicate);
    EXPECT_EQ(deliver(event, none), Delivery::duplicate);
    const std::string where = " WHERE key = '" + event.identity.id + "'";
    EXPECT_EQ(database.number("SELECT count(*) FROM payment" + where), 1) << event.identity.id;
    EXPECT_EQ(database.number("SELECT count(*) FROM receipt" + where), 1) << event.identity.id;
    if (!killed) break;
  }
  std::cout << "a delivery was killed at " << point - 1 << " points\n";
  EXPECT_EQ(point - 1, 7);
}

// A lease that outlives its holder: a record that was committed unsettled is nobody's success and nobody's second run.
TEST_F(Kill, ACommittedReservationOfADeadProcessIsInProgressAndThenUnknown) {
  const Request asked = request("reserved and died");
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      const auto connection = database.connect();
      pqxx::work tx{*connection};
      static_cast<void>(database.backend().store(tx)->reserve(asked.key, asked.fingerprint));
      tx.commit();
      ::kill(::getpid(), SIGKILL);
    } catch (...) {
    }
    ::_exit(2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));

  const auto ask = [&] {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    const Outcome outcome = execute(database.backend(), tx, asked, [](pqxx::work&, const Lease&) {
      ADD_FAILURE() << "a command whose fate is not known ran again";
      return completed(text_response(201, "twice"));
    });
    tx.commit();
    return outcome;
  };
  EXPECT_TRUE(std::holds_alternative<InProgress>(ask()));
  database.advance(std::chrono::seconds{31});
  EXPECT_TRUE(std::holds_alternative<Unknown>(ask()));
  database.advance(std::chrono::hours{24 * 365});
  EXPECT_TRUE(std::holds_alternative<Unknown>(ask()));
}

}  // namespace
}  // namespace idem::postgres_test
