// Payments through an acquirer, as the service's own authors would test them: in memory.
#include "charge_operation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "answer.hpp"
#include "examples/memory_repository.hpp"
#include "idem/memory/database.hpp"
#include "idem/testing/fake_acquirer.hpp"
#include "idem/testing/fake_clock.hpp"
#include "payment_service.hpp"

namespace payments {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using idem::testing::FakeAcquirer;
using idem::testing::FakeCharge;

PaymentRequest request(std::int64_t amount_cents = 1290, const std::string& key = "k1") {
  return RequestLineReader{}.read(R"({"principal":"ann","key":")" + key + R"(","body":{"amount_cents":)" +
                                  std::to_string(amount_cents) +
                                  R"(,"currency":"EUR","offering_id":"cpp-20",)"
                                  R"("payment_method_token":"tok_secret"}})");
}

class ChargeOperationTest : public ::testing::Test {
 protected:
  ChargeOperationTest() { use(acquirer_); }

  // The fake sees all of a charge, and refuses one that differs under a key it knows.
  void use(FakeAcquirer& acquirer) {
    charging_.ask = [this, &acquirer](const std::string& key, const Charge& charge,
                                      std::chrono::milliseconds deadline) -> ChargeAnswer {
      EXPECT_GT(deadline, 0ms);
      EXPECT_LE(deadline, charging_.lease);
      if (before_call_) std::exchange(before_call_, nullptr)();
      const auto result =
          acquirer.charge(key, std::to_string(charge.amount_cents) + " " + charge.currency + " " +
                                   charge.payment_method_token + " " + charge.reference);
      if (const auto* unknown = std::get_if<idem::ResultUnknown>(&result))
        throw AcquirerUnknown{unknown->why};
      const auto& answer = std::get<FakeAcquirer::Answer>(result);
      if (answer.approved) return Approved{answer.reference, "2026-01-31T23:59:59Z"};
      return Declined{answer.reference, "2026-01-31T23:59:59Z"};
    };
  }
  auto begin() {
    return [this] { return database_.begin(); };
  }
  Answer pay(const PaymentRequest& asked = request()) {
    return answer_to(service_.charge(begin(), asked, charging_));
  }
  // `settled`, `unknown`, `passed_over`, `failed` of a pass.
  std::vector<std::size_t> sweep() {
    const auto passed = service_.sweep(begin(), charging_, {});
    return {passed.settled, passed.unknown, passed.passed_over, passed.failed};
  }
  PendingCharge row() {
    auto tx = database_.begin();
    return repository_.only_charge(tx);
  }
  std::vector<std::string> events() {
    auto tx = database_.begin();
    std::vector<std::string> types;
    for (const auto& event : database_.outbox_events(tx)) {
      EXPECT_EQ(event.message.aggregate_type, "payment");
      types.push_back(event.message.event_type);
    }
    return types;
  }
  // One charge, its approval in the row and in the answer, one event.
  void expect_authorized(const Answer& answer) {
    ASSERT_EQ(acquirer_.ledger().size(), 1);
    const Payment payment = row().payment;
    EXPECT_EQ(payment.state, PaymentState::authorized);
    EXPECT_EQ(payment.charge_id, "ch_1");
    EXPECT_EQ(row().payment_method_token, "");
    EXPECT_EQ(acquirer_.ledger()[0].key, row().downstream_key);
    EXPECT_EQ(acquirer_.ledger()[0].parameters, "1290 EUR tok_secret " + payment.id);
    EXPECT_THAT(events(), ElementsAre("PaymentAuthorized"));
    EXPECT_EQ(answer.response.status, 201);
    EXPECT_EQ(idem::body_text(answer.response),
              R"({"payment_id":")" + payment.id +
                  R"(","state":"authorized","amount_cents":1290,"currency":"EUR","offering_id":"cpp-20",)"
                  R"("charge_id":"ch_1"})");
  }

  std::shared_ptr<idem::testing::FakeClock> clock_ = std::make_shared<idem::testing::FakeClock>();
  idem::memory::Database database_{clock_};
  MemoryRepository repository_{database_};
  PaymentService<idem::memory::Database, MemoryRepository> service_{database_, repository_};
  FakeAcquirer acquirer_;
  Charging charging_;
  std::function<void()> before_call_;
};

TEST_F(ChargeOperationTest, ARetryGetsTheFirstAnswerAndCallsNobody) {
  const Answer first = pay();
  EXPECT_EQ(first.outcome, "executed");
  expect_authorized(first);
  const Answer retry = pay();
  EXPECT_EQ(retry.outcome, "replayed");
  EXPECT_EQ(retry.response, first.response);
  EXPECT_EQ(acquirer_.calls(), 1);
}

TEST_F(ChargeOperationTest, ThePaymentIsPendingWithItsTokenWhileTheAcquirerIsAsked) {
  before_call_ = [this] {
    EXPECT_EQ(row().payment.state, PaymentState::pending);
    EXPECT_EQ(row().payment_method_token, "tok_secret");
    EXPECT_THAT(events(), IsEmpty());
    EXPECT_EQ(pay().outcome, "in_progress");
    EXPECT_EQ(pay(request(1291)).outcome, "mismatch");
  };
  expect_authorized(pay());
  EXPECT_EQ(acquirer_.calls(), 1);
}

