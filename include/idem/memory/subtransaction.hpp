// A savepoint of an in-memory transaction, as an object.
#pragma once

#include "idem/memory/transaction.hpp"

namespace idem {
inline namespace v0 {
namespace memory {

/// A part of a transaction that can be rolled back alone, usable wherever a transaction is. Rolls back when
/// it is destroyed uncommitted. Must not outlive what it was opened in. Belongs to the transaction's thread.
///
/// Rolling it back after LeaseLost does not make the transaction's earlier business writes right: roll that
/// back too.
class Subtransaction : public TransactionBase {
 public:
  /// Opens one inside `parent`; they nest. Throws TransactionClosed where that is not open or is spoiled.
  explicit Subtransaction(TransactionBase& parent);
  // As a parent, not to be copied.
  explicit Subtransaction(Subtransaction& parent) : Subtransaction{static_cast<TransactionBase&>(parent)} {}
  Subtransaction(const Subtransaction&) = delete;
  Subtransaction& operator=(const Subtransaction&) = delete;
  ~Subtransaction() { rollback(); }

  /// Makes its writes, rows held and callbacks the parent's: they are committed when that is. Throws
  /// TransactionClosed as Transaction::commit() does.
  void commit() { TransactionBase::commit(); }

  /// Undoes what was done since it was opened and gives up the rows taken since. Does nothing where it is not
  /// open.
  void rollback() noexcept { TransactionBase::rollback(); }
};

}  // namespace memory
}  // namespace v0
}  // namespace idem
