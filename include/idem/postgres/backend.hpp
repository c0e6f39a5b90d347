// idem on PostgreSQL, inside the caller's own pqxx transaction.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>

#include "idem/command/purge.hpp"
#include "idem/command/transact.hpp"
#include "idem/event/inbox_store.hpp"
#include "idem/event/outbox_store.hpp"
#include "idem/postgres/names.hpp"
#include "idem/record/lapsed.hpp"
#include "idem/record/observer.hpp"
#include "idem/record/store.hpp"
#include "idem/response/rules.hpp"

namespace pqxx {
class dbtransaction;
}

namespace idem {
inline namespace v0 {
namespace postgres {

struct Configuration;

/// How a duplicate of an uncommitted reservation is told at once that it is one.
enum class Gate {
  /// A transaction-scoped advisory lock on the key's hash. It is only the fast answer: the primary key is the guarantee.
  advisory_lock,
  /// None, for servers without real advisory locks: a duplicate then waits for the first transaction to end, and where
  /// it acquires the key after all, its lease is counted from before that wait.
  none,
};

/// What a Backend is made of.
struct BackendOptions {
  Names names{};
  Gate gate = Gate::advisory_lock;
  /// A response over this many bytes (headers and body) is refused by complete() and fail(), unless `responses` withhold
  /// its body. Default 16 MiB. Counted before the body is encoded.
  std::size_t max_response_bytes = std::size_t{16} << 20;
  /// How answers are stored.
  ResponseRules responses{};
  /// An outbox message over this many bytes (headers and payload) is refused by append(). Default 1 MiB.
  std::size_t max_event_bytes = std::size_t{1} << 20;
  /// Sees every call; may be empty.
  std::shared_ptr<Observer> observer{};
};

/// idem on PostgreSQL 13 or newer: tables, options and observer, no connection. Immutable: one Backend serves all
/// threads. A copy shares everything.
class Backend {
 public:
  /// Throws InvalidArgument for a name that cannot be one, and for rules that break theirs.
  explicit Backend(BackendOptions options = {});

  /// The names that it was made with. Valid while it lives.
  [[nodiscard]] const Names& names() const noexcept;

  /// The records as `tx` sees and changes them. `tx` must outlive the store, which belongs to its thread. Sends nothing.
  ///
  /// The store sends each statement through `tx`, unprepared, and sends no BEGIN, COMMIT, ROLLBACK, SAVEPOINT or SET.
  /// `pqxx::work`, `pqxx::subtransaction` and `pqxx::robusttransaction` are accepted; a `pqxx::nontransaction` does not
  /// compile. What the database refuses reaches the caller as the pqxx exception.
  [[nodiscard]] std::unique_ptr<IdempotencyStore> store(pqxx::dbtransaction& tx) const;

  /// The events that consumers have seen, as `tx` sees and changes them: what Inbox and VersionGuard stand on. Otherwise as
  /// store().
  [[nodiscard]] std::unique_ptr<InboxStore> inbox_store(pqxx::dbtransaction& tx) const;

  /// The outbox, as `tx` appends to it: what Outbox stands on. Otherwise as store().
  [[nodiscard]] std::unique_ptr<OutboxStore> outbox_store(pqxx::dbtransaction& tx) const;

  /// Makes sure that nothing of `tx` can commit; of a subtransaction, that it must be rolled back. Sends a statement that
  /// fails. A transaction that is over is left alone.
  void make_uncommittable(pqxx::dbtransaction& tx) const noexcept;

  /// Throws TransactionClosed where an error that somebody swallowed has aborted `tx`, if its commit() would not say
  /// so. Sends a statement on libpqxx 7 and later.
  void check_committable(pqxx::dbtransaction& tx) const;

  /// A page of the lapsed records, as `tx` sees them: what Sweep works on. Changes and locks nothing.
  [[nodiscard]] LapsedPage lapsed_records(pqxx::dbtransaction& tx, const LapsedFilter& filter) const;

  /// One transaction's share of purge_records() and purge_inbox(); a place is a block of the table. Rolled back with
  /// `tx`.
  [[nodiscard]] PurgedBatch purge_records(pqxx::dbtransaction& tx, const PurgeBatch& batch) const;
  [[nodiscard]] PurgedBatch purge_inbox(pqxx::dbtransaction& tx, const PurgeBatch& batch) const;

  /// What `failure` says of the transaction that it came from; see transact().
  [[nodiscard]] Failure failure_of(const std::exception_ptr& failure) const;

 private:
  std::shared_ptr<const Configuration> configuration_;
};

}  // namespace postgres
}  // namespace v0
}  // namespace idem
