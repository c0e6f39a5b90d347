// The service's unit tests: the code that runs on PostgreSQL, on tables in memory.
#include "payment_service.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "answer.hpp"
#include "examples/memory_repository.hpp"
#include "idem/memory/database.hpp"
#include "idem/testing/fake_clock.hpp"
#include "idem/testing/race.hpp"
#include "redelivery.hpp"

namespace payments {
namespace {

PaymentRequest request(const std::string& principal, const std::string& key, std::int64_t amount_cents,
                       const std::string& redeliver_event = "false") {
  return RequestLineReader{}.read(
      R"({"principal":")" + principal + R"(","key":")" + key + R"(","redeliver_event":)" + redeliver_event +
      R"(,"body":{"amount_cents":)" + std::to_string(amount_cents) +
      R"(,"currency":"EUR","offering_id":"cpp-20","payment_method_token":"tok"}})");
}

class PaymentServiceTest : public ::testing::Test {
 protected:
  Answer pay(const PaymentRequest& asked) {
    return answer_to(service_.pay([this] { return database_.begin(); }, asked));
  }
  idem::Delivery deliver(const PaymentAuthorized& event) {
    auto tx = database_.begin();
    const idem::Delivery delivery = service_.deliver(tx, event);
    tx.commit();
    return delivery;
  }
  void expect_rows(std::size_t payments, std::size_t seats, std::size_t receipts) {
    auto tx = database_.begin();
    EXPECT_EQ(repository_.payments(tx), payments);
    EXPECT_EQ(repository_.seats(tx), seats);
    EXPECT_EQ(repository_.receipts(tx), receipts);
  }

  idem::memory::Database database_;
  MemoryRepository repository_{database_};
  PaymentService<idem::memory::Database, MemoryRepository> service_{database_, repository_};
};

TEST_F(PaymentServiceTest, ARetryGetsTheFirstAnswerAndChargesNothing) {
  const Answer first = pay(request("ann", "k1", 1290));
  EXPECT_EQ(first.outcome, "executed");
  EXPECT_EQ(first.response.status, 201);
  const Answer retry = pay(request("ann", "k1", 1290));
  EXPECT_EQ(retry.outcome, "replayed");
  EXPECT_EQ(retry.response, first.response);
  expect_rows(1, 1, 1);
}

TEST_F(PaymentServiceTest, ADeclineIsKeptAndReplayed) {
  const Answer first = pay(request("ann", "k1", 1313));
  EXPECT_EQ(first.outcome, "executed");
  EXPECT_EQ(first.response.status, 402);
  const Answer retry = pay(request("ann", "k1", 1313));
  EXPECT_EQ(retry.outcome, "replayed");
  EXPECT_EQ(retry.response, first.response);
  expect_rows(1, 0, 0);
  // For the record it is a decision against the command, not a success.
  auto tx = database_.begin();
  const auto record = database_.store(tx)->find(request("ann", "k1", 1313).command.key);
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->state, idem::State::failed);
}

TEST_F(PaymentServiceTest, OnlyTheLastTwoDigitsDecideADecline) {
  EXPECT_EQ(pay(request("ann", "k1", 13)).response.status, 402);
  EXPECT_EQ(pay(request("ann", "k2", 113)).response.status, 402);
  EXPECT_EQ(pay(request("ann", "k3", 1300)).response.status, 201);
  EXPECT_EQ(pay(request("ann", "k4", 131)).response.status, 201);
}

TEST_F(PaymentServiceTest, AnotherAmountUnderTheSameKeyIsAMismatch) {
  (void)pay(request("ann", "k1", 1290));
  const Answer changed = pay(request("ann", "k1", 1291));
  EXPECT_EQ(changed.outcome, "mismatch");
  EXPECT_EQ(changed.response.status, 422);
  expect_rows(1, 1, 1);
}

TEST_F(PaymentServiceTest, TwoPrincipalsMayUseOneKey) {
  EXPECT_EQ(pay(request("ann", "k1", 1290)).outcome, "executed");
  EXPECT_EQ(pay(request("bob", "k1", 1290)).outcome, "executed");
  expect_rows(2, 2, 2);
}

TEST_F(PaymentServiceTest, ASecondKeyForAHeldSeatIsANewChargeAndNoNewSeat) {
  (void)pay(request("ann", "k1", 1290));
  const Answer second = pay(request("ann", "k2", 1290));
  EXPECT_EQ(second.outcome, "executed");
  expect_rows(2, 1, 2);
}

TEST_F(PaymentServiceTest, TheAnswerTellsOfThePaymentAndNotOfTheSeat) {
  const Answer answer = pay(request("ann", "k1", 1290));
  EXPECT_EQ(idem::body_text(answer.response),
            R"({"payment_id":")" + payment_id_in(answer.response) +
                R"(","state":"authorized","amount_cents":1290,"currency":"EUR","offering_id":"cpp-20"})");
}

