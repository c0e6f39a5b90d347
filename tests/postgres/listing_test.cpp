// What list_records shows, and of what.
#include "idem/postgres/listing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <pqxx/pqxx>
#include <string>
#include <utility>
#include <vector>

#include "idem/base/error.hpp"
#include "idem/request/fingerprint.hpp"
#include "postgres/test_database.hpp"

namespace idem::postgres_test {
namespace {

using postgres::RecordFilter;
using postgres::RecordSummary;
using std::chrono::hours;
using std::chrono::minutes;

class Listing : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<RecordSummary> list(const RecordFilter& filter = {}) const {
    const auto connection = database.connect();
    pqxx::read_transaction tx{*connection};
    return postgres::list_records(tx, {}, filter);
  }

  // The key values that are listed, in order.
  [[nodiscard]] std::vector<std::string> keys(const RecordFilter& filter = {}) const {
    std::vector<std::string> values;
    for (const RecordSummary& each : list(filter)) values.push_back(each.key.value);
    return values;
  }

  // Reserves `key`, calls `then` with the store and the lease, and commits.
  template <class Then>
  Lease reserve(const Key& key, const Then& then, const ReserveOptions& options = {}) {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    auto store = database.backend().store(tx);
    Lease lease = std::get<Acquired>(store->reserve(key, fingerprint, options)).lease;
    then(*store, lease);
    tx.commit();
    return lease;
  }
  Lease reserve(const Key& key, const ReserveOptions& options = {}) {
    return reserve(
        key, [](auto&, const Lease&) {}, options);
  }

  static void complete(IdempotencyStore& store, const Lease& lease) {
    store.complete(lease, text_response(200, ""));
  }
  static void fail(IdempotencyStore& store, const Lease& lease) { store.fail(lease, text_response(402, "")); }
  static void mark_unknown(IdempotencyStore& store, const Lease& lease) {
    store.mark_unknown(lease, text_response(202, ""));
  }

  const TestDatabase database{};
  const Fingerprint fingerprint = Fingerprinter{}({.operation = "op", .body = "{}"});
};

TEST_F(Listing, IsEmptyWhereThereIsNoRecord) {
  EXPECT_TRUE(list().empty());
}

TEST_F(Listing, ShowsWhatFindShows) {
  ReserveOptions options;
  options.resumable = true;
  options.downstream = deduplicates_for("acquirer", hours{24});
  const Key key{"tenant-1", "POST /payments", "key-1"};
  reserve(key, complete, options);
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  const auto record = database.backend().store(tx)->find(key).value();
  const auto listed = postgres::list_records(tx, {});
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].key, key);
  EXPECT_EQ(listed[0].state, State::completed);
  EXPECT_EQ(listed[0].holder, record.holder);
  EXPECT_EQ(listed[0].generation, record.generation);
  EXPECT_EQ(listed[0].downstream, "acquirer");
  EXPECT_EQ(listed[0].created_at, record.created_at);
  EXPECT_EQ(listed[0].lease_until, record.lease_until);
  EXPECT_EQ(listed[0].expires_at, record.expires_at);
  EXPECT_FALSE(listed[0].lapsed);
  EXPECT_FALSE(listed[0].taken_over());
}

TEST_F(Listing, PutsTheOldestFirst) {
  reserve({"p", "op", "old"});
  database.advance(minutes{1});
  reserve({"p", "op", "middle"});
  database.advance(minutes{1});
  reserve({"p", "op", "new"});
  EXPECT_EQ(keys(), (std::vector<std::string>{"old", "middle", "new"}));
}

TEST_F(Listing, StopsAtTheLimitWithTheOldest) {
  reserve({"p", "op", "old"});
  database.advance(minutes{1});
  reserve({"p", "op", "middle"});
  database.advance(minutes{1});
  reserve({"p", "op", "new"});
  EXPECT_EQ(keys({.limit = 2}), (std::vector<std::string>{"old", "middle"}));
}

