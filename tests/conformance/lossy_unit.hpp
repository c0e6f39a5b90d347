// A unit of work whose commit can lose its answer, and that is counted while it lives.
#pragma once

#include <atomic>
#include <type_traits>
#include <utility>

#include "conformance/backend.hpp"

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

/// `Inner` has transaction(), commit() and rollback(). Calls rollback() for a commit that is not applied, and throws `Lost`
/// after either.
template <class Inner, class Lost>
class LossyUnit final : public Unit {
 public:
  /// An Inner of `arguments`. `losses` must outlive it.
  template <class... Arguments>
  explicit LossyUnit(CommitsToLose& losses, Arguments&&... arguments)
      : losses_{losses}, inner_{std::forward<Arguments>(arguments)...}, tx_{inner_.transaction()} {
    ++losses_.units;
  }
  LossyUnit(const LossyUnit&) = delete;
  LossyUnit& operator=(const LossyUnit&) = delete;
  ~LossyUnit() override { --losses_.units; }

  Tx& transaction() override { return tx_; }
  void commit() override {
    const auto loss = losses_.next();
    if (loss == CommitsToLose::Loss::not_applied) {
      inner_.rollback();
    } else {
      inner_.commit();
    }
    if (loss != CommitsToLose::Loss::none) throw Lost{"the connection was lost"};
  }
  void rollback() override { inner_.rollback(); }

 private:
  CommitsToLose& losses_;
  Inner inner_;
  TxOf<std::remove_reference_t<decltype(std::declval<Inner&>().transaction())>> tx_;
};

}  // namespace idem::conformance
