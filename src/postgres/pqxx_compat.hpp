// The one file that looks at libpqxx's version. Compiles on 6.4, 7.x and 8.x.
#pragma once

#include <exception>
#include <pqxx/pqxx>
#include <string>

#if !defined(PQXX_VERSION_MAJOR) || PQXX_VERSION_MAJOR < 6
#error "libpqxx 6.4 or newer is required"
#endif

namespace idem {
inline namespace v0 {
namespace postgres {

// Only ever a plain statement, never a parameterised one: on a transaction that is already committed or aborted, every
// libpqxx version runs the parameterised calls in autocommit, and 6.x also runs them outside a subtransaction that has
// not sent its SAVEPOINT yet. A plain exec is refused there.
inline pqxx::result exec_plain(pqxx::dbtransaction& tx, const std::string& sql) {
  return tx.exec(sql);
}

// Does commit() throw where the server answered COMMIT by ROLLBACK, as it does in a transaction that an error has
// aborted? 7 and later return as if it were committed.
inline constexpr bool commit_tells_of_rollback = PQXX_VERSION_MAJOR < 7;

// The SQLSTATE that `failure` stands for; empty where it has none. 6.x throws class 40 without a code, 42501 has none
// before 7.10.4, and 53300 never has one, so those are told by type.
inline std::string sqlstate(const std::exception& failure) {
#if PQXX_VERSION_MAJOR >= 8
  if (const auto* coded = dynamic_cast<const pqxx::failure*>(&failure); coded && !coded->sqlstate().empty()) {
    return std::string{coded->sqlstate()};
  }
#else
  if (const auto* coded = dynamic_cast<const pqxx::sql_error*>(&failure);
      coded && !coded->sqlstate().empty()) {
    return coded->sqlstate();
  }
#endif
  if (dynamic_cast<const pqxx::serialization_failure*>(&failure)) return "40001";
  if (dynamic_cast<const pqxx::deadlock_detected*>(&failure)) return "40P01";
  if (dynamic_cast<const pqxx::statement_completion_unknown*>(&failure)) return "40003";
  if (dynamic_cast<const pqxx::transaction_rollback*>(&failure)) return "40000";
  if (dynamic_cast<const pqxx::insufficient_privilege*>(&failure)) return "42501";
  if (dynamic_cast<const pqxx::too_many_connections*>(&failure)) return "53300";
  return {};
}

// Was the connection lost, so that the server's answer to the last statement is not known?
inline bool connection_lost(const std::exception& failure) {
  if (dynamic_cast<const pqxx::in_doubt_error*>(&failure)) return true;
#if PQXX_VERSION_MAJOR >= 8
  const auto* known = dynamic_cast<const pqxx::failure*>(&failure);
  return known && known->poisons_connection();
#else
  return dynamic_cast<const pqxx::broken_connection*>(&failure) != nullptr;
#endif
}

}  // namespace postgres
}  // namespace v0
}  // namespace idem
