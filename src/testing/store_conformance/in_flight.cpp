// Duplicates that would rather wait.
#pragma once

#include <future>

#include "idem/testing/store_conformance/suite.hpp"

namespace idem {
inline namespace v0 {
namespace testing {

TYPED_TEST_P(StoreConformance, InFlightWaitEndsWithTheAnswerOfTheOneThatCommits) {
  auto winner = this->begin();
  const Lease lease =
      expect_acquired(winner.store().reserve(this->key(), this->request(), this->options()), How::fresh)
          .lease;
  auto same = std::async(std::launch::async,
                         [&] { return this->reserve(this->key(), this->request(), this->waiting()); });
  auto other = std::async(std::launch::async,
                          [&] { return this->reserve(this->key(), this->other_request(), this->waiting()); });
  // Not for the order: only one that does not wait has answered by now.
  EXPECT_EQ(same.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  EXPECT_EQ(other.wait_for(std::chrono::milliseconds{0}), std::future_status::timeout);
  winner.store().complete(lease, this->answer());
  winner.commit();
  EXPECT_EQ(expect<Replay>(same.get()).response, this->answer());
  expect<Mismatch>(other.get());
}

TYPED_TEST_P(StoreConformance, InFlightWaitAcquiresWhatIsRolledBack) {
  auto winner = this->begin();
  expect_acquired(winner.store().reserve(this->key(), this->request(), this->options()), How::fresh);
  auto next = std::async(std::launch::async,
                         [&] { return this->reserve(this->key(), this->request(), this->waiting()); });
  EXPECT_EQ(next.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  winner.rollback();
  expect_acquired(next.get(), How::fresh);
}

// Fault 65.
TYPED_TEST_P(StoreConformance, InFlightWaitThatIsOverIsInProgressAndTheTransactionUsable) {
  ReserveOptions briefly = this->options();
  briefly.on_in_flight = OnInFlight::wait(std::chrono::milliseconds{20});
  auto winner = this->begin();
  const Lease lease =
      expect_acquired(winner.store().reserve(this->key(), this->request(), this->options()), How::fresh)
          .lease;
  auto loser = this->begin();
  const InProgress answer = expect<InProgress>(loser.store().reserve(this->key(), this->request(), briefly));
  EXPECT_GE(answer.retry_after, std::chrono::milliseconds{1});
  this->expect_usable(loser);
  if (this->done([&] {
        winner.store().complete(lease, this->answer());
        winner.commit();
      })) {
    expect<Replay>(this->reserve(this->key(), this->request(), briefly));
  }
}

// Around an outside call the reservation is committed, and settled in another transaction.
TYPED_TEST_P(StoreConformance, InFlightWaitForACommittedReservationEndsWhenItIsSettled) {
  const Lease lease = this->acquire(this->key());
  if (this->keeps_its_snapshot()) {
    // Nothing that is committed later can be seen, so it is told at once, however long it would wait.
    expect<InProgress>(this->reserve(this->key(), this->request(), this->waiting()));
  } else {
    auto next = std::async(std::launch::async,
                           [&] { return this->reserve(this->key(), this->request(), this->waiting()); });
    EXPECT_EQ(next.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
    this->complete(lease);
    expect<Replay>(next.get());
  }
}

TYPED_TEST_P(StoreConformance, InFlightWaitOfLessThanNoTimeOrTooLongIsRefused) {
  for (const auto longest : {std::chrono::milliseconds{-1}, std::chrono::milliseconds{3'600'001}}) {
    ReserveOptions waiting = this->options();
    waiting.on_in_flight = OnInFlight::wait(longest);
    EXPECT_THROW((void)this->reserve(this->key(), this->request(), waiting), InvalidArgument);
  }
  EXPECT_FALSE(this->find(this->key()));
}

}  // namespace testing
}  // namespace v0
}  // namespace idem
