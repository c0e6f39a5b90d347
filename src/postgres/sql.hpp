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

#include "idem/uuid.hpp"
#include "pqxx_compat.hpp"

namespace idem::inline v0::postgres {

/// One value as an SQL literal. Made from typed values only, so that no unquoted text can reach a statement.
class Literal {
 public:
  Literal(pqxx::dbtransaction& tx, const std::string& text) : sql_{tx.quote(text)} {}
  Literal(pqxx::dbtransaction& tx, const std::optional<std::string>& text)
      : sql_{text ? tx.quote(*text) : std::string{"NULL"}} {}
  explicit Literal(std::span<const std::byte> bytes);
  explicit Literal(const Uuid& uuid);
  explicit Literal(std::int64_t number) : sql_{std::to_string(number)} {}
  explicit Literal(bool truth) : sql_{truth ? "true" : "false"} {}
  /// An interval.
  explicit Literal(std::chrono::milliseconds duration);
  explicit Literal(const std::optional<std::chrono::milliseconds>& duration);

  [[nodiscard]] const std::string& sql() const noexcept { return sql_; }

 private:
  std::string sql_;
};

/// `statement` with $1, $2, … replaced by the values in order. Each place that it names must have a value.
[[nodiscard]] std::string filled(std::string_view statement, const std::vector<Literal>& values);

/// `name` as a quoted identifier. Throws InvalidArgument unless it is 1 to 63 bytes without control
/// characters.
[[nodiscard]] std::string quote_identifier(std::string_view name);

/// Sends one statement in the caller's transaction.
///
/// Throws TransactionClosed where that is over, TransactionConflict where a race was lost, StoredDataError where the
/// tables are missing; whatever else the database throws is passed on.
pqxx::result run(pqxx::dbtransaction& tx, const std::string& sql);

}  // namespace idem::inline v0::postgres
