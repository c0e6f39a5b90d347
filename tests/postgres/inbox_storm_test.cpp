// A storm of redeliveries, at each level.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <pqxx/pqxx>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "idem/event/inbox.hpp"
#include "idem/testing/race.hpp"
#include "postgres/test_database.hpp"
#include "postgres/test_unit.hpp"

namespace idem::postgres_test {
namespace {

struct SeatTaken {
  EventIdentity identity;
  std::size_t number = 0;
};

struct ConsumerFailure : std::runtime_error {
  ConsumerFailure() : std::runtime_error{"the consumer fails, as the test asks for"} {}
};

// Fails the first time on every third event, after its business write.
struct Enrolment {
  static constexpr std::string_view name = "enrolment";

  void apply(pqxx::dbtransaction& tx, const SeatTaken& event) {
    tx.exec("INSERT INTO seat VALUES (" + std::to_string(event.number) + ")");
    if (event.number % 3 == 0 && tries.at(event.number)++ == 0) throw ConsumerFailure{};
  }

  std::vector<std::atomic<int>> tries;
};

class InboxStorm : public ::testing::TestWithParam<TransactionKind> {};

INSTANTIATE_TEST_SUITE_P(ReadCommitted, InboxStorm, ::testing::Values(read_committed));
INSTANTIATE_TEST_SUITE_P(RepeatableRead, InboxStorm, ::testing::Values(repeatable_read));
INSTANTIATE_TEST_SUITE_P(Serializable, InboxStorm, ::testing::Values(serializable));

// IDEM_STORM_EVENTS, or 2,000.
std::size_t number_of_events() {
  const char* const asked =
      std::getenv("IDEM_STORM_EVENTS");  // NOLINT(concurrency-mt-unsafe): nothing sets it
  const std::size_t number = asked == nullptr ? 2'000 : std::stoul(asked);
  if (number < 100) throw std::invalid_argument{"IDEM_STORM_EVENTS: so few are no storm"};
  return number;
}

TEST_P(InboxStorm, OfManyEventsFourTimesEachIsAppliedOnce) {
  constexpr std::size_t threads = 64;
  const std::size_t distinct = number_of_events();
  const TestDatabase database{{}, GetParam()};
  // Without a unique key, so that a second effect shows.
  database.execute("CREATE TABLE seat (number bigint NOT NULL)");

  std::vector<std::size_t> storm;
  for (int copy = 0; copy < 4; ++copy) {
    for (std::size_t number = 0; number < distinct; ++number) storm.push_back(number);
  }
  std::shuffle(storm.begin(), storm.end(), std::mt19937{20261130});

  Enrolment enrolment{std::vector<std::atomic<int>>(distinct)};
  Inbox inbox{database.backend(), enrolment, {.unknown_age = UnknownAge::apply}};
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> applied{0};
  std::atomic<std::size_t> duplicates{0};
  std::atomic<std::size_t> failures{0};
  std::atomic<std::size_t> conflicts{0};
  testing::race(threads, [&](std::size_t) {
    for (std::size_t at = next++; at < storm.size(); at = next++) {
      const SeatTaken event{{"payments", std::to_string(storm[at]), std::nullopt}, storm[at]};
      for (bool again = true; again;) {
        again = false;
        try {
          TestUnit unit{database};
          const Delivery delivery = inbox.deliver(unit.transaction(), event);
          unit.commit();
          ++(delivery == Delivery::applied ? applied : duplicates);
        } catch (const ConsumerFailure&) {
          ++failures;
          again = true;  // as a broker redelivers what was not acknowledged
        } catch (...) {
          if (database.backend().failure_of(std::current_exception()) != Failure::transient) throw;
          ++conflicts;
          again = true;  // the caller's loop
        }
      }
    }
  });

  std::cout << "inbox storm, " << GetParam().isolation << ": " << storm.size() << " deliveries of "
            << distinct << " events by " << threads << " threads: " << applied << " applied, " << duplicates
            << " duplicates, " << failures << " consumers failed, " << conflicts << " conflicts run again\n";
  EXPECT_EQ(applied, distinct);
  EXPECT_EQ(duplicates, 3 * distinct);
  EXPECT_GE(failures, distinct / 3);
  EXPECT_EQ(database.number("SELECT count(*) FROM seat"), distinct);
  EXPECT_EQ(database.number("SELECT count(DISTINCT number) FROM seat"), distinct);
  EXPECT_EQ(database.number("SELECT count(*) FROM idem_inbox"), distinct);
}

}  // namespace
}  // namespace idem::postgres_test
