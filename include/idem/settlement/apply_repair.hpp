// A repair is carried out through the operation's own finish(): business row, record and outbox in one transaction.
#pragma once

#include <concepts>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "idem/base/error.hpp"
#include "idem/call/external_call.hpp"
#include "idem/record/lapsed.hpp"
#include "idem/settlement/repair.hpp"

namespace idem {
inline namespace v0 {

/// An operation that can take the settlement's word for the downstream's answer: `answer_of(repair)` makes the answer that
/// finish() is given. For RepairAs::charged it is one that finish() turns into completed(), otherwise into failed().
template <class Operation, class Tx>
concept RepairableOperation = ExternalOperation<Operation, Tx> &&
    requires(Operation& operation, const Repair& repair) {
  { operation.answer_of(repair) } -> std::convertible_to<AnswerOf<Operation>>;
};

/// What became of a repair.
enum class Repaired {
  applied,          ///< The record is settled as the settlement says.
  done_before,      ///< This very repair was applied before.
  settled_already,  ///< The record is not UNKNOWN under the repair's holder any more: somebody else settled it.
  left,             ///< There is no operation for it: recover() gave none.
};

/// The outcome's stable name, such as "settled_already".
[[nodiscard]] std::string_view to_string(Repaired repaired) noexcept;

namespace detail {

// The command that the repair is.
[[nodiscard]] Request repair_request(const Repair& repair);
// Who settles, and on what evidence. Throws InvalidArgument for a decision that is not what the settlement says.
[[nodiscard]] Resolution repair_resolution(const Repair& repair, const Record& record,
                                           const Decision& decision);
// What finish() is told, as far as it is a record's.
[[nodiscard]] CallContext repair_context(const Repair& repair, const Record& record);

template <class Tx, class Operation>
Decision repair_decision(Tx& tx, Operation& operation, const CallContext& context, const Repair& repair) {
  static_assert(ExternalOperation<Operation, Tx>,
                "an operation has downstream, prepare, call, finish and unknown: see ExternalOperation");
  static_assert(RepairableOperation<Operation, Tx>,
                "an operation that can be repaired has answer_of(repair) too: see RepairableOperation");
  const AnswerOf<Operation> answer = operation.answer_of(repair);
  return operation.finish(tx, context, answer);
}

}  // namespace detail

/// Carries out `repair` in the caller's transaction: the operation's finish(), the record's resolution, and the repair's own
/// record, so that it is done once. Rolled back with the transaction.
///
/// `recover(tx, lapsed)` makes the operation from its business row, as for Sweep. Anything but `applied` changes nothing
/// but, at most, the repair's own record; commit it all the same.
///
/// Throws TooEarly where a call that was sent may still arrive (again later; roll back); InvalidArgument where finish()
/// decides otherwise than the settlement says; AlreadySettled and LeaseLost where the slow worker settles the record at this
/// moment (roll back; the next try says `settled_already`); what finish(), recover() and the database throw. The transaction
/// can then commit nothing. Safe from several threads, each with a transaction of its own.
template <class Backend, class Tx, class Recover>
[[nodiscard]] Repaired apply_repair(const Backend& backend, Tx& tx, const Repair& repair, Recover&& recover) {
  auto store = backend.store(tx);
  try {
    const Request request = detail::repair_request(repair);
    const Reservation reservation = store.reserve(request.key, request.fingerprint);
    const auto* acquired = std::get_if<Acquired>(&reservation);
    if (acquired == nullptr) {
      if (std::holds_alternative<Replay>(reservation)) return Repaired::done_before;
      throw TransactionConflict{"this repair is being applied by another transaction"};
    }
    const std::optional<Record> record = store.find_stored(repair.key);
    if (!record || record->state != State::unknown || record->holder != repair.holder) {
      store.complete(acquired->lease, text_response(0, to_string(Repaired::settled_already)));
      return Repaired::settled_already;
    }
    auto recovered =
        recover(tx, LapsedRecord{record->key, record->fingerprint, record->created_at, record->lease_until});
    const CallContext context = detail::repair_context(repair, *record);
    std::optional<Decision> decision;
    // Before the business writes, so that they have no rival.
    if constexpr (detail::Dereferenceable<decltype(recovered)>) {
      if (!recovered) {
        store.release(acquired->lease);
        return Repaired::left;
      }
      store.hold(context.lease);
      decision = detail::repair_decision(tx, *recovered, context, repair);
    } else {
      store.hold(context.lease);
      decision = detail::repair_decision(tx, recovered, context, repair);
    }
    store.resolve(repair.key, repair.holder, decision->state(), decision->response(),
                  detail::repair_resolution(repair, *record, *decision));
    store.complete(acquired->lease, text_response(0, to_string(Repaired::applied)));
    return Repaired::applied;
  } catch (...) {
    backend.make_uncommittable(tx);
    throw;
  }
}

}  // namespace v0
}  // namespace idem
