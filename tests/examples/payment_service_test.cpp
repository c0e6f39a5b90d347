// The service's unit tests: the code that runs on PostgreSQL, on tables in memory.
#include "payment_service.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "answer.hpp"
#include "idem/memory/database.hpp"
#include "idem/memory/table.hpp"
#include "idem/testing/race.hpp"

namespace payments {
namespace {

using idem::memory::TransactionBase;

class MemoryRepository {
 public:
  explicit MemoryRepository(idem::memory::Database& database)
      : payments_{database}, seats_{database}, receipts_{database} {}

  void add_payment(TransactionBase& tx, const Payment& payment) { payments_.put(tx, payment.id, payment); }
  bool take_seat(TransactionBase& tx, const Payment& payment) {
    return seats_.insert(tx, {payment.order.offering_id, payment.principal}, payment.id);
  }
  void add_receipt(TransactionBase& tx, const Payment& payment) {
    if (fail_at_the_receipt) throw std::runtime_error{"the printer is on fire"};
    receipts_.put(tx, payment.id, true);
  }

  [[nodiscard]] std::size_t payments(TransactionBase& tx) const { return payments_.size(tx); }
  [[nodiscard]] std::size_t seats(TransactionBase& tx) const { return seats_.size(tx); }
  [[nodiscard]] std::size_t receipts(TransactionBase& tx) const { return receipts_.size(tx); }

  bool fail_at_the_receipt = false;

 private:
  idem::memory::Table<std::string, Payment> payments_;
  idem::memory::Table<std::pair<std::string, std::string>, std::string> seats_;
  idem::memory::Table<std::string, bool> receipts_;
};

PaymentRequest request(const std::string& principal, const std::string& key, std::int64_t amount_cents) {
  return RequestLineReader{}.read(
      R"({"principal":")" + principal + R"(","key":")" + key + R"(","body":{"amount_cents":)" +
      std::to_string(amount_cents) +
      R"(,"currency":"EUR","offering_id":"cpp-20","payment_method_token":"tok"}})");
}

class PaymentServiceTest : public ::testing::Test {
 protected:
  Answer pay(const PaymentRequest& asked) {
    return answer_to(service_.pay([this] { return database_.begin(); }, asked));
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
  const auto record = database_.store(tx).find(request("ann", "k1", 1313).command.key);
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
  EXPECT_NE(idem::body_text(second.response).find(R"("seat":"held before")"), std::string::npos);
  expect_rows(2, 1, 2);
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
