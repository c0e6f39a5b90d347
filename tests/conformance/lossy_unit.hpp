// A unit of work whose commit can lose its answer, and that is counted while it lives.
#pragma once

#include <atomic>
#include <utility>

#include "idem/command/detail/unit_of_work.hpp"

namespace idem::conformance {

/// Which of the commits to come is lost, and how. Safe between threads.
class CommitsToLose {
 public:
  enum class Loss { none, not_applied, applied };

  /// 1: the next one.
  void lose(int which, bool applied) {
    loss_ = applied ? Loss::applied : Loss::not_applied;
    left_ = which;
  }
  /// Counts one commit, and says what becomes of it.
  Loss next() { return left_ > 0 && --left_ == 0 ? loss_.load() : Loss::none; }

  std::atomic<int> units{0};

 private:
  std::atomic<int> left_{0};
  std::atomic<Loss> loss_{Loss::none};
};

/// Calls `Inner::rollback()` for a commit that is not applied, and throws `Lost` after either.
template <class Inner, class Lost>
class LossyUnit {
 public:
  LossyUnit(Inner inner, CommitsToLose& losses) : inner_{std::move(inner)}, losses_{&losses} {
    ++losses_->units;
  }
  LossyUnit(LossyUnit&& other) noexcept
      : inner_{std::move(other.inner_)}, losses_{std::exchange(other.losses_, nullptr)} {}
  LossyUnit& operator=(LossyUnit&&) = delete;
  ~LossyUnit() {
    if (losses_ != nullptr) --losses_->units;
  }

  auto& transaction() { return detail::transaction_of(inner_); }
  void commit() {
    const auto loss = losses_->next();
    if (loss == CommitsToLose::Loss::not_applied) {
      inner_.rollback();
    } else {
      inner_.commit();
    }
    if (loss != CommitsToLose::Loss::none) throw Lost{"the connection was lost"};
  }

 private:
  Inner inner_;
  CommitsToLose* losses_;
};

}  // namespace idem::conformance
