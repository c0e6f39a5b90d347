// Installs idem's tables in the caller's database, and prints them for those who run their own migrations.
#pragma once

#include <string>

#include "idem/postgres/names.hpp"

namespace pqxx {
class dbtransaction;
}

namespace idem {
inline namespace v0 {
namespace postgres {

/// The schema version that this library reads and writes.
inline constexpr int schema_version = 4;

/// The DDL of every version after `from_version` (0: all of it) as one SQL script, under `names`.
/// Throws InvalidArgument for a name that cannot be one, or a version that this library does not know.
[[nodiscard]] std::string schema_sql(const Names& names = {}, int from_version = 0);

/// Brings the schema to this library's version inside the caller's transaction: if that rolls back, nothing was
/// installed. Returns the version that it found: `schema_version` where there was nothing to do, 0 in an empty database.
///
/// Safe to repeat, and to run from several processes at once: one waits for the other. Each record table has an inbox,
/// a version guard, an outbox, repairs and a version table of its own. Throws StoredDataError where a newer library's schema
/// is installed or the version table speaks of a record table that is not there; TransactionConflict where another process
/// installed it after this transaction's snapshot (under REPEATABLE READ and SERIALIZABLE), or one of the tables was made
/// by something else; TransactionClosed outside an open transaction; and what the database throws.
int install_schema(pqxx::dbtransaction& tx, const Names& names = {});

}  // namespace postgres
}  // namespace v0
}  // namespace idem
