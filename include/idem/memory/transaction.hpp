// A transaction of the in-memory database.
#pragma once

#include <functional>
#include <utility>

#include "idem/memory/detail/work.hpp"

namespace idem {
inline namespace v0 {
namespace memory {

class Database;
template <class Key, class Value>
class Table;

/// What a Transaction and a Subtransaction have in common: whoever writes rows or records takes a reference
/// to this.
///
/// As on PostgreSQL, a call on the outer one while an inner one is open belongs to the inner one; and
/// LeaseLost, AlreadySettled or TransactionConflict spoil the innermost open one: what was done in it is
/// undone at once, its rows are free for others, and every further call in it throws TransactionClosed until
/// it is rolled back. A transaction and what is opened in it belong to one thread at a time.
class TransactionBase {
 public:
  /// Is it neither committed nor rolled back? A spoiled one is open until it is rolled back.
  [[nodiscard]] bool is_open() const noexcept { return level_.work && level_.work->is_open(level_.level); }

  /// Calls `call` once, after the whole transaction has committed; never, where this or an enclosing one is
  /// rolled back. In the order in which they were given. Nothing is locked then, and this transaction is
  /// closed.
  ///
  /// `call` must not throw: the commit cannot be taken back, so an exception ends the program
  /// (std::terminate). Throws TransactionClosed where this is not open or is spoiled.
  void on_commit(std::function<void()> call);

  /// Calls `call` once, after this or an enclosing one is rolled back; never, where the whole transaction
  /// commits. The last one given comes first. For a lost COMMIT, what truly happened decides. Otherwise as
  /// on_commit().
  void on_rollback(std::function<void()> call);

  TransactionBase(const TransactionBase&) = delete;
  TransactionBase& operator=(const TransactionBase&) = delete;

 protected:
  explicit TransactionBase(detail::WorkLevel level) noexcept : level_{std::move(level)} {}
  ~TransactionBase() = default;
  TransactionBase(TransactionBase&&) noexcept = default;
  TransactionBase& operator=(TransactionBase&&) noexcept = default;

  void commit();
  void rollback() noexcept;

 private:
  friend class Database;
  friend class Subtransaction;
  template <class Key, class Value>
  friend class Table;

  // Throws TransactionClosed where this was moved from, and InvalidArgument where it is another database's.
  [[nodiscard]] detail::Work& work() const;
  [[nodiscard]] detail::Work& work_in(const detail::Shared& database) const;

  detail::WorkLevel level_;  // without work: moved from
};

/// One transaction, begun by Database::begin(). Reads what is committed and its own writes (READ COMMITTED).
/// Rolls back when it is destroyed uncommitted. Must not outlive the database and the tables that it touched.
/// Belongs to one thread at a time.
class Transaction : public TransactionBase {
 public:
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  Transaction(Transaction&&) noexcept = default;
  /// Rolls back what it was before.
  Transaction& operator=(Transaction&& other) noexcept {
    if (this != &other) {
      rollback();
      TransactionBase::operator=(std::move(other));
    }
    return *this;
  }
  ~Transaction() { rollback(); }

  /// Makes everything visible to all at once, then runs the callbacks.
  ///
  /// Throws TransactionClosed, with nothing committed, where it is not open, where a subtransaction in it is
  /// open still (it then stays open), and where it is spoiled (it is then rolled back). Throws CommitLost
  /// where Database::lose_next_commit() asked for that; it is closed then.
  void commit() { TransactionBase::commit(); }

  /// Undoes everything, subtransactions included, then runs the callbacks. Does nothing where it is not open.
  void rollback() noexcept { TransactionBase::rollback(); }

 private:
  friend class Database;
  using TransactionBase::TransactionBase;
};

}  // namespace memory
}  // namespace v0
}  // namespace idem
