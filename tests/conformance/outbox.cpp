// Outbox::append on any backend.
#include <set>
#include <string>
#include <vector>

#include "conformance/suites.hpp"
#include "idem/base/error.hpp"
#include "idem/event/outbox.hpp"

namespace idem::conformance {

class OutboxConformance : public Conformance {
 public:
  explicit OutboxConformance(const MakeFixture& make) : Conformance{make} {}

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
    auto ids = Outbox{backend()}.append(unit->transaction(), what);
    unit->commit();
    return ids;
  }
};

namespace {

CONFORMANCE_TESTS_OF(OutboxConformance);

CONFORMANCE_TEST(OutboxConformance, AppendKeepsEveryByteUnderAnIdOfItsOwn) {
  std::vector<std::byte> every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte.push_back(static_cast<std::byte>(byte));
  OutboxMessage message{"p\xc3\xa4yment",
                        "it's $1 \\ \"a\"",
                        "Paid",
                        every_byte,
                        {{"traceparent", "00-1"}, {"Traceparent", ""}, {"traceparent", "a: b"}}};
  const TimePoint before = fixture.now();
  const Uuid id = append(message);
  const TimePoint after = fixture.now();
  const std::vector<OutboxEvent> events = fixture.outbox();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].id, id);
  EXPECT_EQ(events[0].message, message);
  EXPECT_GE(events[0].created_at, before);
  EXPECT_LE(events[0].created_at, after);
  // The id is the store's time, to the millisecond.
  EXPECT_EQ(uuid_v7_time(id), std::chrono::floor<std::chrono::milliseconds>(events[0].created_at));
}

CONFORMANCE_TEST(OutboxConformance, AppendKeepsAnEmptyPayload) {
  append(OutboxMessage{"a", "b", "c", {}});
  EXPECT_EQ(fixture.outbox().at(0).message, (OutboxMessage{"a", "b", "c", {}}));
}

CONFORMANCE_TEST(OutboxConformance, AppendIsRolledBackWithItsTransaction) {
  {
    auto unit = fixture.begin();
    Outbox{backend()}.append(unit->transaction(), message());
  }
  EXPECT_TRUE(fixture.outbox().empty());
}

CONFORMANCE_TEST(OutboxConformance, AppendOfManyKeepsTheirOrderAndTellsEachId) {
  std::vector<OutboxMessage> messages;
  for (int i = 0; i < 500; ++i) messages.push_back(message("p" + std::to_string(i % 7), std::to_string(i)));
  const std::vector<Uuid> ids = append(messages);
  const std::vector<OutboxEvent> events = fixture.outbox();
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

CONFORMANCE_TEST(OutboxConformance, AppendOfNoneAppendsNothing) {
  EXPECT_TRUE(append(std::vector<OutboxMessage>{}).empty());
  EXPECT_TRUE(fixture.outbox().empty());
}

CONFORMANCE_TEST(OutboxConformance, AppendAfterAppendInOneTransactionKeepsTheOrder) {
  {
    auto unit = fixture.begin();
    Tx& tx = unit->transaction();
    const Outbox outbox{backend()};
    for (const char* type : {"1", "2", "3"}) outbox.append(tx, message("p1", type));
    unit->commit();
  }
  std::string order;
  for (const OutboxEvent& event : fixture.outbox()) order += event.message.event_type;
  EXPECT_EQ(order, "123");
}

CONFORMANCE_TEST(OutboxConformance, AppendRefusesWhatBreaksALimitAndTheTransactionIsUsable) {
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
  auto unit = fixture.begin();
  Tx& tx = unit->transaction();
  const Outbox outbox{backend()};
  for (const OutboxMessage& each : refused) EXPECT_THROW(outbox.append(tx, each), InvalidArgument);
  // One bad one refuses all.
  EXPECT_THROW(outbox.append(tx, std::vector{message(), refused[0]}), InvalidArgument);
  EXPECT_THROW(outbox.append(tx, std::vector<OutboxMessage>(OutboxStore::most_messages + 1, message())),
               InvalidArgument);
  outbox.append(tx, with([&](OutboxMessage& m) { m.aggregate_id = std::string(255, 'x'); }));
  unit->commit();
  EXPECT_EQ(fixture.outbox().size(), 1U);
}

}  // namespace

void register_outbox(const std::string& prefix, const Conformance::MakeFixture& make) {
  testing::register_conformance_cases(prefix + "/OutboxConformance", CONFORMANCE_CASES, make);
}

}  // namespace idem::conformance