TEST_F(Listing, ShowsOnlyTheStatesAskedFor) {
  reserve({"p", "op", "in progress"});
  database.advance(minutes{1});
  reserve({"p", "op", "completed"}, complete);
  database.advance(minutes{1});
  reserve({"p", "op", "failed"}, fail);
  database.advance(minutes{1});
  reserve({"p", "op", "unknown"}, mark_unknown);
  using Keys = std::vector<std::string>;
  EXPECT_EQ(keys({.states = {State::in_progress}}), Keys{"in progress"});
  EXPECT_EQ(keys({.states = {State::completed}}), Keys{"completed"});
  EXPECT_EQ(keys({.states = {State::failed}}), Keys{"failed"});
  EXPECT_EQ(keys({.states = {State::unknown}}), Keys{"unknown"});
  EXPECT_EQ(keys({.states = {State::unknown, State::completed}}), (Keys{"completed", "unknown"}));
  EXPECT_EQ(keys(), (Keys{"in progress", "completed", "failed", "unknown"}));
}

TEST_F(Listing, ShowsOnlyThePrincipalAndOperationAskedFor) {
  reserve({"p", "op", "1"});
  database.advance(minutes{1});
  reserve({"p' OR true --", "op", "2"});
  database.advance(minutes{1});
  reserve({"p", "$1 \\ op", "3"});
  EXPECT_EQ(keys({.principal = "p' OR true --"}), std::vector<std::string>{"2"});
  EXPECT_EQ(keys({.operation = "$1 \\ op"}), std::vector<std::string>{"3"});
  EXPECT_EQ(keys({.principal = "p"}), (std::vector<std::string>{"1", "3"}));
  EXPECT_EQ(keys({.principal = "p", .operation = "op"}), std::vector<std::string>{"1"});
  EXPECT_TRUE(keys({.principal = "P"}).empty());
}

TEST_F(Listing, ShowsOnlyWhatIsOldEnough) {
  reserve({"p", "op", "old"});
  database.advance(hours{2});
  reserve({"p", "op", "new"});
  EXPECT_EQ(keys({.older_than = hours{2}}), std::vector<std::string>{"old"});
  EXPECT_TRUE(keys({.older_than = hours{3}}).empty());
  EXPECT_EQ(keys({.older_than = std::chrono::milliseconds{0}}), (std::vector<std::string>{"old", "new"}));
}

TEST_F(Listing, CountsTheAgeByTheServersClock) {
  reserve({"p", "op", "k"});
  database.advance(hours{2});
  const auto listed = list();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_GE(listed[0].age, hours{2});
  EXPECT_LT(listed[0].age, hours{3});
  // The server's clock was set back since.
  database.advance(-hours{24});
  EXPECT_EQ(list().at(0).age, std::chrono::microseconds{0});
}

TEST_F(Listing, CountsTheAgeInALongTransactionToo) {
  reserve({"p", "op", "k"});
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  const auto first = postgres::list_records(tx, {});
  const auto second = postgres::list_records(tx, {});
  EXPECT_GT(second.at(0).age, first.at(0).age);
}

TEST_F(Listing, TellsALapsedReservation) {
  reserve({"p", "op", "lapsed"}, {.lease = minutes{1}});
  reserve({"p", "op", "unknown"}, mark_unknown, {.lease = minutes{1}});
  database.advance(minutes{2});
  reserve({"p", "op", "live"}, {.lease = minutes{1}});
  std::vector<std::string> lapsed;
  for (const RecordSummary& each : list()) {
    if (each.lapsed) lapsed.push_back(each.key.value);
  }
  EXPECT_EQ(lapsed, std::vector<std::string>{"lapsed"});
}

TEST_F(Listing, TellsATakeover) {
  ReserveOptions options{.lease = minutes{1}};
  options.resumable = true;
  options.downstream = deduplicates_for("acquirer", hours{24});
  const Lease first = reserve({"p", "op", "k"}, options);
  database.advance(minutes{2});
  const Lease second = reserve({"p", "op", "k"}, options);
  const auto listed = list();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_TRUE(listed[0].taken_over());
  EXPECT_EQ(listed[0].holder, second.holder);
  EXPECT_EQ(listed[0].generation, first.holder.fence);
}

TEST_F(Listing, LeavesOutExpiredRecordsAndKeepsUnsettledOnes) {
  reserve({"p", "op", "in progress"});
  database.advance(minutes{1});
  reserve({"p", "op", "unknown"}, mark_unknown);
  reserve({"p", "op", "completed"}, complete);
  reserve({"p", "op", "failed"}, fail);
  database.advance(hours{24} * 365);
  EXPECT_EQ(keys(), (std::vector<std::string>{"in progress", "unknown"}));
}

