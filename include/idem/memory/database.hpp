// The in-memory database: records and tables that transactions commit and roll back, without a server.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <vector>

#include "idem/base/clock.hpp"
#include "idem/command/purge.hpp"
#include "idem/command/transact.hpp"
#include "idem/event/inbox_store.hpp"
#include "idem/event/outbox_store.hpp"
#include "idem/memory/lost_commit.hpp"
#include "idem/memory/transaction.hpp"
#include "idem/record/lapsed.hpp"
#include "idem/record/store.hpp"
#include "idem/response/rules.hpp"

namespace idem {
inline namespace v0 {
namespace memory {

/// A database in memory that gives the answers that PostgreSQL gives, for a service's own tests. It is the
/// backend too: `execute(db, tx, …)`, `transact(db, [&] { return db.begin(); }, …)`.
///
/// Nothing survives the process. What has expired stays in memory until it is used again or purged.
/// Safe to share between threads; each transaction belongs to one.
///
///     idem::memory::Database db;
///     auto tx = db.begin();
///     auto outcome = idem::execute(db, tx, request, handler);
///     tx.commit();
class Database {
 public:
  /// `clock` is the only clock that the records go by (idem::testing::FakeClock is one to move by hand).
  /// `observer` may be empty. `responses` say how answers are stored, and what is done with one over `max_response_bytes`
  /// (headers and body). Throws InvalidArgument for rules that break theirs.
  explicit Database(std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>(),
                    std::shared_ptr<Observer> observer = nullptr, ResponseRules responses = {},
                    std::size_t max_response_bytes = std::size_t{16} << 20);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  /// Begins a transaction.
  [[nodiscard]] Transaction begin();

  /// The records as `tx`, a Transaction or a Subtransaction of this database, sees and changes them. `tx` must outlive the
  /// store, which belongs to its thread. Throws InvalidArgument for another database's; the store's functions throw
  /// TransactionClosed where `tx` is not open.
  ///
  /// As on PostgreSQL under READ COMMITTED: `reserve` never waits for another open transaction but answers InProgress,
  /// except where it settles a lost COMMIT (`ReserveOptions::attempt`); the functions that take a lease or a holder wait
  /// for another transaction's write to the record and then go by what is there. A wait that would never end throws
  /// TransactionConflict.
  [[nodiscard]] std::unique_ptr<IdempotencyStore> store(TransactionBase& tx) const;

  /// The events that consumers have seen, as `tx` sees and changes them: what Inbox and VersionGuard stand on. Another
  /// transaction's uncommitted mark or version is waited for; a wait that would never end throws TransactionConflict.
  /// Throws as store().
  [[nodiscard]] std::unique_ptr<InboxStore> inbox_store(TransactionBase& tx) const;

  /// The outbox, as `tx` appends to it. Throws as store().
  [[nodiscard]] std::unique_ptr<OutboxStore> outbox_store(TransactionBase& tx) const;

  /// The events in the outbox that `tx` sees, in the order of their sequence. Throws as store().
  [[nodiscard]] std::vector<OutboxEvent> outbox_events(TransactionBase& tx) const;

  /// Makes sure that nothing of `tx` can commit; of a subtransaction, that it must be rolled back. One that is over is
  /// left alone.
  void make_uncommittable(TransactionBase& tx) const noexcept;

  /// Does nothing: commit() says where it cannot be done.
  void check_committable(TransactionBase& /*tx*/) const noexcept {}

  /// A page of the lapsed records, as `tx` sees them: what Sweep works on. Changes and locks nothing.
  [[nodiscard]] LapsedPage lapsed_records(TransactionBase& tx, const LapsedFilter& filter) const;

  /// One transaction's share of purge_records() and purge_inbox(), over everything at once. Rolled back with `tx`.
  PurgedBatch purge_records(TransactionBase& tx, const PurgeBatch& batch) const;
  PurgedBatch purge_inbox(TransactionBase& tx, const PurgeBatch& batch) const;

  /// What an exception says of the transaction it came from: TransactionConflict is transient, another
  /// idem::Error definite, CommitLost lost, anything else unknown.
  [[nodiscard]] Failure failure_of(const std::exception_ptr& error) const noexcept;

  /// Loses the answer of the next COMMIT that would have succeeded: it throws CommitLost.
  void lose_next_commit(LostCommit how);

  /// How many records are in memory: committed ones, expired ones among them, and those of open transactions.
  [[nodiscard]] std::size_t record_count() const;

  /// The same of the events that consumers have seen.
  [[nodiscard]] std::size_t inbox_count() const;

 private:
  template <class Key, class Value>
  friend class Table;

  std::unique_ptr<detail::Shared> shared_;
  std::shared_ptr<Observer> observer_;
  ResponseRules responses_;
  std::size_t max_response_bytes_;
};

}  // namespace memory
}  // namespace v0
}  // namespace idem
