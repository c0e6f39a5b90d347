// Duplicates that would rather wait.
#include <future>

#include "testing/store_conformance/suite.hpp"

namespace idem {
inline namespace v0 {
namespace testing {
namespace {

CONFORMANCE_TESTS_OF(StoreConformance);

CONFORMANCE_TEST(StoreConformance, InFlightWaitEndsWithTheAnswerOfTheOneThatCommits) {
  auto winner = begin();
  const Lease lease = expect_acquired(winner->store().reserve(key(), request(), options()), How::fresh).lease;
  auto same = std::async(std::launch::async, [&] { return reserve(key(), request(), waiting()); });
  auto other = std::async(std::launch::async, [&] { return reserve(key(), other_request(), waiting()); });
  // Not for the order: only one that does not wait has answered by now.
  EXPECT_EQ(same.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  EXPECT_EQ(other.wait_for(std::chrono::milliseconds{0}), std::future_status::timeout);
  winner->store().complete(lease, answer());
  winner->commit();
  EXPECT_EQ(expect<Replay>(same.get()).response, answer());
  expect<Mismatch>(other.get());
}

CONFORMANCE_TEST(StoreConformance, InFlightWaitAcquiresWhatIsRolledBack) {
  auto winner = begin();
  expect_acquired(winner->store().reserve(key(), request(), options()), How::fresh);
  auto next = std::async(std::launch::async, [&] { return reserve(key(), request(), waiting()); });
  EXPECT_EQ(next.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  winner->rollback();
  expect_acquired(next.get(), How::fresh);
}

// Fault 65.
CONFORMANCE_TEST(StoreConformance, InFlightWaitThatIsOverIsInProgressAndTheTransactionUsable) {
  ReserveOptions briefly = options();
  briefly.on_in_flight = OnInFlight::wait(std::chrono::milliseconds{20});
  auto winner = begin();
  const Lease lease = expect_acquired(winner->store().reserve(key(), request(), options()), How::fresh).lease;
  auto loser = begin();
  const auto told = expect<InProgress>(loser->store().reserve(key(), request(), briefly));
  EXPECT_GE(told.retry_after, std::chrono::milliseconds{1});
  expect_usable(*loser);
  if (done([&] {
        winner->store().complete(lease, answer());
        winner->commit();
      })) {
    expect<Replay>(reserve(key(), request(), briefly));
  }
}

// Around an outside call the reservation is committed, and settled in another transaction.
CONFORMANCE_TEST(StoreConformance, InFlightWaitForACommittedReservationEndsWhenItIsSettled) {
  const Lease lease = acquire(key());
  if (keeps_its_snapshot()) {
    // Nothing that is committed later can be seen, so it is told at once, however long it would wait.
    expect<InProgress>(reserve(key(), request(), waiting()));
  } else {
    auto next = std::async(std::launch::async, [&] { return reserve(key(), request(), waiting()); });
    EXPECT_EQ(next.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
    complete(lease);
    expect<Replay>(next.get());
  }
}

CONFORMANCE_TEST(StoreConformance, InFlightWaitOfLessThanNoTimeOrTooLongIsRefused) {
  for (const auto longest : {std::chrono::milliseconds{-1}, std::chrono::milliseconds{3'600'001}}) {
    ReserveOptions waiting = options();
    waiting.on_in_flight = OnInFlight::wait(longest);
    EXPECT_THROW((void)reserve(key(), request(), waiting), InvalidArgument);
  }
  EXPECT_FALSE(find(key()));
}

}  // namespace

void register_in_flight(const std::string& name, const StoreConformance::MakeFixture& make) {
  register_conformance_cases(name, CONFORMANCE_CASES, make);
}

}  // namespace testing
}  // namespace v0
}  // namespace idem
