#include "idem/postgres/schema.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "idem/base/error.hpp"
#include "idem_embedded_sql.hpp"
#include "postgres/pqxx_compat.hpp"
#include "postgres/sql.hpp"

namespace idem {
inline namespace v0 {
namespace postgres {
namespace {

static_assert(std::size(embedded_sql) == schema_version, "each schema version is one file in sql/postgres");

struct QuotedNames {
  explicit QuotedNames(const Names& names)
      : schema{names.schema.empty() ? std::string{} : quote_identifier(names.schema)},
        record{qualified(names, names.record)},
        inbox{qualified(names, names.inbox)},
        version_guard{qualified(names, names.version_guard)},
        outbox{qualified(names, names.outbox)},
        repair{qualified(names, names.repair)},
        version{qualified(names, names.schema_version)},
        key_hash{qualified(names, names.key_hash)},
        downstream_key{qualified(names, names.downstream_key)} {}

  std::string schema;
  std::string record;
  std::string inbox;
  std::string version_guard;
  std::string outbox;
  std::string repair;
  std::string version;
  std::string key_hash;
  std::string downstream_key;
};

// The .sql files name everything in double quotes, so that they run as they stand and can be renamed here. Comments are
// left out: a configured name has no business in them.
std::string renamed(std::string_view sql, const QuotedNames& names) {
  std::string text;
  for (std::size_t at = 0; at < sql.size();) {
    const std::size_t next = std::min(sql.find('"', at), sql.find("--", at));
    text.append(sql.substr(at, next - at));
    if (next == std::string_view::npos) break;
    if (sql[next] == '-') {
      at = std::min(sql.find('\n', next), sql.size());
      continue;
    }
    const std::size_t close = sql.find('"', next + 1);
    const std::string_view name = sql.substr(next + 1, close - next - 1);
    if (name == "idem_record") {
      text += names.record;
    } else if (name == "idem_inbox") {
      text += names.inbox;
    } else if (name == "idem_version_guard") {
      text += names.version_guard;
    } else if (name == "idem_outbox") {
      text += names.outbox;
    } else if (name == "idem_schema_version") {
      text += names.version;
    } else if (name == "idem_key_hash") {
      text += names.key_hash;
    } else if (name == "idem_repair") {
      text += names.repair;
    } else if (name == "idem_downstream_key") {
      text += names.downstream_key;
    } else {
      text.append(sql.substr(next, close - next + 1));  // PostgreSQL's own, such as a collation
    }
    at = close + 1;
  }
  return text;
}

bool exists(pqxx::dbtransaction& tx, std::string_view function, const std::string& name) {
  const pqxx::result rows =
      run(tx, "SELECT " + std::string{function} + "(" + tx.quote(name) + ") IS NOT NULL");
  return rows[0][0].as<bool>();
}

// The version that the schema says it is; 0 where it says none.
int installed_version(pqxx::dbtransaction& tx, const QuotedNames& names) {
  if (!exists(tx, "to_regclass", names.version)) return 0;
  const pqxx::result rows = run(tx, "SELECT coalesce(max(version), 0) FROM " + names.version);
  return rows[0][0].as<int>();
}

}  // namespace

std::string schema_sql(const Names& names, int from_version) {
  if (from_version < 0 || from_version > schema_version) {
    throw InvalidArgument{"schema version must be 0 to " + std::to_string(schema_version)};
  }
  const QuotedNames quoted{names};
  std::string script;
  if (from_version == 0 && !quoted.schema.empty())
    script += "CREATE SCHEMA IF NOT EXISTS " + quoted.schema + ";\n";
  for (int version = from_version; version < schema_version; ++version) {
    script += renamed(embedded_sql[version].text, quoted);
  }
  return script;
}

int install_schema(pqxx::dbtransaction& tx, const Names& names) {
  const QuotedNames quoted{names};
  // One installer at a time: CREATE … IF NOT EXISTS fails where two of them run at once.
  constexpr std::int64_t installers = 0x6964656d'736368;
  run(tx, filled("SELECT pg_advisory_xact_lock($1)", {Literal{installers}}));
  if (!quoted.schema.empty() && !exists(tx, "to_regnamespace", quoted.schema)) {
    run(tx, "CREATE SCHEMA " + quoted.schema);
  }
  const int found = installed_version(tx, quoted);
  if (found > schema_version) {
    throw StoredDataError{"idem's schema is version " + std::to_string(found) +
                          ", newer than this library's " + std::to_string(schema_version) +
                          ": link a newer idem"};
  }
  const bool has_record = exists(tx, "to_regclass", quoted.record);
  if (found > 0 && !has_record) {
    throw StoredDataError{
        "the version table says version " + std::to_string(found) +
        ", but the record table is not there: give another record table its own version table, or "
        "remove the row"};
  }
  const bool has_later = (found < 2 && (exists(tx, "to_regclass", quoted.inbox) ||
                                        exists(tx, "to_regclass", quoted.version_guard))) ||
                         (found < 3 && exists(tx, "to_regclass", quoted.outbox)) ||
                         (found < 4 && exists(tx, "to_regclass", quoted.repair));
  if ((found == 0 && has_record) || has_later) {
    // The catalogue is always read as it is now; the version only as this transaction's snapshot shows it.
    throw TransactionConflict{
        "a table is there whose version is not to be seen: another process has just installed it, or it is "
        "another "
        "installation's, which needs names of its own"};
  }
  for (int version = found; version < schema_version; ++version) {
    run(tx, renamed(embedded_sql[version].text, quoted));
  }
  return found;
}

}  // namespace postgres
}  // namespace v0
}  // namespace idem
