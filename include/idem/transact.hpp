// Shape (A) whole: begins, runs, commits, retries what passes, and settles a lost COMMIT.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "idem/error.hpp"
#include "idem/execute.hpp"

namespace idem::inline v0 {

/// What an exception says of the transaction it came from. A backend's `failure_of` tells.
enum class Failure {
  transient,  ///< Rolled back for certain by a race (40001, 40P01): the whole transaction may run again.
  definite,  ///< The database or this library refused: rolled back for certain, and it would be refused again.
  unknown,   ///< Anything else, such as a lost connection. At COMMIT: in doubt. Before COMMIT: rolled back.
};

/// How transact() reserves, and the bounds of its retries.
struct TransactOptions {
  ReserveOptions reserve{};
  /// Transactions run at the most, the first included; at least 1, default 8.
  int max_tries = 8;
  /// The first pause is a random time up to this; each later one up to twice the one before. Default 5 ms.
  std::chrono::milliseconds first_pause{5};
  /// No pause is longer than this. Default 500 ms.
  std::chrono::milliseconds longest_pause{500};
  /// Waits between two tries, with no transaction open. May throw to give up. Default: std::this_thread::sleep_for.
  std::function<void(std::chrono::milliseconds)> pause{};
};

namespace detail {

// Counts the tries and waits between them.
class Retries {
 public:
  explicit Retries(const TransactOptions& options);
  // Waits and says true, or says false where no try is left.
  bool another();

 private:
  const TransactOptions& options_;
  int tries_ = 1;
  std::chrono::milliseconds bound_;
};

template <class Unit>
concept Dereferenceable = requires(Unit& unit) {
  *unit;
};
template <class Unit>
concept HasTransaction = requires(Unit& unit) {
  unit.transaction();
};

// A unit of work is a transaction, a (smart) pointer to one, or an object with transaction() and commit().
template <class Unit>
auto& transaction_of(Unit& unit) {
  if constexpr (HasTransaction<Unit>) {
    return unit.transaction();
  } else if constexpr (Dereferenceable<Unit>) {
    return transaction_of(*unit);
  } else {
    return unit;
  }
}

template <class Unit>
void commit(Unit& unit) {
  if constexpr (Dereferenceable<Unit>) {
    commit(*unit);
  } else {
    unit.commit();
  }
}

}  // namespace detail

/// Runs `handler(tx, lease)` once for the request in a transaction of its own, commits it, and answers.
///
/// `begin()` returns a unit of work: a transaction, a smart pointer to one, or an object with `transaction()` and
/// `commit()` that owns a connection too. Destroying it uncommitted rolls back. After a lost connection `begin` is
/// called again and must give a working one.
///
/// - Executed: the handler's effects and its answer are committed. Answer the client.
/// - Replay, InProgress, Mismatch, Unknown: as execute() says.
///
/// A serialization failure or deadlock rolls back and runs the whole again, the handler included, within the bounds of
/// `options`; then the last exception is passed on. A lost COMMIT is settled by reserving again under the same attempt,
/// waiting for the old transaction to end: the answer is then a Replay, or the handler runs again because the old
/// transaction is certainly gone; never by looking whether the row is there. Where even that fails within the bounds,
/// is refused, or `pause` throws: CommitUnknown with that failure nested in it (call again later, with the same key).
/// Whatever else is thrown is passed on, rolled back.
///
/// No transaction is open during a pause. Safe to call from several threads at once.
template <class Backend, class Begin, class Handler>
[[nodiscard]] Outcome transact(const Backend& backend, Begin&& begin, const Request& request,
                               Handler&& handler, const TransactOptions& options = {}) {
  detail::Retries retries{options};
  ReserveOptions reserve = options.reserve;
  // Set while an attempt of ours may have committed without our knowing.
  std::optional<Uuid> in_doubt = reserve.attempt;
  bool lost_here = false;  // and it was this very call's COMMIT
  for (;;) {
    std::optional<Uuid> committing;
    std::optional<Outcome> answer;
    try {
      auto unit = begin();
      auto& tx = detail::transaction_of(unit);
      auto store = backend.store(tx);
      reserve.attempt = in_doubt;
      Reservation reservation = store.reserve(request.key, request.fingerprint, reserve);
      // The reservation waited for the transaction in doubt, so its fate is known now.
      in_doubt.reset();
      lost_here = false;
      if (const auto* acquired = std::get_if<Acquired>(&reservation)) {
        if (acquired->how == How::again) {
          throw StoredDataError{"transact: this attempt's reservation was committed without its answer"};
        }
        Outcome executed = detail::run_acquired(store, tx, acquired->lease, handler);
        committing = acquired->lease.holder.attempt;
        detail::commit(unit);
        return executed;
      }
      answer = detail::outcome_of(std::move(reservation));
      detail::commit(unit);
      return *std::move(answer);
    } catch (...) {
      const Failure failure = backend.failure_of(std::current_exception());
      if (failure == Failure::unknown) {
        // Nothing was executed, so the answer holds whether or not this commit arrived.
        if (answer) return *std::move(answer);
        if (committing) {
          in_doubt = committing;
          lost_here = true;
        }
      }
      const bool again = failure == Failure::transient || (failure == Failure::unknown && in_doubt);
      // Whatever ends the settling, a definite refusal or a pause that throws: it says nothing of the COMMIT that was
      // lost before.
      const auto give_up = [&] {
        if (lost_here || (again && in_doubt)) {
          std::throw_with_nested(
              CommitUnknown{"the COMMIT's answer was lost and is not settled; call again with this key"});
        }
        throw;
      };
      bool another = false;
      try {
        another = again && retries.another();
      } catch (...) {
        give_up();
      }
      if (!another) give_up();
    }
  }
}

}  // namespace idem::inline v0
