#include "idem/postgres/schema.hpp"

#include <iterator>
#include <string>
#include <string_view>

#include "idem/error.hpp"
#include "idem_embedded_sql.hpp"
#include "pqxx_compat.hpp"
#include "sql.hpp"

namespace idem::inline v0::postgres {
namespace {

static_assert(std::size(embedded_sql) == schema_version, "each schema version is one file in sql/postgres");

struct QuotedNames {
  explicit QuotedNames(const Names& names)
      : schema{names.schema.empty() ? std::string{} : quote_identifier(names.schema)},
        prefix{schema.empty() ? std::string{} : schema + "."},
        record{prefix + quote_identifier(names.record)},
        created_at_index{quote_identifier(names.record.substr(0, 52) + "_created_at")},
        version{prefix + quote_identifier(names.schema_version)},
        key_hash{prefix + quote_identifier(names.key_hash)} {}

  std::string schema;
  std::string prefix;
  std::string record;
  std::string created_at_index;  // An index is made in its table's schema and takes no schema of its own.
  std::string version;
  std::string key_hash;
};

// The .sql files name everything in double quotes, so that they run as they stand and can be renamed here.
std::string renamed(std::string_view sql, const QuotedNames& names) {
  std::string text;
  for (std::size_t at = 0; at < sql.size();) {
    const std::size_t open = sql.find('"', at);
    text.append(sql.substr(at, open - at));
    if (open == std::string_view::npos) break;
    const std::size_t close = sql.find('"', open + 1);
    const std::string_view name = sql.substr(open + 1, close - open - 1);
    if (name == "idem_record") {
      text += names.record;
    } else if (name == "idem_record_created_at") {
      text += names.created_at_index;
    } else if (name == "idem_key_hash") {
      text += names.key_hash;
    } else {
      text.append(sql.substr(open, close - open + 1));
    }
    at = close + 1;
  }
  return text;
}

std::string create_version_table(const QuotedNames& names) {
  return "CREATE TABLE IF NOT EXISTS " + names.version +
         " (version integer PRIMARY KEY, installed_at timestamptz NOT NULL DEFAULT clock_timestamp());\n";
}

std::string record_version(const QuotedNames& names, int version) {
  return "INSERT INTO " + names.version + " (version) VALUES (" + std::to_string(version) + ");\n";
}

bool exists(pqxx::dbtransaction& tx, std::string_view function, const std::string& name) {
  const pqxx::result rows =
      run(tx, "SELECT " + std::string{function} + "(" + tx.quote(name) + ") IS NOT NULL");
  return rows[0][0].as<bool>();
}

}  // namespace

std::string schema_sql(const Names& names, int from_version) {
  if (from_version < 0 || from_version > schema_version) {
    throw InvalidArgument{"schema version must be 0 to " + std::to_string(schema_version)};
  }
  const QuotedNames quoted{names};
  std::string script;
  if (from_version == 0) {
    if (!quoted.schema.empty()) script += "CREATE SCHEMA IF NOT EXISTS " + quoted.schema + ";\n";
    script += create_version_table(quoted);
  }
  for (int version = from_version + 1; version <= schema_version; ++version) {
    script += renamed(embedded_sql[version - 1].text, quoted) + record_version(quoted, version);
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
  int found = 0;
  if (exists(tx, "to_regclass", quoted.version)) {
    const pqxx::result rows = run(tx, "SELECT coalesce(max(version), 0) FROM " + quoted.version);
    found = rows[0][0].as<int>();
  }
  if (found > schema_version) {
    throw StoredDataError{"idem's schema is version " + std::to_string(found) +
                          ", newer than this library's " + std::to_string(schema_version) +
                          ": link a newer idem"};
  }
  if (found == schema_version) return found;
  if (found == 0) run(tx, create_version_table(quoted));
  for (int version = found + 1; version <= schema_version; ++version) {
    run(tx, renamed(embedded_sql[version - 1].text, quoted));
    run(tx, record_version(quoted, version));
  }
  return found;
}

}  // namespace idem::inline v0::postgres
