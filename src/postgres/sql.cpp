#include "postgres/sql.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "base/hex.hpp"
#include "idem/base/error.hpp"

namespace idem {
inline namespace v0 {
namespace postgres {

// decode() spells the bytes in plain digits, which no server setting reads in another way.
Literal::Literal(std::span<const std::byte> bytes) : sql_{"decode('" + to_hex(bytes) + "', 'hex')"} {}

Literal::Literal(const Uuid& uuid) : sql_{"'" + uuid.to_string() + "'"} {}

// Through an interval, which is exact: to_timestamp() takes a double of seconds.
Literal::Literal(const std::optional<TimePoint>& time)
    : sql_{time ? "(timestamptz 'epoch' + " + std::to_string(time->time_since_epoch().count()) +
                      " * interval '1 microsecond')"
                : std::string{"NULL::timestamptz"}} {}

Literal::Literal(std::chrono::milliseconds duration)
    : sql_{"(" + std::to_string(duration.count()) + " * interval '1 millisecond')"} {}

Literal::Literal(const std::optional<std::chrono::milliseconds>& duration)
    : sql_{duration ? Literal{*duration}.sql() : std::string{"NULL::interval"}} {}

Literal Literal::values(const std::vector<std::vector<Literal>>& rows) {
  Literal list;
  list.sql_ = "VALUES ";
  for (std::size_t row = 0; row < rows.size(); ++row) {
    list.sql_ += row == 0 ? "(" : ", (";
    for (std::size_t column = 0; column < rows[row].size(); ++column) {
      if (column > 0) list.sql_ += ", ";
      list.sql_ += rows[row][column].sql();
    }
    list.sql_ += ")";
  }
  return list;
}

std::string filled(std::string_view statement, const std::vector<Literal>& values) {
  std::string sql;
  bool in_identifier = false;
  for (std::size_t at = 0; at < statement.size();) {
    const char c = statement[at];
    if (c == '"') in_identifier = !in_identifier;
    // A '$' inside a quoted identifier is part of a configured name.
    if (c != '$' || in_identifier) {
      sql.push_back(c);
      ++at;
      continue;
    }
    std::size_t number = 0;
    const auto [next, error] =
        std::from_chars(statement.data() + at + 1, statement.data() + statement.size(), number);
    if (error != std::errc{} || number == 0 || number > values.size()) {
      throw std::logic_error{"idem: a statement names a place that has no value"};
    }
    sql.append(values[number - 1].sql());
    at = static_cast<std::size_t>(next - statement.data());
  }
  return sql;
}

std::string quote_identifier(std::string_view name) {
  constexpr std::size_t longest = 63;  // PostgreSQL cuts longer ones without a word.
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (name.empty() || name.size() > longest || std::any_of(name.begin(), name.end(), control)) {
    throw InvalidArgument{"a name in the database must be 1 to 63 bytes long, without control characters"};
  }
  // Dollar quotes of this library's own scripts.
  if (name.find("$idem") != std::string_view::npos) throw InvalidArgument{"a name must not hold \"$idem\""};
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted.push_back('"');
    quoted.push_back(c);
  }
  return quoted + '"';
}

std::string qualified(const Relation& relation) {
  return (relation.schema.empty() ? "" : quote_identifier(relation.schema) + ".") +
         quote_identifier(relation.name);
}

std::string qualified(const Names& names, const std::string& name) {
  return qualified(Relation{names.schema, name});
}

pqxx::result run(pqxx::dbtransaction& tx, const std::string& sql) {
  try {
    return exec_plain(tx, sql);
  } catch (const pqxx::usage_error&) {
    throw TransactionClosed{"idem was called on a transaction that is committed, rolled back or aborted"};
  } catch (const std::exception& failure) {
    const std::string code = sqlstate(failure);
    // 23505: under SERIALIZABLE a lost race for our own key; no other unique key is written by these statements.
    if (code == "40001" || code == "40P01" || code == "23505") {
      throw TransactionConflict{"a race for the key was lost (SQLSTATE " + code +
                                "): run the whole transaction again"};
    }
    if (code == "25P02") {
      throw TransactionClosed{"idem was called on a transaction that an earlier error has aborted"};
    }
    if (code == "42P01" || code == "42703" || code == "3F000" || code == "42883") {
      throw StoredDataError{"idem's tables are missing or of another version (SQLSTATE " + code +
                            "): install the schema, or check the configured names and the search path"};
    }
    throw;
  }
}

void make_uncommittable(pqxx::dbtransaction& tx) {
  constexpr const char* poison =
      "SELECT CAST('idem: nothing of this transaction may be committed, so roll it back' AS integer)";
  try {
    run(tx, poison);
  } catch (const std::exception& failure) {
    if (sqlstate(failure) != "22P02") throw;
  }
}

}  // namespace postgres
}  // namespace v0
}  // namespace idem