TEST_F(PaymentServiceTest, TheEventOfAPaymentHasItsIdAndAnAge) {
  const auto asked = request("ann", "k1", 1290, "true");
  const Answer answer = pay(asked);
  const PaymentAuthorized event = event_to_redeliver(asked, answer).value();
  EXPECT_EQ(event.identity.source, "payments");
  EXPECT_EQ(event.identity.id, payment_id_in(answer.response));
  EXPECT_EQ(event.payment_id, event.identity.id);
  EXPECT_EQ(event.principal, "ann");
  EXPECT_EQ(event.offering_id, "cpp-20");
  EXPECT_TRUE(idem::time_of(event.identity).has_value());
}

TEST_F(PaymentServiceTest, TheSameEventAgainIsADuplicate) {
  const auto asked = request("ann", "k1", 1290, "true");
  const Answer first = pay(asked);
  EXPECT_EQ(deliver(event_to_redeliver(asked, first).value()), idem::Delivery::duplicate);
  const Answer retry = pay(asked);
  EXPECT_EQ(retry.outcome, "replayed");
  EXPECT_EQ(deliver(event_to_redeliver(asked, retry).value()), idem::Delivery::duplicate);
  expect_rows(1, 1, 1);
}

TEST_F(PaymentServiceTest, TheSameFactUnderANewEventIdIsAppliedAndChangesNothing) {
  const auto asked = request("ann", "k1", 1290, "\"new_id\"");
  const Answer first = pay(asked);
  const PaymentAuthorized event = event_to_redeliver(asked, first).value();
  EXPECT_NE(event.identity.id, payment_id_in(first.response));
  EXPECT_EQ(event.payment_id, payment_id_in(first.response));
  EXPECT_EQ(deliver(event), idem::Delivery::applied);
  EXPECT_EQ(deliver(event), idem::Delivery::duplicate);
  EXPECT_EQ(deliver(event_to_redeliver(asked, pay(asked)).value()), idem::Delivery::applied);
  expect_rows(1, 1, 1);
}

TEST_F(PaymentServiceTest, NothingIsRedeliveredUnlessAPaymentWasAuthorizedAndItWasAskedFor) {
  const auto redelivered = [this](const PaymentRequest& asked) {
    return event_to_redeliver(asked, pay(asked)).has_value();
  };
  EXPECT_FALSE(redelivered(request("ann", "k1", 1290, "false")));
  EXPECT_FALSE(redelivered(request("ann", "k1", 1291, "true")));  // a mismatch
  EXPECT_FALSE(redelivered(request("ann", "k2", 1313, "true")));  // declined
  EXPECT_FALSE(redelivered(request("ann", "k2", 1313, "true")));  // and replayed
  EXPECT_FALSE(event_to_redeliver(request("ann", "k3", 1290, "true"), refusal("no")));
  EXPECT_TRUE(redelivered(request("ann", "k1", 1290, "true")));
}

TEST_F(PaymentServiceTest, AnEventThatFailsIsNotSeenAndIsAppliedWhenItComesAgain) {
  const auto asked = request("ann", "k1", 1290, "\"new_id\"");
  const PaymentAuthorized event = event_to_redeliver(asked, pay(asked)).value();
  repository_.fail_at_the_receipt = true;
  EXPECT_THROW((void)deliver(event), std::runtime_error);
  repository_.fail_at_the_receipt = false;
  EXPECT_EQ(deliver(event), idem::Delivery::applied);
  expect_rows(1, 1, 1);
}

