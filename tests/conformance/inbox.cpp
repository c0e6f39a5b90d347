// Inbox, VersionGuard and the purge on any backend.
#include <gmock/gmock.h>

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

#include "conformance/suites.hpp"
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

class InboxConformance : public Conformance {
 public:
  explicit InboxConformance(const MakeFixture& make) : Conformance{make} { fixture.make_tables(); }

 protected:
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
    return Inbox{backend(), consumer, options};
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
        auto answer = call(unit->transaction());
        unit->commit();
        return answer;
      } catch (...) {
        if (backend().failure_of(std::current_exception()) != Failure::transient) throw;
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
    return purge_inbox(backend(), begin(), options).rows;
  }

  Enrolment enrolment{fixture};
  Mailer mailer{{fixture}};
  BatchEnrolment batch_enrolment{fixture};
  std::atomic<int> conflicts{0};
};

namespace {

CONFORMANCE_TESTS_OF(InboxConformance);

CONFORMANCE_TEST(InboxConformance, ARedeliveryIsADuplicateAndTheConsumerIsNotCalled) {
  EXPECT_EQ(deliver(enrolment, event()), Delivery::applied);
  EXPECT_EQ(deliver(enrolment, event()), Delivery::duplicate);
  EXPECT_EQ(enrolment.runs, 1);
  EXPECT_EQ(fixture.enrolled(), 1U);
}

CONFORMANCE_TEST(InboxConformance, TwoConsumersEachSeeTheEvent) {
  EXPECT_EQ(deliver(enrolment, event()), Delivery::applied);
  EXPECT_EQ(deliver(mailer, event()), Delivery::applied);
  EXPECT_EQ(deliver(mailer, event()), Delivery::duplicate);
  EXPECT_EQ(fixture.enrolled(), 2U);
}

CONFORMANCE_TEST(InboxConformance, TheSourceIsPartOfTheIdentityAndTheBytesDecide) {
  const std::vector<std::pair<std::string, std::string>> names{
      {"a", "bc"},  {"ab", "c"},       {"a", "BC"},
      {"a", "bc "}, {"a", "b'c"},      {"a", "b\\c"},
      {"ä", "bc"},  {"a\u0308", "bc"}, {std::string(1024, 's'), std::string(512, 'i')}};
  for (const auto& [source, id] : names) {
    EXPECT_EQ(deliver(enrolment, event(id, source)), Delivery::applied);
  }
  for (const auto& [source, id] : names) {
    EXPECT_EQ(deliver(enrolment, event(id, source)), Delivery::duplicate);
  }
}

CONFORMANCE_TEST(InboxConformance, WhatRollsBackIsUnseen) {
  {
    auto unit = fixture.begin();
    auto inbox = this->inbox(enrolment);
    EXPECT_EQ(inbox.deliver(unit->transaction(), event()), Delivery::applied);
  }
  EXPECT_EQ(fixture.enrolled(), 0U);
  EXPECT_EQ(deliver(enrolment, event()), Delivery::applied);
  EXPECT_EQ(fixture.enrolled(), 1U);
}

// Faults 95 and 96.
CONFORMANCE_TEST(InboxConformance, AConsumerThatThrowsLeavesNoRowAndTheRedeliveryRuns) {
  enrolment.fails = true;
  EXPECT_THROW(deliver(enrolment, event()), ConsumerFailure);
  EXPECT_EQ(fixture.inbox_rows(), 0U);
  enrolment.fails = false;
  EXPECT_EQ(deliver(enrolment, event()), Delivery::applied);
  EXPECT_EQ(fixture.enrolled(), 1U);
}

CONFORMANCE_TEST(InboxConformance, AnEventWithACardsNumberIsForADeadLetterAndLeavesNothing) {
  Careful careful{fixture, R"({"paid_with":"4242 4242 4242 4242"})"};
  for (int delivery = 1; delivery <= 2; ++delivery) {
    try {
      (void)deliver(careful, event());
      ADD_FAILURE() << "delivery " << delivery << " was taken";
    } catch (const CardDataFound& refused) {
      // No redelivery mends it.
      EXPECT_EQ(refused.next_step(), NextStep::stop);
      EXPECT_THAT(refused.what(), ::testing::Not(::testing::HasSubstr("4242")));
    }
    EXPECT_EQ(fixture.inbox_rows(), 0U);
    EXPECT_EQ(fixture.enrolled(), 0U);
  }
  careful.payload = R"({"paid_with":"tok_1"})";
  EXPECT_EQ(deliver(careful, event()), Delivery::applied);
  EXPECT_EQ(fixture.enrolled(), 1U);
}

CONFORMANCE_TEST(InboxConformance, AConsumersExceptionThatIsSwallowedCommitsNothing) {
  enrolment.fails = true;
  {
    auto unit = fixture.begin();
    auto inbox = this->inbox(enrolment);
    EXPECT_THROW((void)inbox.deliver(unit->transaction(), event()), ConsumerFailure);
    try {
      unit->commit();
    } catch (const std::exception&) {
      // May say that nothing can be committed.
    }
  }
  EXPECT_EQ(fixture.inbox_rows(), 0U);
  EXPECT_EQ(fixture.enrolled(), 0U);
}

CONFORMANCE_TEST(InboxConformance, ASecondDeliveryInTheSameTransactionIsADuplicate) {
  const auto both = in_transaction([&](Tx& tx) {
    auto inbox = this->inbox(enrolment);
    const Delivery first = inbox.deliver(tx, event());
    return std::vector{first, inbox.deliver(tx, event())};
  });
  EXPECT_THAT(both, ElementsAre(Delivery::applied, Delivery::duplicate));
  EXPECT_EQ(fixture.enrolled(), 1U);
}

// Fault 59.
CONFORMANCE_TEST(InboxConformance, AnEventThatIsBeingAppliedElsewhereIsWaitedFor) {
  auto first = fixture.begin();
  auto inbox = this->inbox(enrolment);
  EXPECT_EQ(inbox.deliver(first->transaction(), event()), Delivery::applied);
  auto second = std::async(std::launch::async, [&] { return deliver(enrolment, event()); });
  // Not for the order: only one that does not wait is done by now.
  EXPECT_EQ(second.wait_for(100ms), std::future_status::timeout);
  first->commit();
  EXPECT_EQ(second.get(), Delivery::duplicate);
  EXPECT_EQ(fixture.enrolled(), 1U);
}

CONFORMANCE_TEST(InboxConformance, AfterTheOthersRollbackTheWaitingDeliveryApplies) {
  std::future<Delivery> second;
  {
    auto first = fixture.begin();
    auto inbox = this->inbox(enrolment);
    EXPECT_EQ(inbox.deliver(first->transaction(), event()), Delivery::applied);
    second = std::async(std::launch::async, [&] { return deliver(enrolment, event()); });
    EXPECT_EQ(second.wait_for(100ms), std::future_status::timeout);
  }
  EXPECT_EQ(second.get(), Delivery::applied);
  EXPECT_EQ(fixture.enrolled(), 1U);
}

CONFORMANCE_TEST(InboxConformance, AnEventOlderThanTheHorizonIsNotApplied) {
  const InboxOptions options{.horizon = 1h};
  TestEvent old = event();
  old.identity.time = fixture.now() - 61min;
  EXPECT_EQ(deliver(enrolment, old, options), Delivery::beyond_horizon);
  EXPECT_EQ(enrolment.runs, 0);
  EXPECT_EQ(fixture.inbox_rows(), 0U);
  old.identity.time = fixture.now() - 59min;
  EXPECT_EQ(deliver(enrolment, old, options), Delivery::applied);
  // Now proven seen, so it is a duplicate however old.
  fixture.advance(2h);
  EXPECT_EQ(deliver(enrolment, old, options), Delivery::duplicate);
}

CONFORMANCE_TEST(InboxConformance, TheTimeInAVersion7UuidCounts) {
  const auto made = [&](std::chrono::milliseconds ago) {
    const auto at = std::chrono::time_point_cast<std::chrono::milliseconds>(fixture.now() - ago);
    return TestEvent{{"payments", random_uuid_v7(at).to_string(), std::nullopt}};
  };
  EXPECT_EQ(deliver(enrolment, made(59min), {.horizon = 1h}), Delivery::applied);
  EXPECT_EQ(deliver(enrolment, made(61min), {.horizon = 1h}), Delivery::beyond_horizon);
}

CONFORMANCE_TEST(InboxConformance, AnEventOfUnknownAgeIsAppliedOnlyWhereTheCallerSaysSo) {
  TestEvent undated = this->event("no uuid");
  undated.identity.time.reset();
  TestEvent future = this->event("future");
  future.identity.time = fixture.now() + 6min;
  for (const TestEvent& event : {undated, future}) {
    EXPECT_EQ(deliver(enrolment, event), Delivery::beyond_horizon);
    EXPECT_EQ(deliver(enrolment, event, {.unknown_age = UnknownAge::apply}), Delivery::applied);
    EXPECT_EQ(deliver(enrolment, event), Delivery::duplicate);
  }
  // A clock that is ahead by less than the skew.
  TestEvent ahead = this->event("ahead");
  ahead.identity.time = fixture.now() + 4min;
  EXPECT_EQ(deliver(enrolment, ahead), Delivery::applied);
}

CONFORMANCE_TEST(InboxConformance, WhatIsNoIdentityIsRefusedAndTheTransactionUsable) {
  const std::vector<EventIdentity> bad{{"", "e"},
                                       {"s", ""},
                                       {std::string(1025, 's'), "e"},
                                       {"s", std::string(513, 'e')},
                                       {std::string{"s\0", 2}, "e"},
                                       {"s", "\xff"},
                                       {"s", "e", TimePoint::max()},
                                       {"s", "e", TimePoint::min()}};
  const auto delivery = in_transaction([&](Tx& tx) {
    auto inbox = this->inbox(enrolment);
    for (const EventIdentity& identity : bad) {
      EXPECT_THROW((void)inbox.deliver(tx, TestEvent{identity}), InvalidEvent);
    }
    return inbox.deliver(tx, event());
  });
  EXPECT_EQ(delivery, Delivery::applied);
  EXPECT_EQ(fixture.enrolled(), 1U);
}

CONFORMANCE_TEST(InboxConformance, OptionsBeyondALimitAreRefused) {
  for (const InboxOptions& options : {InboxOptions{.horizon = -1ms}, InboxOptions{.skew = -1ms},
                                      InboxOptions{.horizon = std::chrono::years{11}}}) {
    EXPECT_THROW(inbox(enrolment, options), InvalidArgument);
  }
}

CONFORMANCE_TEST(InboxConformance, ABatchAppliesTheFirstOfEqualEventsAndAnswersInOrder) {
  EXPECT_EQ(deliver(enrolment, event("seen")), Delivery::applied);
  TestEvent old = event("old");
  old.identity.time = fixture.now() - std::chrono::days{8};
  const std::vector<TestEvent> batch{event("z"), event("seen"), event("a"), event("z"), old, event("a"), old};
  EXPECT_THAT(deliver_batch(enrolment, batch),
              ElementsAre(Delivery::applied, Delivery::duplicate, Delivery::applied, Delivery::duplicate,
                          Delivery::beyond_horizon, Delivery::duplicate, Delivery::beyond_horizon));
  EXPECT_EQ(fixture.enrolled(), 3U);
}

CONFORMANCE_TEST(InboxConformance, ABatchConsumerGetsTheNewEventsAtOnce) {
  const auto batch = events(500);
  EXPECT_THAT(deliver_batch(batch_enrolment, batch), Each(Delivery::applied));
  EXPECT_EQ(batch_enrolment.runs, 1);
  EXPECT_EQ(fixture.enrolled(), 500U);
  EXPECT_THAT(deliver_batch(batch_enrolment, batch), Each(Delivery::duplicate));
  EXPECT_EQ(batch_enrolment.runs, 1);
}

CONFORMANCE_TEST(InboxConformance, AnEmptyBatchIsNothing) {
  EXPECT_TRUE(deliver_batch(enrolment, {}).empty());
  EXPECT_TRUE(deliver_batch(batch_enrolment, {}).empty());
  EXPECT_EQ(batch_enrolment.runs, 0);
}

CONFORMANCE_TEST(InboxConformance, ABatchOverTheLimitIsRefused) {
  const std::vector<TestEvent> batch(InboxStore::most_events + 1, event());
  EXPECT_THROW(deliver_batch(enrolment, batch), InvalidArgument);
}

CONFORMANCE_TEST(InboxConformance, AFailingEventFailsItsBatchAndOneByOneTheOthersAreApplied) {
  Picky picky{fixture};
  const auto batch = events(6);
  EXPECT_THROW(deliver_batch(picky, batch), ConsumerFailure);
  EXPECT_EQ(fixture.enrolled(), 0U);
  EXPECT_EQ(fixture.inbox_rows(), 0U);
  int failed = 0;
  for (const TestEvent& event : batch) {
    try {
      EXPECT_EQ(deliver(picky, event), Delivery::applied);
    } catch (const ConsumerFailure&) {
      ++failed;
    }
  }
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(fixture.enrolled(), 5U);
}

// Fault 55: batches of the same events in opposite orders wait for each other in one direction only.
CONFORMANCE_TEST(InboxConformance, BatchesInOppositeOrdersDoNotDeadlock) {
  auto forward = events(26);
  auto backward = forward;
  std::reverse(backward.begin(), backward.end());
  constexpr int rounds = 500;
  testing::race(2, [&](std::size_t index) {
    for (int round = 0; round < rounds; ++round) {
      auto batch = index == 0 ? forward : backward;
      for (TestEvent& event : batch) event.identity.source = "round " + std::to_string(round);
      const auto deliveries = in_transaction([&](Tx& tx) {
        std::vector<EventIdentity> identities;
        for (const TestEvent& event : batch) identities.push_back(event.identity);
        return backend().inbox_store(tx)->receive("batches", identities, {});
      });
      EXPECT_EQ(deliveries.size(), batch.size());
    }
  });
  EXPECT_EQ(fixture.inbox_rows(), 26U * rounds);
  if (!fixture.keeps_its_snapshot()) {
    EXPECT_EQ(conflicts, 0);
  }
}

// A redelivery storm: every event four times, in random order, over many threads, and a third of the first tries fail.
CONFORMANCE_TEST(InboxConformance, AStormOfRedeliveriesAppliesEachEventOnce) {
  constexpr int distinct = 500;
  std::vector<TestEvent> storm;
  for (int copy = 0; copy < 4; ++copy) {
    const auto once = events(distinct);
    storm.insert(storm.end(), once.begin(), once.end());
  }
  std::shuffle(storm.begin(), storm.end(), std::mt19937{20261130});
  Flaky flaky{fixture};
  std::atomic<std::size_t> next{0};
  std::atomic<int> applied{0};
  testing::race(16, [&](std::size_t) {
    for (std::size_t at = next++; at < storm.size(); at = next++) {
      for (bool again = true; again;) {
        again = false;
        try {
          if (deliver(flaky, storm[at]) == Delivery::applied) ++applied;
        } catch (const ConsumerFailure&) {
          again = true;  // as a broker redelivers what was not acknowledged
        }
      }
    }
  });
  EXPECT_EQ(applied, distinct);
  EXPECT_EQ(flaky.failed.size(), static_cast<std::size_t>((distinct + 2) / 3));
  EXPECT_EQ(fixture.enrolled(), static_cast<std::size_t>(distinct));
}

CONFORMANCE_TEST(InboxConformance, TheVersionGuardAppliesOnlyNewerVersions) {
  VersionGuard guard{backend(), enrolment};
  const auto deliver = [&](const char* entity, std::int64_t version) {
    return in_transaction([&](Tx& tx) { return guard.deliver(tx, Balance{entity, version}); });
  };
  EXPECT_EQ(deliver("a", 2), Versioned::applied);
  EXPECT_EQ(deliver("a", 1), Versioned::not_newer);
  EXPECT_EQ(deliver("a", 2), Versioned::not_newer);
  EXPECT_EQ(deliver("a", 3), Versioned::applied);
  EXPECT_EQ(deliver("b", 1), Versioned::applied);
  EXPECT_EQ(deliver("c", std::numeric_limits<std::int64_t>::min()), Versioned::applied);
  EXPECT_EQ(deliver("c", std::numeric_limits<std::int64_t>::max()), Versioned::applied);
  EXPECT_EQ(enrolment.runs, 5);
  EXPECT_THROW(deliver("", 1), InvalidEvent);
}

CONFORMANCE_TEST(InboxConformance, TheVersionGuardForgetsWhatRollsBackAndAFailedVersionIsTriedAgain) {
  VersionGuard guard{backend(), enrolment};
  const auto deliver = [&](std::int64_t version) {
    return in_transaction([&](Tx& tx) { return guard.deliver(tx, Balance{"a", version}); });
  };
  enrolment.fails = true;
  EXPECT_THROW(deliver(1), ConsumerFailure);
  enrolment.fails = false;
  EXPECT_EQ(deliver(1), Versioned::applied);
  enrolment.fails = true;
  {
    auto unit = fixture.begin();
    EXPECT_THROW((void)guard.deliver(unit->transaction(), Balance{"a", 2}), ConsumerFailure);
    try {
      unit->commit();
    } catch (const std::exception&) {
      // May say that nothing can be committed.
    }
  }
  enrolment.fails = false;
  EXPECT_EQ(deliver(2), Versioned::applied);
  EXPECT_EQ(fixture.enrolled(), 2U);
}

CONFORMANCE_TEST(InboxConformance, ConcurrentVersionsEndAtTheNewest) {
  VersionGuard guard{backend(), enrolment};
  for (int round = 0; round < 20; ++round) {
    const std::string entity = "a" + std::to_string(round);
    std::array<Versioned, 2> answers{};
    testing::race(2, [&](std::size_t index) {
      answers.at(index) = in_transaction([&](Tx& tx) {
        return guard.deliver(tx, Balance{entity, static_cast<std::int64_t>(index) + 1});
      });
    });
    EXPECT_EQ(answers[1], Versioned::applied);
    const auto newest = in_transaction([&](Tx& tx) { return guard.deliver(tx, Balance{entity, 2}); });
    EXPECT_EQ(newest, Versioned::not_newer);
  }
}

CONFORMANCE_TEST(InboxConformance, ThePurgeWaitsForHorizonAndSkew) {
  const InboxOptions options{.horizon = 1h, .skew = 5min};
  EXPECT_EQ(deliver(enrolment, event("short"), options), Delivery::applied);
  EXPECT_EQ(deliver(enrolment, event("long"), {.horizon = 24h}), Delivery::applied);
  fixture.advance(64min);
  EXPECT_EQ(purge(), 0U);
  fixture.advance(2min);
  EXPECT_EQ(purge({.older_than = 24h}), 0U);
  EXPECT_EQ(purge(), 1U);
  EXPECT_EQ(purge(), 0U);
  EXPECT_EQ(fixture.inbox_rows(), 1U);
}

// However old its row is: the event says that it is younger.
CONFORMANCE_TEST(InboxConformance, AnEventFromTheFutureIsKeptUntilItsOwnHorizon) {
  TestEvent future = event();
  future.identity.time = fixture.now() + std::chrono::days{30};
  const InboxOptions options{.horizon = 1h, .unknown_age = UnknownAge::apply};
  EXPECT_EQ(deliver(enrolment, future, options), Delivery::applied);
  fixture.advance(std::chrono::days{30});
  EXPECT_EQ(purge(), 0U);
  EXPECT_EQ(deliver(enrolment, future, options), Delivery::duplicate);
}

// Fault 90.
CONFORMANCE_TEST(InboxConformance, ThePurgeOfRecordsLeavesWhatIsUnsettledOrAlive) {
  const Fingerprint fingerprint = Fingerprinter{}({.operation = "/payments", .body = "{}"});
  const auto reserve = [&](std::string key, const auto& settle) {
    in_transaction([&](Tx& tx) {
      auto store = backend().store(tx);
      const Reservation reservation = store->reserve({"alice", "pay", std::move(key)}, fingerprint, {});
      settle(*store, std::get<Acquired>(reservation).lease);
      return 0;
    });
  };
  const Response answer = text_response(200, "done");
  reserve("completed", [&](IdempotencyStore& store, const Lease& lease) { store.complete(lease, answer); });
  reserve("failed", [&](IdempotencyStore& store, const Lease& lease) { store.fail(lease, answer); });
  reserve("in progress", [&](IdempotencyStore&, const Lease&) {});
  reserve("unknown", [&](IdempotencyStore& store, const Lease& lease) { store.mark_unknown(lease, answer); });
  fixture.advance(std::chrono::days{10});
  reserve("alive", [&](IdempotencyStore& store, const Lease& lease) { store.complete(lease, answer); });

  const auto purge = [&](const PurgeOptions& options) { return purge_records(backend(), begin(), options); };
  EXPECT_EQ(purge({.older_than = std::chrono::days{11}}).rows, 0U);
  const PurgeReport report = purge({.batch_rows = 1});
  EXPECT_EQ(report.rows, 2U);
  EXPECT_TRUE(report.finished);
  EXPECT_EQ(purge({}).rows, 0U);
  for (const char* key : {"in progress", "unknown", "alive"}) {
    EXPECT_TRUE(in_transaction([&](Tx& tx) {
      return backend().store(tx)->find({"alice", "pay", key}).has_value();
    })) << key;
  }
}

CONFORMANCE_TEST(InboxConformance, APurgeStopsWhenItIsToldTo) {
  EXPECT_EQ(deliver(enrolment, event(), {.horizon = 10min}), Delivery::applied);
  fixture.advance(1h);
  std::stop_source source;
  source.request_stop();
  for (const PurgeOptions& options :
       {PurgeOptions{.stop = source.get_token()}, PurgeOptions{.time_limit = 0ms}}) {
    const PurgeReport stopped = purge_inbox(backend(), begin(), options);
    EXPECT_FALSE(stopped.finished);
    EXPECT_EQ(stopped.rows, 0U);
  }
  EXPECT_EQ(purge(), 1U);
}

CONFORMANCE_TEST(InboxConformance, APurgeBeginsNothingAfterAPauseThatOutlastsItsTime) {
  for (const TestEvent& event : events(3)) {
    EXPECT_EQ(deliver(enrolment, event, {.horizon = 10min}), Delivery::applied);
  }
  fixture.advance(1h);
  const PurgeReport limited =
      purge_inbox(backend(), begin(), {.batch_rows = 1, .time_limit = 50ms, .pause = 100ms});
  EXPECT_FALSE(limited.finished);
  EXPECT_LE(limited.transactions, 1U);
}

CONFORMANCE_TEST(InboxConformance, APurgeRefusesOptionsBeyondALimit) {
  for (const PurgeOptions& options :
       {PurgeOptions{.older_than = -1ms}, PurgeOptions{.batch_rows = 0},
        PurgeOptions{.batch_rows = 1'000'001}, PurgeOptions{.batch_time = 0ms},
        PurgeOptions{.batch_time = std::chrono::milliseconds::max()}, PurgeOptions{.pause = -1ms}}) {
    EXPECT_THROW(purge(options), InvalidArgument);
  }
}

}  // namespace

void register_inbox(const std::string& prefix, const Conformance::MakeFixture& make) {
  testing::register_conformance_cases(prefix + "/InboxConformance", CONFORMANCE_CASES, make);
}

}  // namespace idem::conformance
