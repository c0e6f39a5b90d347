// What can be done about an UNKNOWN record once a settlement tells of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "idem/base/clock.hpp"
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

}  // namespace v0
}  // namespace idem