TEST_F(PaymentServiceTest, ManyThreadsDeliverOneNewEventAndOneAppliesIt) {
  const auto asked = request("ann", "k1", 1290, "\"new_id\"");
  const PaymentAuthorized event = event_to_redeliver(asked, pay(asked)).value();
  constexpr std::size_t threads = 16;
  std::vector<idem::Delivery> deliveries(threads);
  idem::testing::race(threads, [&](std::size_t i) { deliveries[i] = deliver(event); });
  EXPECT_EQ(std::count(deliveries.begin(), deliveries.end(), idem::Delivery::applied), 1);
  EXPECT_EQ(std::count(deliveries.begin(), deliveries.end(), idem::Delivery::duplicate), 15);
  expect_rows(1, 1, 1);
}

// The service's ids come from its own clock, the inbox judges them by the database's.
struct OtherClock {
  explicit OtherClock(std::chrono::hours ahead_of_the_service)
      : database{std::make_shared<idem::testing::FakeClock>(
            std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()) +
            ahead_of_the_service)} {}
  Answer pay() {
    return answer_to(service.pay([this] { return database.begin(); }, request("ann", "k1", 1290)));
  }
  [[nodiscard]] std::size_t seats() {
    auto tx = database.begin();
    return repository.seats(tx);
  }

  idem::memory::Database database;
  MemoryRepository repository{database};
  PaymentService<idem::memory::Database, MemoryRepository> service{database, repository};
};

TEST(PaymentServiceClock, AheadOfTheDatabasesIsNoReasonToRefuseASeat) {
  OtherClock behind{-std::chrono::hours{24}};
  EXPECT_EQ(behind.pay().response.status, 201);
  EXPECT_EQ(behind.seats(), 1);
}

TEST(PaymentServiceClock, LongBehindTheDatabasesThereIsNoPaymentWithoutItsSeat) {
  OtherClock ahead{std::chrono::hours{24 * 8}};
  EXPECT_THROW((void)ahead.pay(), std::runtime_error);
  EXPECT_EQ(ahead.seats(), 0);
  EXPECT_EQ(ahead.database.record_count(), 0);
}

TEST_F(PaymentServiceTest, AnExceptionLeavesNothingAndTheRetryRuns) {
  repository_.fail_at_the_receipt = true;
  EXPECT_THROW((void)pay(request("ann", "k1", 1290)), std::runtime_error);
  expect_rows(0, 0, 0);
  repository_.fail_at_the_receipt = false;
  EXPECT_EQ(pay(request("ann", "k1", 1290)).outcome, "executed");
  expect_rows(1, 1, 1);
}

TEST_F(PaymentServiceTest, ALostAnswerToTheCommitChargesOnce) {
  database_.lose_next_commit(idem::memory::LostCommit::after_applying);
  EXPECT_EQ(pay(request("ann", "k1", 1290)).outcome, "replayed");
  database_.lose_next_commit(idem::memory::LostCommit::before_applying);
  EXPECT_EQ(pay(request("bob", "k1", 1290)).outcome, "executed");
  expect_rows(2, 2, 2);
}

TEST_F(PaymentServiceTest, ADoubleClickOfManyThreadsChargesOnce) {
  constexpr std::size_t threads = 16;
  std::vector<Answer> answers(threads);
  const PaymentRequest asked = request("ann", "k1", 1290);
  idem::testing::race(threads, [&](std::size_t i) { answers[i] = pay(asked); });
  std::size_t executed = 0;
  for (const Answer& answer : answers) {
    executed += answer.outcome == "executed" ? 1 : 0;
    EXPECT_NE(answer.outcome, "mismatch");
  }
  EXPECT_EQ(executed, 1);
  expect_rows(1, 1, 1);
}

}  // namespace
}  // namespace payments
