// The purge on PostgreSQL. What both backends have in common is in tests/conformance/inbox_conformance.hpp.
#include <gtest/gtest.h>

#include <pqxx/pqxx>
#include <string>

#include "idem/command/purge.hpp"
#include "idem/testing/race.hpp"
#include "postgres/test_database.hpp"
#include "postgres/test_unit.hpp"

namespace idem::postgres_test {
namespace {

// Fault 89. The expired ones are even, the live ones odd, side by side on every page.
TEST(Purge, TwoSideBySideLeaveEveryLiveRowAndDoNotDeadlock) {
  constexpr long long each = 20'000;
  const TestDatabase database;
  database.execute(
      "INSERT INTO idem_record (key_hash, principal, operation, idempotency_key, fingerprint, state, fence, "
      "attempt, "
      "generation, reserved_xact, resumable, call_deadline, lease_until, retention, response_status, "
      "response_headers, response_body, created_at, finished_at, expires_at) "
      "SELECT md5(n::text)::uuid, 'p', 'op', n::text, decode(repeat('01', 33), 'hex'), 2, 1, "
      "md5(n::text)::uuid, 1, "
      "pg_current_xact_id(), false, interval '0', now(), interval '1 hour', 201, '', '', now(), now(), "
      "now() + CASE n % 2 WHEN 0 THEN interval '-1 day' ELSE interval '1 day' END FROM generate_series(1, " +
      std::to_string(2 * each) + ") AS n");
  std::atomic<std::size_t> purged{0};
  testing::race(2, [&](std::size_t) {
    const PurgeReport report =
        purge_records(database.backend(), [&] { return TestUnit{database}; }, {.batch_rows = 200});
    EXPECT_TRUE(report.finished);
    purged += report.rows;
  });
  EXPECT_EQ(purged, each);
  EXPECT_EQ(database.number("SELECT count(*) FROM idem_record"), each);
  EXPECT_EQ(database.number("SELECT count(*) FROM idem_record WHERE expires_at <= now()"), 0);
}

// An expired record that is being replaced belongs to the new request.
TEST(Purge, ARowInUseIsLeftAndNotWaitedFor) {
  const TestDatabase database;
  const Key key{"p", "op", "k"};
  const Fingerprint fingerprint = Fingerprinter{}({.operation = "op", .body = "{}"});
  {
    TestUnit unit{database};
    auto store = database.backend().store(unit.transaction());
    store->complete(std::get<Acquired>(store->reserve(key, fingerprint)).lease, text_response(200, "old"));
    unit.commit();
  }
  database.advance(std::chrono::hours{73});
  TestUnit replacing{database};
  auto store = database.backend().store(replacing.transaction());
  const auto lease = std::get<Acquired>(store->reserve(key, fingerprint)).lease;
  const auto purge = [&] {
    return purge_records(database.backend(), [&] { return TestUnit{database}; }).rows;
  };
  EXPECT_EQ(purge(), 0U);
  store->complete(lease, text_response(200, "new"));
  replacing.commit();
  EXPECT_EQ(purge(), 0U);
  EXPECT_EQ(database.number("SELECT count(*) FROM idem_record WHERE state = 2"), 1);
}

}  // namespace
}  // namespace idem::postgres_test