TEST_F(ChargeOperationTest, ADeclineIsKeptToldAndReplayed) {
  acquirer_.then(FakeCharge::decline);
  const Answer first = pay();
  EXPECT_EQ(first.outcome, "executed");
  EXPECT_EQ(first.response.status, 402);
  EXPECT_EQ(row().payment.state, PaymentState::declined);
  EXPECT_EQ(row().payment.charge_id, "ch_1");
  EXPECT_EQ(row().payment_method_token, "");
  EXPECT_THAT(events(), ElementsAre("PaymentDeclined"));
  const Answer retry = pay();
  EXPECT_EQ(retry.outcome, "replayed");
  EXPECT_EQ(retry.response, first.response);
  EXPECT_EQ(acquirer_.calls(), 1);
}

TEST_F(ChargeOperationTest, AfterATimeOutTheSameChargeIsAskedForAgain) {
  for (const FakeCharge lost :
       {FakeCharge::time_out_before, FakeCharge::time_out_before, FakeCharge::time_out_after}) {
    acquirer_.then(lost);
    const Answer answer = pay();
    EXPECT_EQ(answer.outcome, "in_progress");
    EXPECT_EQ(answer.response.status, 409);
    EXPECT_GT(answer.retry_after.value(), 0ms);
    EXPECT_EQ(row().payment.state, PaymentState::pending);
    EXPECT_THAT(events(), IsEmpty());
  }
  const Answer retry = pay();
  EXPECT_EQ(retry.outcome, "executed");
  expect_authorized(retry);
  EXPECT_EQ(acquirer_.calls(), 4);
}

TEST_F(ChargeOperationTest, ASweepAsksForWhatNobodyRetries) {
  acquirer_.then(FakeCharge::time_out_after);
  (void)pay();
  EXPECT_THAT(sweep(), ElementsAre(1, 0, 0, 0));
  expect_authorized(pay());
  EXPECT_THAT(sweep(), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(acquirer_.calls(), 2);
}

TEST_F(ChargeOperationTest, WhereItCannotDeduplicateATimeOutIsUnknownAndToldToNobodyElse) {
  FakeAcquirer forgetful{false};
  use(forgetful);
  charging_.deduplicates = false;
  forgetful.then(FakeCharge::time_out_after);
  const Answer first = pay();
  EXPECT_EQ(first.outcome, "unknown");
  EXPECT_EQ(first.response.status, 202);
  EXPECT_EQ(idem::body_text(first.response),
            R"({"payment_id":")" + row().payment.id +
                R"(","state":"unknown","amount_cents":1290,"currency":"EUR","offering_id":"cpp-20"})");
  EXPECT_EQ(row().payment.state, PaymentState::unknown);
  EXPECT_EQ(row().payment_method_token, "");
  EXPECT_THAT(events(), IsEmpty());

  clock_->advance(1h);
  const Answer retry = pay();
  EXPECT_EQ(retry.outcome, "unknown");
  EXPECT_EQ(retry.response, first.response);
  EXPECT_THAT(sweep(), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(forgetful.calls(), 1);
}

TEST_F(ChargeOperationTest, BeyondTheAcquirersWindowItIsUnknownToo) {
  acquirer_.then(FakeCharge::time_out_after);
  (void)pay();
  clock_->advance(24h);
  EXPECT_THAT(sweep(), ElementsAre(0, 1, 0, 0));
  EXPECT_EQ(row().payment.state, PaymentState::unknown);
  EXPECT_THAT(events(), IsEmpty());
  const Answer retry = pay();
  EXPECT_EQ(retry.outcome, "unknown");
  EXPECT_EQ(retry.response.status, 202);
  EXPECT_EQ(acquirer_.calls(), 1);
}

TEST_F(ChargeOperationTest, AnAttemptThatWasOvertakenGivesTheAnswerOfTheOther) {
  // The first one hangs for longer than its lease, and a sweep settles the payment meanwhile.
  before_call_ = [this] {
    clock_->advance(1min);
    EXPECT_THAT(sweep(), ElementsAre(1, 0, 0, 0));
  };
  const Answer late = pay();
  EXPECT_EQ(late.outcome, "replayed");
  expect_authorized(late);
}

TEST_F(ChargeOperationTest, AKeyThatComesAgainAfterItsRetentionIsNeverGivenTheOldCharge) {
  (void)pay();
  const std::string old = row().payment.id;
  clock_->advance(24h * 4);
  // The acquirer remembers the key, with another reference.
  EXPECT_EQ(pay().outcome, "in_progress");
  EXPECT_NE(row().payment.id, old);
  EXPECT_EQ(row().payment.charge_id, "");
  // One that has forgotten it charges.
  FakeAcquirer forgetful;
  use(forgetful);
  EXPECT_EQ(pay().outcome, "executed");
  EXPECT_EQ(forgetful.ledger().size(), 1);
}

TEST_F(ChargeOperationTest, ALostCommitAfterTheCallChargesOnce) {
  before_call_ = [this] { database_.lose_next_commit(idem::memory::LostCommit::after_applying); };
  const Answer answer = pay();
  expect_authorized(answer);
  EXPECT_EQ(acquirer_.calls(), 1);
}

TEST_F(ChargeOperationTest, ALostCommitBeforeTheCallChargesOnceWithWhatIsInTheRow) {
  database_.lose_next_commit(idem::memory::LostCommit::before_applying);
  expect_authorized(pay());
  EXPECT_EQ(acquirer_.calls(), 1);
}

TEST_F(ChargeOperationTest, LeaseAndDeadlineHaveToGoTogether) {
  charging_.deadline = charging_.lease;
  EXPECT_THROW(validate(charging_), idem::InvalidArgument);
  charging_.deadline = charging_.lease - 1ms;
  validate(charging_);
  expect_authorized(pay());
}

}  // namespace
}  // namespace payments
