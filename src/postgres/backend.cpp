#include "idem/postgres/backend.hpp"

#include <string>
#include <utility>

#include "idem/base/error.hpp"
#include "postgres/configuration.hpp"
#include "postgres/inbox_store.hpp"
#include "postgres/outbox_store.hpp"
#include "postgres/pqxx_compat.hpp"
#include "postgres/row.hpp"
#include "postgres/sql.hpp"
#include "postgres/store.hpp"
#include "request/key_hash.hpp"

namespace idem {
inline namespace v0 {
namespace postgres {
namespace {

Failure failure_of_database(const std::exception& failure) {
  const std::string code = sqlstate(failure);
  if (code == "40001" || code == "40P01" || code == "40000") return Failure::transient;
  // 40003 says so itself; 08 and 57P0x end the session, which may have happened after the commit record.
  const bool lost = code == "40003" || code.starts_with("08") || code.starts_with("57P0");
  if (lost || connection_lost(failure)) return Failure::lost;
  if (code == "55P03" || code == "57014" || code == "25006" || code.starts_with("53"))
    return Failure::passing;
  return code.empty() ? Failure::unknown : Failure::definite;
}

}  // namespace

Backend::Backend(BackendOptions options)
    : configuration_{std::make_shared<const Configuration>(std::move(options))} {}

const Names& Backend::names() const noexcept {
  return configuration_->options.names;
}

std::unique_ptr<IdempotencyStore> Backend::store(pqxx::dbtransaction& tx) const {
  return std::make_unique<PostgresStore>(configuration_, tx);
}

std::unique_ptr<InboxStore> Backend::inbox_store(pqxx::dbtransaction& tx) const {
  return std::make_unique<PostgresInboxStore>(configuration_, tx);
}

std::unique_ptr<OutboxStore> Backend::outbox_store(pqxx::dbtransaction& tx) const {
  return std::make_unique<PostgresOutboxStore>(configuration_, tx);
}

void Backend::make_uncommittable(pqxx::dbtransaction& tx) const noexcept {
  try {
    postgres::make_uncommittable(tx);
  } catch (
      ...) {  // NOLINT(bugprone-empty-catch): a lost connection or a transaction that is over commits nothing either
  }
}

void Backend::check_committable(pqxx::dbtransaction& tx) const {
  if constexpr (!commit_tells_of_rollback) run(tx, "SELECT 1");
}

LapsedPage Backend::lapsed_records(pqxx::dbtransaction& tx, const LapsedFilter& filter) const {
  // Every record is younger than the clock's beginning.
  const TimePoint after = filter.after ? filter.after->created_at : TimePoint{};
  const Uuid after_id = filter.after ? hash_key(filter.after->key).id : Uuid{};
  return read_lapsed(
      run(tx, filled(configuration_->statements.lapsed_records,
                     {Literal{tx, filter.operation}, Literal{filter.created_since.value_or(TimePoint{})},
                      Literal{after}, Literal{after_id}, Literal{static_cast<std::int64_t>(filter.limit)}})),
      filter.operation);
}

Failure Backend::failure_of(const std::exception_ptr& failure) const {
  try {
    std::rethrow_exception(failure);
  } catch (const TransactionConflict&) {
    return Failure::transient;
  } catch (const Error&) {
    return Failure::definite;
  } catch (const std::exception& other) {
    return failure_of_database(other);
  } catch (...) {
    return Failure::unknown;
  }
}

}  // namespace postgres
}  // namespace v0
}  // namespace idem
