#include "idem/memory/detail/work.hpp"

#include <algorithm>
#include <iterator>

#include "idem/base/error.hpp"
#include "idem/memory/detail/shared.hpp"

namespace idem {
inline namespace v0 {
namespace memory::detail {

bool Work::is_open(LevelId level) const noexcept {
  return std::any_of(levels_.begin(), levels_.end(), [&](const Level& open) { return open.id == level; });
}

void Work::check_usable(LevelId level) const {
  if (!is_open(level)) throw TransactionClosed{"the transaction was already committed or rolled back"};
  if (levels_.back().spoiled) {
    throw TransactionClosed{"an earlier error ended the transaction: it can only be rolled back"};
  }
}

Work::Lock Work::enter(LevelId level) {
  check_usable(level);
  return Lock{shared_.mutex};
}

Work::LevelId Work::open_level(LevelId parent) {
  check_usable(parent);
  levels_.push_back({++last_level_, changes_.size(), callbacks_.size(), false});
  return last_level_;
}

void Work::commit(LevelId level) {
  if (!is_open(level)) throw TransactionClosed{"the transaction was already committed or rolled back"};
  if (levels_.back().id != level)
    throw TransactionClosed{"a subtransaction inside the transaction is still open"};
  if (levels_.back().spoiled) {
    rollback(level);
    throw TransactionClosed{"an earlier error ended the transaction: nothing was committed"};
  }
  if (level == outermost) {
    commit_outermost();
  } else {
    levels_.pop_back();
  }
}

void Work::commit_outermost() {
  std::optional<LostCommit> lost;
  {
    const Lock lock{shared_.mutex};
    lost = std::exchange(shared_.lose_next_commit, std::nullopt);
    if (lost == LostCommit::before_applying) {
      undo_since(0);
    } else {
      for (const auto& change : changes_) change->publish();
      changes_.clear();
      give_up_rows();
    }
  }
  if (lost == LostCommit::before_applying) {
    rollback(outermost);
  } else {
    levels_.clear();
    // noexcept: the commit cannot be taken back for a callback that throws.
    [callbacks = std::exchange(callbacks_, {})]() noexcept {
      for (const Callback& callback : callbacks) {
        if (callback.at_commit) callback.call();
      }
    }();
  }
  if (lost) throw CommitLost{"the answer to COMMIT was lost, as the test asked for"};
}

void Work::rollback(LevelId level) noexcept {
  const auto ended =
      std::find_if(levels_.begin(), levels_.end(), [&](const Level& open) { return open.id == level; });
  if (ended == levels_.end()) return;
  {
    const Lock lock{shared_.mutex};
    undo_since(ended->changes);
  }
  const auto first = callbacks_.begin() + static_cast<std::ptrdiff_t>(ended->callbacks);
  std::vector<Callback> callbacks{std::make_move_iterator(first), std::make_move_iterator(callbacks_.end())};
  callbacks_.erase(first, callbacks_.end());
  levels_.erase(ended, levels_.end());
  for (auto callback = callbacks.rbegin(); callback != callbacks.rend(); ++callback) {
    if (!callback->at_commit) callback->call();
  }
}

void Work::on_commit(LevelId level, std::function<void()> call) {
  check_usable(level);
  callbacks_.push_back({true, std::move(call)});
}

void Work::on_rollback(LevelId level, std::function<void()> call) {
  check_usable(level);
  callbacks_.push_back({false, std::move(call)});
}

void Work::wait_for(Lock& lock, const Work& other) {
  for (const Work* next = &other; next != nullptr; next = next->waits_for_) {
    if (next != this) continue;
    spoil();
    throw TransactionConflict{"deadlock: the transactions wait for each other; run this one again"};
  }
  shared_.waiting.push_back(this);
  waits_for_ = &other;
  shared_.rows_given_up.wait(lock, [&] { return waits_for_ == nullptr; });
}

void Work::spoil() noexcept {
  spoil(levels_.back().id);
}

void Work::spoil(LevelId level) noexcept {
  const auto first =
      std::find_if(levels_.begin(), levels_.end(), [&](const Level& open) { return open.id == level; });
  if (first == levels_.end()) return;
  undo_since(first->changes);
  std::for_each(first, levels_.end(), [](Level& open) { open.spoiled = true; });
}

void Work::undo_since(std::size_t change) noexcept {
  while (changes_.size() > change) {
    changes_.back()->undo();
    changes_.pop_back();
  }
  give_up_rows();
}

void Work::give_up_rows() noexcept {
  // All look again, and say anew whom they wait for: so nobody is ever found to wait for one that has ended.
  for (Work* waiter : shared_.waiting) waiter->waits_for_ = nullptr;
  shared_.waiting.clear();
  shared_.rows_given_up.notify_all();
}

}  // namespace memory::detail
}  // namespace v0
}  // namespace idem
