// Inbox, VersionGuard and the purge on any backend. Instantiated by each backend's test with a fixture of:
//
//     using Tx = …;                              // what a consumer gets
//     const Backend& backend();
//     Unit begin();                              // as transact() takes it; safe between threads. commit() throws
//                                                // TransactionConflict where a race refuses it
//     void enrol(Tx&, const std::string& id);    // a business write: one row, of a table without a unique key
//     std::size_t enrolled();                    // how many are committed
//     void advance(std::chrono::milliseconds);   // as in store_conformance.hpp
//     TimePoint now();                           // the store's clock
//     std::size_t inbox_rows();
//     bool keeps_its_snapshot();
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "idem/command/purge.hpp"
#include "idem/command/transact.hpp"
#include "idem/event/inbox.hpp"
#include "idem/event/version_guard.hpp"
#include "idem/response/card_guard.hpp"
#include "idem/testing/race.hpp"

namespace idem::conformance {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;

struct TestEvent {
  EventIdentity identity;
};

struct Balance {
  std::string entity;
  std::int64_t version = 0;
};

struct ConsumerFailure : std::runtime_error {
  ConsumerFailure() : std::runtime_error{"the consumer fails, as the test asks for"} {}
};

template <class Fixture>
class InboxConformance : public ::testing::Test {
 protected:
  using Tx = typename Fixture::Tx;

  // Enrols, once more each time it runs, and fails where it is told to.
  struct Enrolment {
    static constexpr std::string_view name = "enrolment";

    void apply(Tx& tx, const TestEvent& event) {
      ++runs;
      fixture.enrol(tx, event.identity.id);
      if (fails) throw ConsumerFailure{};
    }
    void apply(Tx& tx, const Balance& balance) {
      ++runs;
      fixture.enrol(tx, balance.entity + "@" + std::to_string(balance.version));
      if (fails) throw ConsumerFailure{};
    }

    Fixture& fixture;
    std::atomic<int> runs{0};
    std::atomic<bool> fails{false};
  };
  struct Mailer : Enrolment {
    static constexpr std::string_view name = "mailer";
  };
  // The same, all at once.
  struct BatchEnrolment {
    static constexpr std::string_view name = "batch";

    void apply_batch(Tx& tx, std::span<const TestEvent* const> events) {
      ++runs;
      for (const TestEvent* event : events) fixture.enrol(tx, event->identity.id);
    }

    Fixture& fixture;
    int runs = 0;
  };

  // Looks at the payload first, as docs/events.md has it.
  struct Careful {
    static constexpr std::string_view name = "careful";

    void apply(Tx& tx, const TestEvent& event) {
      fixture.enrol(tx, event.identity.id);
      check_no_card_data("the event's payload", payload);
    }

    Fixture& fixture;
    std::string payload{};
  };
  // Fails on one event, always.
  struct Picky {
    static constexpr std::string_view name = "picky";

    void apply(Tx& tx, const TestEvent& event) {
      fixture.enrol(tx, event.identity.id);
      if (event.identity.id == "e3") throw ConsumerFailure{};
    }

    Fixture& fixture;
  };
  // Fails the first time on every third event.
  struct Flaky {
    static constexpr std::string_view name = "flaky";

    void apply(Tx& tx, const TestEvent& event) {
      fixture.enrol(tx, event.identity.id);
      if (std::stoi(event.identity.id.substr(1)) % 3 != 0) return;
      const std::scoped_lock lock{mutex};
      if (failed.insert(event.identity.id).second) throw ConsumerFailure{};
    }

    Fixture& fixture;
    std::mutex mutex{};
    std::set<std::string> failed{};
  };

  template <class Consumer>
  auto inbox(Consumer& consumer, const InboxOptions& options = {}) {
    return Inbox{fixture.backend(), consumer, options};
  }

  TestEvent event(std::string id = "e1", std::string source = "payments") {
    return {{std::move(source), std::move(id), fixture.now()}};
  }
  std::vector<TestEvent> events(int count) {
    std::vector<TestEvent> made;
    for (int i = 0; i < count; ++i) made.push_back(event("e" + std::to_string(i)));
    return made;
  }

