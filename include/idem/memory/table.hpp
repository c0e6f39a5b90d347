// A table in memory, so that a service's fake repository commits and rolls back with the records.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "idem/memory/database.hpp"
#include "idem/memory/detail/rows.hpp"
#include "idem/memory/transaction.hpp"

namespace idem {
inline namespace v0 {
namespace memory {

/// Rows by a unique key, seen as on PostgreSQL under READ COMMITTED: a transaction sees its own writes and
/// what others have committed. `Key` has `<` and, like `Value`, is copied.
///
/// A write holds its row until the transaction ends; another transaction's write to the row waits for that,
/// and then goes by what is there. Every function throws TransactionClosed where `tx` is not open or is
/// spoiled, InvalidArgument where it is another database's, and the waiting ones TransactionConflict (`tx` is
/// spoiled: run it again) where the wait would never end. Must not outlive the database. Safe to share
/// between threads.
///
///     idem::memory::Table<std::string, Payment> payments{db};
///     payments.insert(tx, "p1", {1290, "EUR"});   // gone again where tx rolls back
template <class Key, class Value>
class Table {
 public:
  explicit Table(Database& database) noexcept : shared_{*database.shared_} {}
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() = default;

  /// A copy of the row, if `tx` sees one. Never waits.
  [[nodiscard]] std::optional<Value> find(TransactionBase& tx, const Key& key) const {
    return copy(call(tx, [&](auto&, auto& work) { return rows_.seen_by(work, key); }));
  }

  /// The same, and holds the row until `tx` ends, as SELECT … FOR UPDATE does: waits for another
  /// transaction's write, so that what is read here can be changed and written back without losing an update.
  [[nodiscard]] std::optional<Value> find_for_update(TransactionBase& tx, const Key& key) {
    return copy(call(tx, [&](auto& lock, auto& work) {
      Version row = visible_and_free(lock, work, key);
      if (row) rows_.write(work, key, row);
      return row;
    }));
  }

  /// Adds the row; false, with nothing changed, where there is one. Waits for another transaction's
  /// uncommitted row of this key, as a unique index does.
  [[nodiscard]] bool insert(TransactionBase& tx, const Key& key, Value value) {
    return call(tx, [&](auto& lock, auto& work) {
      if (free(lock, work, key)) return false;
      rows_.write(work, key, version(std::move(value)));
      return true;
    });
  }

  /// Adds the row or replaces it. Waits for another transaction's write.
  void put(TransactionBase& tx, const Key& key, Value value) {
    call(tx, [&](auto& lock, auto& work) {
      free(lock, work, key);
      rows_.write(work, key, version(std::move(value)));
    });
  }

  /// Replaces the row; false, with nothing changed, where there is none to see. Waits for another
  /// transaction's write.
  [[nodiscard]] bool update(TransactionBase& tx, const Key& key, Value value) {
    return call(tx, [&](auto& lock, auto& work) {
      if (!visible_and_free(lock, work, key)) return false;
      rows_.write(work, key, version(std::move(value)));
      return true;
    });
  }

  /// Removes the row; false, with nothing changed, where there is none to see. Waits for another
  /// transaction's write.
  bool erase(TransactionBase& tx, const Key& key) {
    return call(tx, [&](auto& lock, auto& work) {
      if (!visible_and_free(lock, work, key)) return false;
      rows_.write(work, key, nullptr);
      return true;
    });
  }

  /// How many rows `tx` sees.
  [[nodiscard]] std::size_t size(TransactionBase& tx) const { return all(tx).size(); }

  /// Calls `visit(key, value)` for each row that `tx` saw when the call began, in the order of the keys.
  /// `visit` may use the table.
  template <class Visit>
  void for_each(TransactionBase& tx, Visit&& visit) const {
    for (const auto& [key, row] : all(tx)) visit(key, *row);
  }

 private:
  using Rows = detail::Rows<Key, Value>;
  using Version = typename Rows::Version;
  using Lock = detail::Work::Lock;

  static Version version(Value&& value) { return std::make_shared<const Value>(std::move(value)); }

  // Versions never change, so they are copied outside the lock.
  static std::optional<Value> copy(const Version& row) {
    return row ? std::optional<Value>{*row} : std::nullopt;
  }

  template <class Body>
  auto call(TransactionBase& tx, const Body& body) const {
    detail::Work& work = tx.work_in(shared_);
    Lock lock = work.enter(tx.level_.level);
    return body(lock, work);
  }

  // Waits until no other transaction holds the row; then what is there.
  Version free(Lock& lock, detail::Work& work, const Key& key) const {
    while (detail::Work* other = rows_.other_holder(work, key)) work.wait_for(lock, *other);
    return rows_.seen_by(work, key);
  }

  // The same, but a row that is not there to be seen is not waited for.
  Version visible_and_free(Lock& lock, detail::Work& work, const Key& key) const {
    return rows_.seen_by(work, key) ? free(lock, work, key) : nullptr;
  }

  auto all(TransactionBase& tx) const {
    return call(tx, [&](auto&, auto& work) { return rows_.all_seen_by(work); });
  }

  detail::Shared& shared_;
  Rows rows_;
};

}  // namespace memory
}  // namespace v0
}  // namespace idem
