// A command in a transaction of its own: begins, runs, commits, retries what passes, and settles a lost COMMIT.
#pragma once

#include <utility>

#include "idem/base/error.hpp"
#include "idem/command/detail/reserve_and_commit.hpp"
#include "idem/command/execute.hpp"
#include "idem/command/retry.hpp"

namespace idem {
inline namespace v0 {

/// How transact() reserves, and the bounds of its retries.
struct TransactOptions {
  ReserveOptions reserve{};
  RetryOptions retry{};
};

/// Runs `handler(tx, lease)` once for the request in a transaction of its own, commits it, and answers.
///
/// `begin()` returns a unit of work: a transaction, a smart pointer to one, or an object with `transaction()` and
/// `commit()` that owns a connection too. Destroying it uncommitted rolls back. After a lost connection `begin` is
/// called again and must give a working one.
///
/// - Executed: the handler's effects and its answer are committed. Answer the client.
/// - Replay, InProgress, Mismatch, Unknown: as execute() says.
///
/// A serialization failure, a deadlock or a connection lost before the COMMIT rolls back and runs the whole again, the handler
/// included, within the bounds of `options`, and a `begin` that throws is called again; then the last exception is
/// passed on. A lost COMMIT is settled by reserving again under the same attempt,
/// waiting for the old transaction to end: the answer is then a Replay, or the handler runs again because the old
/// transaction is certainly gone; never by looking whether the row is there. Where even that fails within the bounds,
/// is refused, or `pause` throws: CommitUnknown with that failure nested in it (call again later, with the same key).
/// Whatever else is thrown is passed on, rolled back.
///
/// No transaction is open during a pause. Safe to call from several threads at once.
template <class Backend, class Begin, class Handler>
[[nodiscard]] Outcome transact(const Backend& backend, Begin&& begin, const Request& request,
                               Handler&& handler, const TransactOptions& options = {}) {
  return detail::reserve_and_commit<Outcome>(
      backend, begin, request, options.reserve, options.retry, [] {},
      [&](auto& tx, auto& store, const Acquired& acquired) {
        if (acquired.how == How::again) {
          throw StoredDataError{"transact: this attempt's reservation was committed without its answer"};
        }
        return detail::run_acquired(store, tx, acquired.lease, handler);
      },
      [](auto& /*tx*/, auto& /*store*/, Reservation&& reservation) {
        return detail::outcome_of(std::move(reservation));
      });
}

}  // namespace v0
}  // namespace idem
