// A record as PostgreSQL returns and takes it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "idem/postgres/listing.hpp"
#include "idem/record/lapsed.hpp"
#include "idem/record/record.hpp"
#include "idem/settlement/reconcile.hpp"
#include "idem/settlement/repair.hpp"
#include "postgres/pqxx_compat.hpp"

namespace idem {
inline namespace v0 {
namespace postgres {

/// What the look and find statements return.
struct Look {
  TimePoint now;
  bool gate_open = true;
  /// Did the asking transaction itself reserve the record?
  bool own_transaction = false;
  std::optional<Record> record;
};

/// Reads the one row of a look. Throws StoredDataError for a value that no version writes, or another key's row.
[[nodiscard]] Look read_look(const pqxx::result& result, const Key& key);

/// Reads the rows of a list. Throws StoredDataError for a value that no version writes.
[[nodiscard]] std::vector<RecordSummary> read_summaries(const pqxx::result& result);

/// Reads a page of lapsed records. Throws StoredDataError for a value that no version writes.
[[nodiscard]] LapsedPage read_lapsed(const pqxx::result& result, const std::string& operation);

/// One row of the findings' cursor.
struct Compared {
  std::optional<SettlementEntry> entry;
  std::optional<OurSide> ours;
  EntryContext context;
};

/// Reads rows of the findings' cursor. Throws StoredDataError for a value that no version writes, InvalidArgument where the
/// effects have two rows for one downstream key.
[[nodiscard]] std::vector<Compared> read_compared(const pqxx::result& result);

/// Reads the rows of a list of repairs. Throws StoredDataError likewise.
[[nodiscard]] std::vector<Repair> read_repairs(const pqxx::result& result);

// Templates over the field, which is another type in libpqxx 8.
template <class Field>
[[nodiscard]] TimePoint read_time(const Field& field) {
  return TimePoint{std::chrono::microseconds{field.template as<std::int64_t>()}};
}

/// Headers as "name:value" lines, each ended by a line feed.
[[nodiscard]] std::string encode_headers(const std::vector<Header>& headers);
[[nodiscard]] std::vector<Header> decode_headers(std::string_view text);

}  // namespace postgres
}  // namespace v0
}  // namespace idem
