// Rows that transactions read and write: what is committed, and what the one transaction that holds the row
// made of it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "idem/memory/detail/work.hpp"

namespace idem {
inline namespace v0 {
namespace memory::detail {

// READ COMMITTED. Every function is called with the mutex held. A row that nobody holds and that is not
// committed takes no memory.
template <class Key, class Value>
class Rows {
 public:
  using Version = std::shared_ptr<const Value>;  // null: there is no such row

  // The row as `work` sees it: its own write, else what is committed.
  [[nodiscard]] Version seen_by(const Work& work, const Key& key) const {
    const auto at = cells_.find(key);
    return at == cells_.end() ? nullptr : at->second.seen_by(work);
  }

  // The other transaction that holds the row; null where there is none.
  [[nodiscard]] Work* other_holder(const Work& work, const Key& key) const {
    const auto at = cells_.find(key);
    return at == cells_.end() || at->second.holder == &work ? nullptr : at->second.holder;
  }

  // Writes the row, which no other transaction may hold; `work` holds it from now on. Null removes it.
  void write(Work& work, const Key& key, Version version) {
    const auto [at, made] = cells_.try_emplace(key);
    Cell& cell = at->second;
    try {
      work.log(std::make_unique<RowChange>(*this, at, cell.holder == nullptr, cell.pending));
    } catch (...) {
      if (made) cells_.erase(at);
      throw;
    }
    cell.holder = &work;
    cell.pending = std::move(version);
  }

  // What `work` sees, in the order of the keys.
  [[nodiscard]] std::vector<std::pair<Key, Version>> all_seen_by(const Work& work) const {
    std::vector<std::pair<Key, Version>> seen;
    for (const auto& [key, cell] : cells_) {
      if (Version version = cell.seen_by(work)) seen.emplace_back(key, std::move(version));
    }
    return seen;
  }

  // The rows in memory, those of open transactions included.
  [[nodiscard]] std::size_t size() const noexcept { return cells_.size(); }

 private:
  struct Cell {
    Version committed;
    Work* holder = nullptr;  // the row lock
    Version pending;         // what the holder made of it

    [[nodiscard]] Version seen_by(const Work& work) const { return holder == &work ? pending : committed; }
  };
  using Cells = std::map<Key, Cell>;

  class RowChange final : public Change {
   public:
    RowChange(Rows& rows, typename Cells::iterator at, bool took_row, Version before)
        : rows_{rows}, at_{at}, took_row_{took_row}, before_{std::move(before)} {}

    void undo() noexcept override {
      at_->second.pending = std::move(before_);
      if (took_row_) give_up();
    }

    void publish() noexcept override {
      // The row's other changes are of the same transaction, and the last one's value is already in
      // `pending`.
      if (!took_row_) return;
      at_->second.committed = std::move(at_->second.pending);
      give_up();
    }

   private:
    void give_up() noexcept {
      at_->second.pending = nullptr;
      at_->second.holder = nullptr;
      if (!at_->second.committed) rows_.cells_.erase(at_);
    }

    Rows& rows_;
    typename Cells::iterator at_;
    bool took_row_;
    Version before_;
  };

  Cells cells_;
};

}  // namespace memory::detail
}  // namespace v0
}  // namespace idem
