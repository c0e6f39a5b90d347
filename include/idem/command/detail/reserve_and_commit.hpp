// Reserves a key in a transaction of its own and commits it; settles a lost COMMIT by reserving again.
#pragma once

#include <exception>
#include <optional>
#include <utility>
#include <variant>

#include "idem/base/error.hpp"
#include "idem/command/detail/unit_of_work.hpp"
#include "idem/command/outcome.hpp"
#include "idem/command/retry.hpp"
#include "idem/record/options.hpp"

namespace idem {
inline namespace v0 {
namespace detail {

// Calls `run(tx, store, acquired)` where the key was acquired and `answer(tx, store, reservation)` where it was not, each
// in the transaction that reserved, and returns what they returned once that has committed. Runs the whole again after a
// serialization failure or deadlock, a lost connection and a begin() that failed; after a lost COMMIT under the same
// attempt, waiting for the old transaction to end. Where that cannot be settled: CommitUnknown, with the last failure nested
// in it. `begun()` is called before each try.
template <class Result, class Backend, class Begin, class Begun, class Run, class Answer>
Result reserve_and_commit(const Backend& backend, Begin& begin, const Request& request,
                          ReserveOptions reserve, const RetryOptions& retry, const Begun& begun,
                          const Run& run, const Answer& answer) {
  Retries retries{retry};
  // Set while an attempt of ours may have committed without our knowing.
  std::optional<Uuid> in_doubt = reserve.attempt;
  bool lost_here = false;  // and it was this very call's COMMIT
  for (;;) {
    std::optional<Uuid> committing;
    std::optional<Result> answered;
    bool has_unit = false;
    try {
      begun();
      auto unit = begin();
      has_unit = true;
      auto& tx = transaction_of(unit);
      const auto store = backend.store(tx);
      reserve.attempt = in_doubt;
      Reservation reservation = store->reserve(request.key, request.fingerprint, reserve);
      // The reservation waited for the transaction in doubt, so its fate is known now.
      in_doubt.reset();
      lost_here = false;
      if (const auto* acquired = std::get_if<Acquired>(&reservation)) {
        Result result = run(tx, *store, *acquired);
        committing = acquired->lease.holder.attempt;
        commit(unit);
        return result;
      }
      answered = answer(tx, *store, std::move(reservation));
      commit(unit);
      return *std::move(answered);
    } catch (...) {
      const Failure failure = backend.failure_of(std::current_exception());
      const bool not_known = failure == Failure::lost || failure == Failure::unknown;
      if (not_known) {
        // Nothing was executed, so the answer holds whether or not this commit arrived.
        if (answered) return *std::move(answered);
        if (committing) {
          in_doubt = committing;
          lost_here = true;
        }
      }
      const bool again = failure == Failure::transient || failure == Failure::lost ||
                         (failure == Failure::unknown && (in_doubt || !has_unit));
      retries.wait_or_rethrow(again, lost_here || (again && in_doubt));
    }
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace idem
