// Outbox::append on any backend. Instantiated by each backend's test with a fixture of:
//
//     const Backend& backend();
//     Unit begin();                              // as transact() takes it
//     std::vector<OutboxEvent> events();         // what is committed, by sequence
//     TimePoint now();                           // the store's clock
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "idem/base/error.hpp"
#include "idem/command/transact.hpp"
#include "idem/event/outbox.hpp"

namespace idem::conformance {

template <class Fixture>
class OutboxConformance : public ::testing::Test {
 protected:
  static OutboxMessage message(std::string id = "p1", std::string type = "PaymentAuthorized") {
    return {"payment",
            std::move(id),
            std::move(type),
            text_payload("{\"amount\":1290}"),
            {{"content-type", "application/json"}}};
  }

  // Appends `what` in a transaction of its own.
  template <class What>
  auto append(const What& what) {
    auto unit = fixture.begin();
    auto ids = Outbox{fixture.backend()}.append(detail::transaction_of(unit), what);
    detail::commit(unit);
    return ids;
  }

  Fixture fixture;
};

TYPED_TEST_SUITE_P(OutboxConformance);

TYPED_TEST_P(OutboxConformance, AppendKeepsEveryByteUnderAnIdOfItsOwn) {
  std::vector<std::byte> every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte.push_back(static_cast<std::byte>(byte));
  OutboxMessage message{"p\xc3\xa4yment",
                        "it's $1 \\ \"a\"",
                        "Paid",
                        every_byte,
                        {{"traceparent", "00-1"}, {"Traceparent", ""}, {"traceparent", "a: b"}}};
  const TimePoint before = this->fixture.now();
  const Uuid id = this->append(message);
  const TimePoint after = this->fixture.now();
  const std::vector<OutboxEvent> events = this->fixture.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].id, id);
  EXPECT_EQ(events[0].message, message);
  EXPECT_GE(events[0].created_at, before);
  EXPECT_LE(events[0].created_at, after);
  // The id is the store's time, to the millisecond.
  EXPECT_EQ(uuid_v7_time(id), std::chrono::floor<std::chrono::milliseconds>(events[0].created_at));
}

TYPED_TEST_P(OutboxConformance, AppendKeepsAnEmptyPayload) {
  this->append(OutboxMessage{"a", "b", "c", {}});
  EXPECT_EQ(this->fixture.events().at(0).message, (OutboxMessage{"a", "b", "c", {}}));
}

TYPED_TEST_P(OutboxConformance, AppendIsRolledBackWithItsTransaction) {
  {
    auto unit = this->fixture.begin();
    Outbox{this->fixture.backend()}.append(detail::transaction_of(unit), this->message());
  }
  EXPECT_TRUE(this->fixture.events().empty());
}

TYPED_TEST_P(OutboxConformance, AppendOfManyKeepsTheirOrderAndTellsEachId) {
  std::vector<OutboxMessage> messages;
  for (int i = 0; i < 500; ++i)
    messages.push_back(this->message("p" + std::to_string(i % 7), std::to_string(i)));
  const std::vector<Uuid> ids = this->append(messages);
  const std::vector<OutboxEvent> events = this->fixture.events();
  ASSERT_EQ(events.size(), messages.size());
  ASSERT_EQ(ids.size(), messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    EXPECT_EQ(events[i].message, messages[i]);
    EXPECT_EQ(events[i].id, ids[i]);
    if (i > 0) {
      EXPECT_GT(events[i].sequence, events[i - 1].sequence);
    }
  }
  EXPECT_EQ(std::set<Uuid>(ids.begin(), ids.end()).size(), ids.size());
}

TYPED_TEST_P(OutboxConformance, AppendOfNoneAppendsNothing) {
  EXPECT_TRUE(this->append(std::vector<OutboxMessage>{}).empty());
  EXPECT_TRUE(this->fixture.events().empty());
}

TYPED_TEST_P(OutboxConformance, AppendAfterAppendInOneTransactionKeepsTheOrder) {
  {
    auto unit = this->fixture.begin();
    auto& tx = detail::transaction_of(unit);
    const Outbox outbox{this->fixture.backend()};
    for (const char* type : {"1", "2", "3"}) outbox.append(tx, this->message("p1", type));
    detail::commit(unit);
  }
  std::string order;
  for (const OutboxEvent& event : this->fixture.events()) order += event.message.event_type;
  EXPECT_EQ(order, "123");
}

TYPED_TEST_P(OutboxConformance, AppendRefusesWhatBreaksALimitAndTheTransactionIsUsable) {
  const auto with = [&](const auto& change) {
    OutboxMessage message = this->message();
    change(message);
    return message;
  };
  const std::string long_text(256, 'x');
  const std::vector<OutboxMessage> refused{
      with([&](OutboxMessage& m) { m.aggregate_type.clear(); }),
      with([&](OutboxMessage& m) { m.aggregate_id = long_text; }),
      with([&](OutboxMessage& m) { m.event_type = std::string("a\0b", 3); }),
      with([&](OutboxMessage& m) { m.event_type = "\xff"; }),
      with([&](OutboxMessage& m) {
        m.headers.push_back({"a:b", "c"});
      }),
      with([&](OutboxMessage& m) {
        m.headers.push_back({"a", "b\nc"});
      }),
      with([&](OutboxMessage& m) { m.payload.resize((std::size_t{1} << 20) + 1); }),
  };
  auto unit = this->fixture.begin();
  auto& tx = detail::transaction_of(unit);
  const Outbox outbox{this->fixture.backend()};
  for (const OutboxMessage& each : refused) EXPECT_THROW(outbox.append(tx, each), InvalidArgument);
  // One bad one refuses all.
  EXPECT_THROW(outbox.append(tx, std::vector{this->message(), refused[0]}), InvalidArgument);
  EXPECT_THROW(outbox.append(tx, std::vector<OutboxMessage>(OutboxStore::most_messages + 1, this->message())),
               InvalidArgument);
  outbox.append(tx, with([&](OutboxMessage& m) { m.aggregate_id = std::string(255, 'x'); }));
  detail::commit(unit);
  EXPECT_EQ(this->fixture.events().size(), 1U);
}

REGISTER_TYPED_TEST_SUITE_P(OutboxConformance, AppendKeepsEveryByteUnderAnIdOfItsOwn,
                            AppendKeepsAnEmptyPayload, AppendIsRolledBackWithItsTransaction,
                            AppendOfManyKeepsTheirOrderAndTellsEachId, AppendOfNoneAppendsNothing,
                            AppendAfterAppendInOneTransactionKeepsTheOrder,
                            AppendRefusesWhatBreaksALimitAndTheTransactionIsUsable);

}  // namespace idem::conformance