  // Calls `call(tx)` in a transaction and commits it: the caller's loop, which runs the whole again after a conflict.
  template <class Call>
  auto in_transaction(const Call& call) {
    for (;;) {
      try {
        auto unit = fixture.begin();
        auto answer = call(idem::detail::transaction_of(unit));
        idem::detail::commit(unit);
        return answer;
      } catch (...) {
        if (fixture.backend().failure_of(std::current_exception()) != Failure::transient) throw;
        ++conflicts;
      }
    }
  }
  template <class Consumer>
  Delivery deliver(Consumer& consumer, const TestEvent& of, const InboxOptions& options = {}) {
    return in_transaction([&](Tx& tx) { return inbox(consumer, options).deliver(tx, of); });
  }
  template <class Consumer>
  std::vector<Delivery> deliver_batch(Consumer& consumer, const std::vector<TestEvent>& of) {
    return in_transaction([&](Tx& tx) { return inbox(consumer).deliver_batch(tx, of); });
  }
  std::size_t purge(const PurgeOptions& options = {}) {
    return purge_inbox(
               fixture.backend(), [this] { return fixture.begin(); }, options)
        .rows;
  }

  Fixture fixture;
  Enrolment enrolment{fixture};
  Mailer mailer{{fixture}};
  BatchEnrolment batch_enrolment{fixture};
  std::atomic<int> conflicts{0};
};

TYPED_TEST_SUITE_P(InboxConformance);

TYPED_TEST_P(InboxConformance, ARedeliveryIsADuplicateAndTheConsumerIsNotCalled) {
  EXPECT_EQ(this->deliver(this->enrolment, this->event()), Delivery::applied);
  EXPECT_EQ(this->deliver(this->enrolment, this->event()), Delivery::duplicate);
  EXPECT_EQ(this->enrolment.runs, 1);
  EXPECT_EQ(this->fixture.enrolled(), 1U);
}

TYPED_TEST_P(InboxConformance, TwoConsumersEachSeeTheEvent) {
  EXPECT_EQ(this->deliver(this->enrolment, this->event()), Delivery::applied);
  EXPECT_EQ(this->deliver(this->mailer, this->event()), Delivery::applied);
  EXPECT_EQ(this->deliver(this->mailer, this->event()), Delivery::duplicate);
  EXPECT_EQ(this->fixture.enrolled(), 2U);
}

TYPED_TEST_P(InboxConformance, TheSourceIsPartOfTheIdentityAndTheBytesDecide) {
  const std::vector<std::pair<std::string, std::string>> names{
      {"a", "bc"},  {"ab", "c"},       {"a", "BC"},
      {"a", "bc "}, {"a", "b'c"},      {"a", "b\\c"},
      {"ä", "bc"},  {"a\u0308", "bc"}, {std::string(1024, 's'), std::string(512, 'i')}};
  for (const auto& [source, id] : names) {
    EXPECT_EQ(this->deliver(this->enrolment, this->event(id, source)), Delivery::applied);
  }
  for (const auto& [source, id] : names) {
    EXPECT_EQ(this->deliver(this->enrolment, this->event(id, source)), Delivery::duplicate);
  }
}

TYPED_TEST_P(InboxConformance, WhatRollsBackIsUnseen) {
  {
    auto unit = this->fixture.begin();
    auto inbox = this->inbox(this->enrolment);
    EXPECT_EQ(inbox.deliver(idem::detail::transaction_of(unit), this->event()), Delivery::applied);
  }
  EXPECT_EQ(this->fixture.enrolled(), 0U);
  EXPECT_EQ(this->deliver(this->enrolment, this->event()), Delivery::applied);
  EXPECT_EQ(this->fixture.enrolled(), 1U);
}

// Faults 95 and 96.
TYPED_TEST_P(InboxConformance, AConsumerThatThrowsLeavesNoRowAndTheRedeliveryRuns) {
  this->enrolment.fails = true;
  EXPECT_THROW(this->deliver(this->enrolment, this->event()), ConsumerFailure);
  EXPECT_EQ(this->fixture.inbox_rows(), 0U);
  this->enrolment.fails = false;
  EXPECT_EQ(this->deliver(this->enrolment, this->event()), Delivery::applied);
  EXPECT_EQ(this->fixture.enrolled(), 1U);
}

TYPED_TEST_P(InboxConformance, AnEventWithACardsNumberIsForADeadLetterAndLeavesNothing) {
  typename TestFixture::Careful careful{this->fixture, R"({"paid_with":"4242 4242 4242 4242"})"};
  for (int delivery = 1; delivery <= 2; ++delivery) {
    try {
      (void)this->deliver(careful, this->event());
      ADD_FAILURE() << "delivery " << delivery << " was taken";
    } catch (const CardDataFound& refused) {
      // No redelivery mends it.
      EXPECT_EQ(refused.next_step(), NextStep::stop);
      EXPECT_THAT(refused.what(), ::testing::Not(::testing::HasSubstr("4242")));
    }
    EXPECT_EQ(this->fixture.inbox_rows(), 0U);
    EXPECT_EQ(this->fixture.enrolled(), 0U);
  }
  careful.payload = R"({"paid_with":"tok_1"})";
  EXPECT_EQ(this->deliver(careful, this->event()), Delivery::applied);
  EXPECT_EQ(this->fixture.enrolled(), 1U);
}

TYPED_TEST_P(InboxConformance, AConsumersExceptionThatIsSwallowedCommitsNothing) {
  this->enrolment.fails = true;
  {
    auto unit = this->fixture.begin();
    auto inbox = this->inbox(this->enrolment);
    EXPECT_THROW((void)inbox.deliver(idem::detail::transaction_of(unit), this->event()), ConsumerFailure);
    try {
      idem::detail::commit(unit);
    } catch (const std::exception&) {
      // May say that nothing can be committed.
    }
  }
  EXPECT_EQ(this->fixture.inbox_rows(), 0U);
  EXPECT_EQ(this->fixture.enrolled(), 0U);
}

TYPED_TEST_P(InboxConformance, ASecondDeliveryInTheSameTransactionIsADuplicate) {
  const auto both = this->in_transaction([&](auto& tx) {
    auto inbox = this->inbox(this->enrolment);
    const Delivery first = inbox.deliver(tx, this->event());
    return std::vector{first, inbox.deliver(tx, this->event())};
  });
  EXPECT_THAT(both, ElementsAre(Delivery::applied, Delivery::duplicate));
  EXPECT_EQ(this->fixture.enrolled(), 1U);
}

// Fault 59.
TYPED_TEST_P(InboxConformance, AnEventThatIsBeingAppliedElsewhereIsWaitedFor) {
  auto first = this->fixture.begin();
  auto inbox = this->inbox(this->enrolment);
  EXPECT_EQ(inbox.deliver(idem::detail::transaction_of(first), this->event()), Delivery::applied);
  auto second = std::async(std::launch::async, [&] { return this->deliver(this->enrolment, this->event()); });
  // Not for the order: only one that does not wait is done by now.
  EXPECT_EQ(second.wait_for(100ms), std::future_status::timeout);
  idem::detail::commit(first);
  EXPECT_EQ(second.get(), Delivery::duplicate);
  EXPECT_EQ(this->fixture.enrolled(), 1U);
}

TYPED_TEST_P(InboxConformance, AfterTheOthersRollbackTheWaitingDeliveryApplies) {
  std::future<Delivery> second;
  {
    auto first = this->fixture.begin();
    auto inbox = this->inbox(this->enrolment);
    EXPECT_EQ(inbox.deliver(idem::detail::transaction_of(first), this->event()), Delivery::applied);
    second = std::async(std::launch::async, [&] { return this->deliver(this->enrolment, this->event()); });
    EXPECT_EQ(second.wait_for(100ms), std::future_status::timeout);
  }
  EXPECT_EQ(second.get(), Delivery::applied);
  EXPECT_EQ(this->fixture.enrolled(), 1U);
}

TYPED_TEST_P(InboxConformance, AnEventOlderThanTheHorizonIsNotApplied) {
  const InboxOptions options{.horizon = 1h};
  TestEvent old = this->event();
  old.identity.time = this->fixture.now() - 61min;
  EXPECT_EQ(this->deliver(this->enrolment, old, options), Delivery::beyond_horizon);
  EXPECT_EQ(this->enrolment.runs, 0);
  EXPECT_EQ(this->fixture.inbox_rows(), 0U);
  old.identity.time = this->fixture.now() - 59min;
  EXPECT_EQ(this->deliver(this->enrolment, old, options), Delivery::applied);
  // Now proven seen, so it is a duplicate however old.
  this->fixture.advance(2h);
  EXPECT_EQ(this->deliver(this->enrolment, old, options), Delivery::duplicate);
}

TYPED_TEST_P(InboxConformance, TheTimeInAVersion7UuidCounts) {
  const auto made = [&](std::chrono::milliseconds ago) {
    const auto at = std::chrono::time_point_cast<std::chrono::milliseconds>(this->fixture.now() - ago);
    return TestEvent{{"payments", random_uuid_v7(at).to_string(), std::nullopt}};
  };
  EXPECT_EQ(this->deliver(this->enrolment, made(59min), {.horizon = 1h}), Delivery::applied);
  EXPECT_EQ(this->deliver(this->enrolment, made(61min), {.horizon = 1h}), Delivery::beyond_horizon);
}

TYPED_TEST_P(InboxConformance, AnEventOfUnknownAgeIsAppliedOnlyWhereTheCallerSaysSo) {
  TestEvent undated = this->event("no uuid");
  undated.identity.time.reset();
  TestEvent future = this->event("future");
  future.identity.time = this->fixture.now() + 6min;
  for (const TestEvent& event : {undated, future}) {
    EXPECT_EQ(this->deliver(this->enrolment, event), Delivery::beyond_horizon);
    EXPECT_EQ(this->deliver(this->enrolment, event, {.unknown_age = UnknownAge::apply}), Delivery::applied);
    EXPECT_EQ(this->deliver(this->enrolment, event), Delivery::duplicate);
  }
  // A clock that is ahead by less than the skew.
  TestEvent ahead = this->event("ahead");
  ahead.identity.time = this->fixture.now() + 4min;
  EXPECT_EQ(this->deliver(this->enrolment, ahead), Delivery::applied);
}

TYPED_TEST_P(InboxConformance, WhatIsNoIdentityIsRefusedAndTheTransactionUsable) {
  const std::vector<EventIdentity> bad{{"", "e"},
                                       {"s", ""},
                                       {std::string(1025, 's'), "e"},
                                       {"s", std::string(513, 'e')},
                                       {std::string{"s\0", 2}, "e"},
                                       {"s", "\xff"},
                                       {"s", "e", TimePoint::max()},
                                       {"s", "e", TimePoint::min()}};
  const auto delivery = this->in_transaction([&](auto& tx) {
    auto inbox = this->inbox(this->enrolment);
    for (const EventIdentity& identity : bad) {
      EXPECT_THROW((void)inbox.deliver(tx, TestEvent{identity}), InvalidEvent);
    }
    return inbox.deliver(tx, this->event());
  });
  EXPECT_EQ(delivery, Delivery::applied);
  EXPECT_EQ(this->fixture.enrolled(), 1U);
}

TYPED_TEST_P(InboxConformance, OptionsBeyondALimitAreRefused) {
  for (const InboxOptions& options : {InboxOptions{.horizon = -1ms}, InboxOptions{.skew = -1ms},
                                      InboxOptions{.horizon = std::chrono::years{11}}}) {
    EXPECT_THROW(this->inbox(this->enrolment, options), InvalidArgument);
  }
}

TYPED_TEST_P(InboxConformance, ABatchAppliesTheFirstOfEqualEventsAndAnswersInOrder) {
  EXPECT_EQ(this->deliver(this->enrolment, this->event("seen")), Delivery::applied);
  TestEvent old = this->event("old");
  old.identity.time = this->fixture.now() - std::chrono::days{8};
  const std::vector<TestEvent> batch{
      this->event("z"), this->event("seen"), this->event("a"), this->event("z"), old, this->event("a"), old};
  EXPECT_THAT(this->deliver_batch(this->enrolment, batch),
              ElementsAre(Delivery::applied, Delivery::duplicate, Delivery::applied, Delivery::duplicate,
                          Delivery::beyond_horizon, Delivery::duplicate, Delivery::beyond_horizon));
  EXPECT_EQ(this->fixture.enrolled(), 3U);
}

TYPED_TEST_P(InboxConformance, ABatchConsumerGetsTheNewEventsAtOnce) {
  const auto batch = this->events(500);
  EXPECT_THAT(this->deliver_batch(this->batch_enrolment, batch), Each(Delivery::applied));
  EXPECT_EQ(this->batch_enrolment.runs, 1);
  EXPECT_EQ(this->fixture.enrolled(), 500U);
  EXPECT_THAT(this->deliver_batch(this->batch_enrolment, batch), Each(Delivery::duplicate));
  EXPECT_EQ(this->batch_enrolment.runs, 1);
}

TYPED_TEST_P(InboxConformance, AnEmptyBatchIsNothing) {
  EXPECT_TRUE(this->deliver_batch(this->enrolment, {}).empty());
  EXPECT_TRUE(this->deliver_batch(this->batch_enrolment, {}).empty());
  EXPECT_EQ(this->batch_enrolment.runs, 0);
}

TYPED_TEST_P(InboxConformance, ABatchOverTheLimitIsRefused) {
  const std::vector<TestEvent> batch(InboxStore::most_events + 1, this->event());
  EXPECT_THROW(this->deliver_batch(this->enrolment, batch), InvalidArgument);
}

TYPED_TEST_P(InboxConformance, AFailingEventFailsItsBatchAndOneByOneTheOthersAreApplied) {
  typename TestFixture::Picky picky{this->fixture};
  const auto batch = this->events(6);
  EXPECT_THROW(this->deliver_batch(picky, batch), ConsumerFailure);
  EXPECT_EQ(this->fixture.enrolled(), 0U);
  EXPECT_EQ(this->fixture.inbox_rows(), 0U);
  int failed = 0;
  for (const TestEvent& event : batch) {
    try {
      EXPECT_EQ(this->deliver(picky, event), Delivery::applied);
    } catch (const ConsumerFailure&) {
      ++failed;
    }
  }
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(this->fixture.enrolled(), 5U);
}

// Fault 55: batches of the same events in opposite orders wait for each other in one direction only.
TYPED_TEST_P(InboxConformance, BatchesInOppositeOrdersDoNotDeadlock) {
  auto forward = this->events(26);
  auto backward = forward;
  std::reverse(backward.begin(), backward.end());
  constexpr int rounds = 500;
  testing::race(2, [&](std::size_t index) {
    for (int round = 0; round < rounds; ++round) {
      auto batch = index == 0 ? forward : backward;
      for (TestEvent& event : batch) event.identity.source = "round " + std::to_string(round);
      const auto deliveries = this->in_transaction([&](auto& tx) {
        std::vector<EventIdentity> identities;
        for (const TestEvent& event : batch) identities.push_back(event.identity);
        return this->fixture.backend().inbox_store(tx)->receive("batches", identities, {});
      });
      EXPECT_EQ(deliveries.size(), batch.size());
    }
  });
  EXPECT_EQ(this->fixture.inbox_rows(), 26U * rounds);
  if (!this->fixture.keeps_its_snapshot()) {
    EXPECT_EQ(this->conflicts, 0);
  }
}

// A redelivery storm: every event four times, in random order, over many threads, and a third of the first tries fail.
TYPED_TEST_P(InboxConformance, AStormOfRedeliveriesAppliesEachEventOnce) {
  constexpr int distinct = 500;
  std::vector<TestEvent> storm;
  for (int copy = 0; copy < 4; ++copy) {
    const auto once = this->events(distinct);
    storm.insert(storm.end(), once.begin(), once.end());
  }
  std::shuffle(storm.begin(), storm.end(), std::mt19937{20261130});
  typename TestFixture::Flaky flaky{this->fixture};
  std::atomic<std::size_t> next{0};
  std::atomic<int> applied{0};
  testing::race(16, [&](std::size_t) {
    for (std::size_t at = next++; at < storm.size(); at = next++) {
      for (bool again = true; again;) {
        again = false;
        try {
          if (this->deliver(flaky, storm[at]) == Delivery::applied) ++applied;
        } catch (const ConsumerFailure&) {
          again = true;  // as a broker redelivers what was not acknowledged
        }
      }
    }
  });
  EXPECT_EQ(applied, distinct);
  EXPECT_EQ(flaky.failed.size(), static_cast<std::size_t>((distinct + 2) / 3));
  EXPECT_EQ(this->fixture.enrolled(), static_cast<std::size_t>(distinct));
}

TYPED_TEST_P(InboxConformance, TheVersionGuardAppliesOnlyNewerVersions) {
  VersionGuard guard{this->fixture.backend(), this->enrolment};
  const auto deliver = [&](const char* entity, std::int64_t version) {
    return this->in_transaction([&](auto& tx) { return guard.deliver(tx, Balance{entity, version}); });
  };
  EXPECT_EQ(deliver("a", 2), Versioned::applied);
  EXPECT_EQ(deliver("a", 1), Versioned::not_newer);
  EXPECT_EQ(deliver("a", 2), Versioned::not_newer);
  EXPECT_EQ(deliver("a", 3), Versioned::applied);
  EXPECT_EQ(deliver("b", 1), Versioned::applied);
  EXPECT_EQ(deliver("c", std::numeric_limits<std::int64_t>::min()), Versioned::applied);
  EXPECT_EQ(deliver("c", std::numeric_limits<std::int64_t>::max()), Versioned::applied);
  EXPECT_EQ(this->enrolment.runs, 5);
  EXPECT_THROW(deliver("", 1), InvalidEvent);
}

TYPED_TEST_P(InboxConformance, TheVersionGuardForgetsWhatRollsBackAndAFailedVersionIsTriedAgain) {
  VersionGuard guard{this->fixture.backend(), this->enrolment};
  const auto deliver = [&](std::int64_t version) {
    return this->in_transaction([&](auto& tx) { return guard.deliver(tx, Balance{"a", version}); });
  };
  this->enrolment.fails = true;
  EXPECT_THROW(deliver(1), ConsumerFailure);
  this->enrolment.fails = false;
  EXPECT_EQ(deliver(1), Versioned::applied);
  this->enrolment.fails = true;
  {
    auto unit = this->fixture.begin();
    EXPECT_THROW((void)guard.deliver(idem::detail::transaction_of(unit), Balance{"a", 2}), ConsumerFailure);
    try {
      idem::detail::commit(unit);
    } catch (const std::exception&) {
      // May say that nothing can be committed.
    }
  }
  this->enrolment.fails = false;
  EXPECT_EQ(deliver(2), Versioned::applied);
  EXPECT_EQ(this->fixture.enrolled(), 2U);
}

TYPED_TEST_P(InboxConformance, ConcurrentVersionsEndAtTheNewest) {
  VersionGuard guard{this->fixture.backend(), this->enrolment};
  for (int round = 0; round < 20; ++round) {
    const std::string entity = "a" + std::to_string(round);
    std::array<Versioned, 2> answers{};
    testing::race(2, [&](std::size_t index) {
      answers.at(index) = this->in_transaction([&](auto& tx) {
        return guard.deliver(tx, Balance{entity, static_cast<std::int64_t>(index) + 1});
      });
    });
    EXPECT_EQ(answers[1], Versioned::applied);
    const auto newest = this->in_transaction([&](auto& tx) { return guard.deliver(tx, Balance{entity, 2}); });
    EXPECT_EQ(newest, Versioned::not_newer);
  }
}

TYPED_TEST_P(InboxConformance, ThePurgeWaitsForHorizonAndSkew) {
  const InboxOptions options{.horizon = 1h, .skew = 5min};
  EXPECT_EQ(this->deliver(this->enrolment, this->event("short"), options), Delivery::applied);
  EXPECT_EQ(this->deliver(this->enrolment, this->event("long"), {.horizon = 24h}), Delivery::applied);
  this->fixture.advance(64min);
  EXPECT_EQ(this->purge(), 0U);
  this->fixture.advance(2min);
  EXPECT_EQ(this->purge({.older_than = 24h}), 0U);
  EXPECT_EQ(this->purge(), 1U);
  EXPECT_EQ(this->purge(), 0U);
  EXPECT_EQ(this->fixture.inbox_rows(), 1U);
}

// However old its row is: the event says that it is younger.
TYPED_TEST_P(InboxConformance, AnEventFromTheFutureIsKeptUntilItsOwnHorizon) {
  TestEvent future = this->event();
  future.identity.time = this->fixture.now() + std::chrono::days{30};
  const InboxOptions options{.horizon = 1h, .unknown_age = UnknownAge::apply};
  EXPECT_EQ(this->deliver(this->enrolment, future, options), Delivery::applied);
  this->fixture.advance(std::chrono::days{30});
  EXPECT_EQ(this->purge(), 0U);
  EXPECT_EQ(this->deliver(this->enrolment, future, options), Delivery::duplicate);
}

// Fault 90.
TYPED_TEST_P(InboxConformance, ThePurgeOfRecordsLeavesWhatIsUnsettledOrAlive) {
  const Fingerprint fingerprint = Fingerprinter{}({.operation = "/payments", .body = "{}"});
  const auto reserve = [&](std::string key, const auto& settle) {
    this->in_transaction([&](auto& tx) {
      auto store = this->fixture.backend().store(tx);
      const Reservation reservation = store.reserve({"alice", "pay", std::move(key)}, fingerprint, {});
      settle(store, std::get<Acquired>(reservation).lease);
      return 0;
    });
  };
  const Response answer = text_response(200, "done");
  reserve("completed", [&](auto& store, const Lease& lease) { store.complete(lease, answer); });
  reserve("failed", [&](auto& store, const Lease& lease) { store.fail(lease, answer); });
  reserve("in progress", [&](auto&, const Lease&) {});
  reserve("unknown", [&](auto& store, const Lease& lease) { store.mark_unknown(lease, answer); });
  this->fixture.advance(std::chrono::days{10});
  reserve("alive", [&](auto& store, const Lease& lease) { store.complete(lease, answer); });

  const auto purge = [&](const PurgeOptions& options) {
    return purge_records(
        this->fixture.backend(), [&] { return this->fixture.begin(); }, options);
  };
  EXPECT_EQ(purge({.older_than = std::chrono::days{11}}).rows, 0U);
  const PurgeReport report = purge({.batch_rows = 1});
  EXPECT_EQ(report.rows, 2U);
  EXPECT_TRUE(report.finished);
  EXPECT_EQ(purge({}).rows, 0U);
  for (const char* key : {"in progress", "unknown", "alive"}) {
    EXPECT_TRUE(this->in_transaction([&](auto& tx) {
      return this->fixture.backend().store(tx)->find({"alice", "pay", key}).has_value();
    })) << key;
  }
}

TYPED_TEST_P(InboxConformance, APurgeStopsWhenItIsToldTo) {
  EXPECT_EQ(this->deliver(this->enrolment, this->event(), {.horizon = 10min}), Delivery::applied);
  this->fixture.advance(1h);
  std::stop_source source;
  source.request_stop();
  const auto begin = [&] { return this->fixture.begin(); };
  for (const PurgeOptions& options :
       {PurgeOptions{.stop = source.get_token()}, PurgeOptions{.time_limit = 0ms}}) {
    const PurgeReport stopped = purge_inbox(this->fixture.backend(), begin, options);
    EXPECT_FALSE(stopped.finished);
    EXPECT_EQ(stopped.rows, 0U);
  }
  EXPECT_EQ(this->purge(), 1U);
}

TYPED_TEST_P(InboxConformance, APurgeBeginsNothingAfterAPauseThatOutlastsItsTime) {
  for (const TestEvent& event : this->events(3)) {
    EXPECT_EQ(this->deliver(this->enrolment, event, {.horizon = 10min}), Delivery::applied);
  }
  this->fixture.advance(1h);
  const auto begin = [&] { return this->fixture.begin(); };
  const PurgeReport limited =
      purge_inbox(this->fixture.backend(), begin, {.batch_rows = 1, .time_limit = 50ms, .pause = 100ms});
  EXPECT_FALSE(limited.finished);
  EXPECT_LE(limited.transactions, 1U);
}

TYPED_TEST_P(InboxConformance, APurgeRefusesOptionsBeyondALimit) {
  for (const PurgeOptions& options :
       {PurgeOptions{.older_than = -1ms}, PurgeOptions{.batch_rows = 0},
        PurgeOptions{.batch_rows = 1'000'001}, PurgeOptions{.batch_time = 0ms},
        PurgeOptions{.batch_time = std::chrono::milliseconds::max()}, PurgeOptions{.pause = -1ms}}) {
    EXPECT_THROW(this->purge(options), InvalidArgument);
  }
}

REGISTER_TYPED_TEST_SUITE_P(
    InboxConformance, ARedeliveryIsADuplicateAndTheConsumerIsNotCalled, TwoConsumersEachSeeTheEvent,
    TheSourceIsPartOfTheIdentityAndTheBytesDecide, WhatRollsBackIsUnseen,
    AConsumerThatThrowsLeavesNoRowAndTheRedeliveryRuns,
    AnEventWithACardsNumberIsForADeadLetterAndLeavesNothing, AConsumersExceptionThatIsSwallowedCommitsNothing,
    ASecondDeliveryInTheSameTransactionIsADuplicate, AnEventThatIsBeingAppliedElsewhereIsWaitedFor,
    AfterTheOthersRollbackTheWaitingDeliveryApplies, AnEventOlderThanTheHorizonIsNotApplied,
    TheTimeInAVersion7UuidCounts, AnEventOfUnknownAgeIsAppliedOnlyWhereTheCallerSaysSo,
    WhatIsNoIdentityIsRefusedAndTheTransactionUsable, OptionsBeyondALimitAreRefused,
    ABatchAppliesTheFirstOfEqualEventsAndAnswersInOrder, ABatchConsumerGetsTheNewEventsAtOnce,
    AnEmptyBatchIsNothing, ABatchOverTheLimitIsRefused,
    AFailingEventFailsItsBatchAndOneByOneTheOthersAreApplied, BatchesInOppositeOrdersDoNotDeadlock,
    AStormOfRedeliveriesAppliesEachEventOnce, TheVersionGuardAppliesOnlyNewerVersions,
    TheVersionGuardForgetsWhatRollsBackAndAFailedVersionIsTriedAgain, ConcurrentVersionsEndAtTheNewest,
    ThePurgeWaitsForHorizonAndSkew, AnEventFromTheFutureIsKeptUntilItsOwnHorizon,
    ThePurgeOfRecordsLeavesWhatIsUnsettledOrAlive, APurgeStopsWhenItIsToldTo,
    APurgeBeginsNothingAfterAPauseThatOutlastsItsTime, APurgeRefusesOptionsBeyondALimit);

}  // namespace idem::conformance