TEST_F(Listing, UsesTheNamesGiven) {
  reserve({"p", "op", "k"});
  database.execute(R"(ALTER TABLE idem_record RENAME TO "other $1 ""name""")");
  const auto connection = database.connect();
  pqxx::read_transaction tx{*connection};
  const auto listed =
      postgres::list_records(tx, {.schema = database.schema(), .record = R"(other $1 "name")"});
  EXPECT_EQ(listed.size(), 1U);
  EXPECT_THROW(static_cast<void>(postgres::list_records(tx, {})), StoredDataError);
}

TEST_F(Listing, RefusesAFilterOutOfBoundsAndLeavesTheTransactionUsable) {
  const auto connection = database.connect();
  pqxx::read_transaction tx{*connection};
  const auto list_with = [&](const RecordFilter& filter) {
    static_cast<void>(postgres::list_records(tx, {}, filter));
  };
  EXPECT_THROW(list_with({.limit = 0}), InvalidArgument);
  EXPECT_THROW(list_with({.limit = 1'000'001}), InvalidArgument);
  EXPECT_THROW(list_with({.principal = ""}), InvalidArgument);
  EXPECT_THROW(list_with({.principal = "\xff"}), InvalidArgument);
  EXPECT_THROW(list_with({.operation = std::string(256, 'o')}), InvalidArgument);
  EXPECT_THROW(list_with({.older_than = std::chrono::milliseconds{-1}}), InvalidArgument);
  EXPECT_THROW(list_with({.older_than = hours{24} * 366 * 11}), InvalidArgument);
  EXPECT_NO_THROW(list_with({.limit = 1'000'000}));
}

TEST_F(Listing, FindsAnEventThatAConsumerHasSeen) {
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  const EventIdentity event{"source $1 '", "id \\ \"$2"};
  EXPECT_FALSE(postgres::find_event(tx, {}, "c", event));
  (void)database.backend().inbox_store(tx)->receive(
      "c", {&event, 1}, {.horizon = hours{2}, .skew = hours{1}, .unknown_age = UnknownAge::apply});
  const auto seen = postgres::find_event(tx, {}, "c", event);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->keep_until - seen->received_at, hours{3});
  EXPECT_FALSE(postgres::find_event(tx, {}, "other", event));
  EXPECT_FALSE(postgres::find_event(tx, {}, "c", {event.id, event.source}));
  EXPECT_THROW((void)postgres::find_event(tx, {}, "", event), InvalidArgument);
  EXPECT_THROW((void)postgres::find_event(tx, {}, "c", {"", "id"}), InvalidEvent);
  EXPECT_THROW((void)postgres::find_event(tx, {.inbox = "none"}, "c", event), StoredDataError);
}

TEST_F(Listing, CountsWhatAPurgeWouldDelete) {
  const EventIdentity event{"s", "1"};
  const auto add = [&](const std::string& key) {
    reserve({"p", "in progress", key});
    reserve({"p", "unknown", key}, mark_unknown);
    reserve({"p", "completed", key}, complete);
    reserve({"p", "failed", key}, fail);
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    (void)database.backend().inbox_store(tx)->receive(key, {&event, 1}, {.unknown_age = UnknownAge::apply});
    tx.commit();
  };
  const auto counted = [&](std::chrono::milliseconds older_than) {
    const auto connection = database.connect();
    pqxx::read_transaction tx{*connection};
    const postgres::PurgeableRows rows = postgres::count_purgeable(tx, {}, older_than);
    return std::pair{rows.records, rows.events};
  };
  using Counts = std::pair<std::int64_t, std::int64_t>;
  add("old");
  database.advance(hours{24} * 10);
  add("new");
  EXPECT_EQ(counted({}), (Counts{2, 1}));
  EXPECT_EQ(counted(hours{24} * 10), (Counts{2, 1}));
  EXPECT_EQ(counted(hours{24} * 11), (Counts{0, 0}));
  database.advance(hours{24} * 10);
  EXPECT_EQ(counted(hours{24}), (Counts{4, 2}));
  EXPECT_EQ(counted(hours{24} * 11), (Counts{2, 1}));
  EXPECT_THROW((void)counted(hours{-1}), InvalidArgument);
  EXPECT_THROW((void)counted(hours{24} * 366 * 11), InvalidArgument);
}

TEST_F(Listing, RefusesATransactionThatIsOver) {
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  tx.commit();
  EXPECT_THROW(static_cast<void>(postgres::list_records(tx, {})), TransactionClosed);
}

}  // namespace
}  // namespace idem::postgres_test
