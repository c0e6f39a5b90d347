// Statements with quoted values, sent through the caller's transaction.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "idem/base/clock.hpp"
#include "idem/base/uuid.hpp"
#include "idem/postgres/names.hpp"
#include "idem/postgres/reconcile.hpp"
#include "postgres/pqxx_compat.hpp"

namespace idem {
inline namespace v0 {
namespace postgres {

/// One value, or a list of rows of them, as SQL. Made from typed values only, so that no unquoted text can reach a
/// statement.
class Literal {
 public:
  Literal(pqxx::dbtransaction& tx, const std::string& text) : sql_{tx.quote(text)} {}
  Literal(pqxx::dbtransaction& tx, const std::optional<std::string>& text)
      : sql_{text ? tx.quote(*text) : std::string{"NULL"}} {}
  explicit Literal(std::span<const std::byte> bytes);
  explicit Literal(const Uuid& uuid);
  /// A timestamptz.
  explicit Literal(const std::optional<TimePoint>& time);
  explicit Literal(const std::optional<std::int64_t>& number)
      : sql_{number ? std::to_string(*number) : std::string{"NULL"}} {}
  explicit Literal(std::int64_t number) : sql_{std::to_string(number)} {}
  explicit Literal(bool truth) : sql_{truth ? "true" : "false"} {}
  /// An interval.
  explicit Literal(std::chrono::milliseconds duration);
  explicit Literal(const std::optional<std::chrono::milliseconds>& duration);

  /// `VALUES` with these rows, of which there is at least one.
  [[nodiscard]] static Literal values(const std::vector<std::vector<Literal>>& rows);

  [[nodiscard]] const std::string& sql() const noexcept { return sql_; }

 private:
  Literal() = default;

  std::string sql_;
};

/// `statement` with $1, $2, … replaced by the values in order. Each place that it names must have a value.
[[nodiscard]] std::string filled(std::string_view statement, const std::vector<Literal>& values);

/// `name` as a quoted identifier. Throws InvalidArgument unless it is 1 to 63 bytes without control
/// characters.
[[nodiscard]] std::string quote_identifier(std::string_view name);

/// `name`, quoted, in the schema of `names`. Throws InvalidArgument as quote_identifier does.
[[nodiscard]] std::string qualified(const Names& names, const std::string& name);

/// `relation`, quoted. Throws InvalidArgument likewise.
[[nodiscard]] std::string qualified(const Relation& relation);

/// Sends one statement in the caller's transaction.
///
/// Throws TransactionClosed where that is over, TransactionConflict where a race was lost, StoredDataError where the
/// tables are missing; whatever else the database throws is passed on.
pqxx::result run(pqxx::dbtransaction& tx, const std::string& sql);

/// Makes the transaction uncommittable on the server. Throws where the server cannot be told.
void make_uncommittable(pqxx::dbtransaction& tx);

}  // namespace postgres
}  // namespace v0
}  // namespace idem
