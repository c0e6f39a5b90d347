// A command inside the caller's transaction: reserve, business writes and the stored answer are one commit.
#pragma once

#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

#include "idem/command/outcome.hpp"
#include "idem/record/store.hpp"

namespace idem {
inline namespace v0 {

namespace detail {

// What to answer when the key was not acquired.
inline Outcome outcome_of(Reservation&& reservation) {
  return std::visit(
      [](auto&& answer) -> Outcome {
        using Answer = std::decay_t<decltype(answer)>;
        if constexpr (std::is_same_v<Answer, Acquired>) {
          throw std::logic_error{"idem: an acquired key has no outcome yet"};
        } else {
          return std::forward<decltype(answer)>(answer);
        }
      },
      std::move(reservation));
}

template <class Tx, class Handler>
Outcome run_acquired(IdempotencyStore& store, Tx& tx, const Lease& lease, Handler& handler) {
  static_assert(
      std::is_invocable_r_v<Decision, Handler&, Tx&, const Lease&>,
      "the handler is called as handler(tx, lease) and returns idem::completed(...) or idem::failed(...)");
  Decision decision = handler(tx, lease);
  const State state = decision.state();
  const TimePoint expires_at = state == State::completed ? store.complete(lease, decision.response())
                                                         : store.fail(lease, decision.response());
  return Executed{state, std::move(decision).response(), expires_at};
}

}  // namespace detail

/// Runs `handler(tx, lease)` once for the request, inside the caller's transaction: if that rolls back, nothing ran and
/// nothing is stored.
///
/// The handler does the business writes in the very `tx` that it is given and returns completed(...) or failed(...).
///
/// - Executed: the handler ran and its answer is stored. Not durable until you commit; answer the client after that.
/// - Replay: it ran before. Answer with this response; the handler was not called.
/// - InProgress: another transaction runs it. Come back after `retry_after`, with the same key.
/// - Mismatch: the key was used for another request. Never retry with it.
/// - Unknown: the result of an earlier attempt is not known. Commit, so that this is kept, and tell the client.
///
/// Never commits. Whatever the handler throws is passed on, and so is what complete() throws for a response that is
/// refused; the transaction can then commit nothing, also where the exception is swallowed. Throws what reserve()
/// throws too. After any exception roll back.
///
/// Make the call at the (sub)transaction level that commits. Safe to call from several threads, each
/// with its own transaction.
template <class Backend, class Tx, class Handler>
[[nodiscard]] Outcome execute(const Backend& backend, Tx& tx, const Request& request, Handler&& handler,
                              const ReserveOptions& options = {}) {
  const auto store = backend.store(tx);
  Reservation reservation = store->reserve(request.key, request.fingerprint, options);
  if (const auto* acquired = std::get_if<Acquired>(&reservation)) {
    try {
      return detail::run_acquired(*store, tx, acquired->lease, handler);
    } catch (...) {
      // Half of the work must not be committed, with a record that nobody settles.
      backend.make_uncommittable(tx);
      throw;
    }
  }
  return detail::outcome_of(std::move(reservation));
}

}  // namespace v0
}  // namespace idem
