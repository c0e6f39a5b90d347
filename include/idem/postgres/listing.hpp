// What idem's tables hold, for operators and dashboards.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "idem/base/clock.hpp"
#include "idem/event/event_identity.hpp"
#include "idem/postgres/names.hpp"
#include "idem/record/record.hpp"
#include "idem/request/key.hpp"

namespace pqxx {
class dbtransaction;
}

namespace idem {
inline namespace v0 {
namespace postgres {

/// A record in a list: without its fingerprint and its response.
struct RecordSummary {
  Key key;
  State state = State::in_progress;
  Holder holder{};
  std::int64_t generation = 0;
  std::optional<std::string> downstream{};
  TimePoint created_at{};
  TimePoint lease_until{};
  /// Set in COMPLETED and FAILED.
  std::optional<TimePoint> expires_at{};
  /// Since `created_at`, by the server's clock; never negative.
  std::chrono::microseconds age{0};
  /// IN_PROGRESS, and its lease has ended by the server's clock.
  bool lapsed = false;

  /// Did a later attempt take the record over from the first?
  [[nodiscard]] bool taken_over() const noexcept { return holder.fence != generation; }
};

/// Which records are listed: those that meet every condition that is set.
struct RecordFilter {
  /// Empty: each state.
  std::vector<State> states{};
  std::optional<std::string> principal{};
  std::optional<std::string> operation{};
  /// Created at least this long ago, by the server's clock. 0 to ten years.
  std::optional<std::chrono::milliseconds> older_than{};
  /// At most so many records: 1 to 1,000,000. They are held in memory, under 2 KiB each. For "are there more?" ask for
  /// one more than you show.
  std::size_t limit = 1000;
};

/// Lists the records that `filter` selects, the oldest `created_at` first, as the caller's transaction sees them. A
/// settled record that has expired is absent, as for `find`. Changes and locks nothing, so a rollback changes nothing.
///
/// One statement. No index serves it: it reads the whole table once and keeps the `limit` oldest, so its cost grows with
/// the table. For operators and dashboards, never for each request. Where `older_than` is set, the server may use the
/// BRIN index on `created_at` to leave out younger pages.
///
/// Throws InvalidArgument for a limit or a text out of bounds, before anything is sent; StoredDataError where the tables
/// are missing; TransactionClosed outside an open transaction; and what the database throws.
[[nodiscard]] std::vector<RecordSummary> list_records(pqxx::dbtransaction& tx, const Names& names,
                                                      const RecordFilter& filter = {});

/// That a consumer has seen an event.
struct SeenEvent {
  TimePoint received_at{};
  /// Until then the event may be delivered again, and its row is kept.
  TimePoint keep_until{};
};

/// Finds whether `consumer` has seen the event, as the caller's transaction sees it: empty where it has not, or where the
/// row was purged. Only the identity's source and id count. Changes and locks nothing, so a rollback changes nothing.
///
/// One row by the primary key. Throws InvalidEvent and InvalidArgument for texts out of bounds (InboxStore::receive() has
/// the limits), before anything is sent; otherwise as list_records().
[[nodiscard]] std::optional<SeenEvent> find_event(pqxx::dbtransaction& tx, const Names& names,
                                                  const std::string& consumer, const EventIdentity& event);

/// What purge_records() and purge_inbox() may delete.
struct PurgeableRows {
  std::int64_t records = 0;
  std::int64_t events = 0;
};

/// Counts the rows that a purge with this `older_than` would delete at this moment, as the caller's transaction sees
/// them. Changes and locks nothing, so a rollback changes nothing. A purge may come to another number: rows grow old
/// meanwhile, and it leaves those that somebody is using.
///
/// One statement, which no index serves: it reads both tables. `older_than` is 0 to ten years, otherwise InvalidArgument.
/// Otherwise as list_records().
[[nodiscard]] PurgeableRows count_purgeable(pqxx::dbtransaction& tx, const Names& names,
                                            std::chrono::milliseconds older_than = {});

}  // namespace postgres
}  // namespace v0
}  // namespace idem
