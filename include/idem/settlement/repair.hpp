// What can be done about an UNKNOWN record once a settlement tells of it, and how it is done: through the operation's own
// finish(), with business row, record and outbox in one transaction.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "idem/base/clock.hpp"
#include "idem/base/error.hpp"
#include "idem/call/external_call.hpp"
#include "idem/record/lapsed.hpp"
#include "idem/record/record.hpp"
#include "idem/request/key.hpp"
#include "idem/settlement/reconcile.hpp"

namespace idem {
inline namespace v0 {

/// What the settlement says that happened. The numbers are stored and never change their meaning.
enum class RepairAs : std::int16_t {
  charged = 1,      ///< To COMPLETED: the settlement has a charge.
  declined = 2,     ///< To FAILED: it has a stored decline (NoEffect::stored_decline).
  not_charged = 3,  ///< To FAILED: it is closed and has no entry (NoEffect::closed_settlement).
};

/// Its stable name: `charged`, `declined`, `not_charged`.
[[nodiscard]] std::string_view to_string(RepairAs as) noexcept;

/// May entries still be added to the settlement?
enum class Settlement {
  /// They may: no entry says nothing.
  open,
  /// Nobody adds to it, and it holds every call that was sent for the records of its period, the last one at the end of
  /// a lease and its call's deadline. No entry then says that nothing was charged.
  closed,
};

/// As what `finding` can be repaired; empty where a person has to look at it. Pure.
///
/// theirs_only with an UNKNOWN record: as the entry says, except where it has no time, or one before the record's
/// `created_at`: it may be an older record's. A time in whole seconds is not before the second in which the record was made.
/// ours_only with an UNKNOWN record: as not_charged, of a closed settlement.
[[nodiscard]] std::optional<RepairAs> repairable_as(const Finding& finding,
                                                    Settlement settlement = Settlement::open) noexcept;

/// One repair, as it is queued. It is a command of its own, keyed by `repair_key`: apply it in one transaction that also
/// reserves and completes that key, writes the business row and resolves the record.
struct Repair {
  /// See repair_key().
  std::string repair_key{};
  /// Of the UNKNOWN record.
  Key key{};
  Holder holder{};
  std::int64_t generation = 0;
  RepairAs as = RepairAs::charged;
  std::string downstream_key{};
  /// Empty for not_charged.
  std::optional<SettlementEntry> entry{};
  TimePoint queued_at{};
  std::string queued_by{};
  /// Both are set once it is done.
  std::optional<TimePoint> done_at{};
  std::optional<std::string> note{};

  friend bool operator==(const Repair&, const Repair&) = default;
};

/// The repair's key: 36 characters, the same for the same record, generation and words of the settlement. Pure. Throws
/// InvalidArgument for a finding that cannot be repaired as `as`.
///
/// Stored, so it is frozen: the version 8 UUID of SHA-256 over `idem repair v1`, principal, operation, value, the
/// generation in decimal digits, the name of `as`, and of the entry the amount in decimal digits and the reference (both
/// empty without one), each after its length as 8 bytes, big endian.
[[nodiscard]] std::string repair_key(const Finding& finding, RepairAs as);

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
  passed_over,      ///< There is no operation for it: recover() gave none.
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
  const auto store = backend.store(tx);
  try {
    const Request request = detail::repair_request(repair);
    const Reservation reservation = store->reserve(request.key, request.fingerprint);
    const auto* acquired = std::get_if<Acquired>(&reservation);
    if (acquired == nullptr) {
      if (std::holds_alternative<Replay>(reservation)) return Repaired::done_before;
      throw TransactionConflict{"this repair is being applied by another transaction"};
    }
    const std::optional<Record> record = store->find_stored(repair.key);
    if (!record || record->state != State::unknown || record->holder != repair.holder) {
      store->complete(acquired->lease, text_response(0, to_string(Repaired::settled_already)));
      return Repaired::settled_already;
    }
    auto recovered =
        recover(tx, LapsedRecord{record->key, record->fingerprint, record->created_at, record->lease_until});
    const CallContext context = detail::repair_context(repair, *record);
    std::optional<Decision> decision;
    // Before the business writes, so that they have no rival.
    if constexpr (detail::Dereferenceable<decltype(recovered)>) {
      if (!recovered) {
        store->release(acquired->lease);
        return Repaired::passed_over;
      }
      store->hold(context.lease);
      decision = detail::repair_decision(tx, *recovered, context, repair);
    } else {
      store->hold(context.lease);
      decision = detail::repair_decision(tx, recovered, context, repair);
    }
    store->resolve(repair.key, repair.holder, decision->state(), decision->response(),
                   detail::repair_resolution(repair, *record, *decision));
    store->complete(acquired->lease, text_response(0, to_string(Repaired::applied)));
    return Repaired::applied;
  } catch (...) {
    backend.make_uncommittable(tx);
    throw;
  }
}

}  // namespace v0
}  // namespace idem
