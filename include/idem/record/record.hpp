// The stored record of one (principal, operation, key): its state, who holds it, and what it answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "idem/base/clock.hpp"
#include "idem/base/uuid.hpp"
#include "idem/request/fingerprint.hpp"
#include "idem/request/key.hpp"
#include "idem/response/response.hpp"

namespace idem {
inline namespace v0 {

/// A record's state. The numbers are stored and never change their meaning.
enum class State : std::int16_t {
  in_progress = 1,  ///< Reserved; the holder's lease may still run or have lapsed.
  completed = 2,    ///< Done: the response is replayed.
  failed = 3,       ///< A decision against it (a declined card): the response is replayed like any other.
  unknown = 4,      ///< An outside call's result is not known; somebody settles it.
};

/// Who holds a record: both numbers must match in every later write.
struct Holder {
  /// Grows with each takeover and replacement, also over purge and release.
  std::int64_t fence = 0;
  /// Made at random for each attempt.
  Uuid attempt;
  friend bool operator==(const Holder&, const Holder&) = default;
};

/// The right to settle one record, as `reserve` and `renew` hand it out. A value: copying it gives no second right.
struct Lease {
  Key key;
  /// The stored fingerprint, which the downstream key is derived from (see downstream_key).
  Fingerprint fingerprint;
  Holder holder;
  /// The fence that this record began with: it stays the same over takeovers.
  std::int64_t generation = 0;
  /// When others may take over, by the store's clock.
  TimePoint lease_until;
  /// Until when the downstream remembers its keys; empty where it cannot deduplicate, or where none was named.
  std::optional<TimePoint> window_until{};
};

/// A record as `find` shows it.
struct Record {
  Key key;
  Fingerprint fingerprint;
  State state = State::in_progress;
  Holder holder{};
  std::int64_t generation = 0;
  /// May a lapsed attempt be resumed by another one?
  bool resumable = false;
  /// The outside system that the command calls, where it was named.
  std::optional<std::string> downstream{};
  /// Until when the downstream remembers its keys; empty where it cannot deduplicate.
  std::optional<TimePoint> window_until{};
  /// How long one outside call may take, counted from the end of its lease at the latest.
  std::chrono::milliseconds call_deadline{0};
  /// When the outside call was about to be sent, where that was marked.
  std::optional<TimePoint> sent_at{};
  TimePoint lease_until{};
  std::chrono::milliseconds retention{0};
  /// Set in COMPLETED and FAILED; in UNKNOWN where one was given.
  std::optional<Response> response{};
  TimePoint created_at{};
  std::optional<TimePoint> finished_at{};
  /// Set in COMPLETED and FAILED. After it the key is a new request.
  std::optional<TimePoint> expires_at{};
  std::optional<std::string> resolved_by{};
  std::optional<std::string> resolved_note{};

  /// Did a later attempt take the record over from the first?
  [[nodiscard]] bool taken_over() const noexcept { return holder.fence != generation; }
};

/// Why it is certain that the outside call took no effect and never will. "Not found" is none of these: a request that
/// was sent may still arrive.
enum class NoEffect {
  stored_decline,      ///< The downstream has stored its refusal of this very call.
  void_refuses_later,  ///< A void that also refuses a later arrival of the call.
  closed_settlement,   ///< The period that the call belongs to was settled without it, and is closed.
  operator_decision,   ///< A named person decided it (`who` is that person).
};

/// The evidence and the name under which `resolve` settles an UNKNOWN record.
struct Resolution {
  /// Who resolves: a person or a program. 1 to 255 bytes of UTF-8 without NUL; stored.
  std::string who;
  /// Why: 1 to 1,000 bytes of UTF-8 without NUL; stored. Never a card number or a token.
  std::string why;
  /// For COMPLETED: when the downstream made the charge. It must not be before the record's `created_at`. Give this, or
  /// the next.
  std::optional<TimePoint> effect_at{};
  /// For COMPLETED: the generation that the charge carries. It must be the record's.
  std::optional<std::int64_t> generation{};
  /// For FAILED: why there is certainly no effect.
  std::optional<NoEffect> no_effect{};
};

}  // namespace v0
}  // namespace idem
