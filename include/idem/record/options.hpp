// How a key is reserved: the lease, the retention, and what may happen after a crash.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "idem/base/uuid.hpp"

namespace idem {
inline namespace v0 {

/// What a duplicate gets while somebody else holds the key. A value; equal where its time is.
class OnInFlight {
 public:
  /// `InProgress`, at once. Nothing waits, no connection is held.
  static const OnInFlight refuse;

  /// The answer as soon as there is one, and `InProgress` where there is none within `longest`: at least 0, which
  /// is refuse, and at most an hour.
  ///
  /// Looks again and again, at growing intervals up to 50 ms, in the caller's transaction, which is held open with its
  /// connection meanwhile: no setting is changed, no lock is waited for, and no error comes of it. (Without the gate an
  /// uncommitted reservation is waited for in the server, beyond `longest`, and a circle of waits is a
  /// TransactionConflict.) Under REPEATABLE READ and SERIALIZABLE nothing new can be seen, so a record that was
  /// committed in progress is answered at once, and an uncommitted one that is committed meanwhile is a
  /// TransactionConflict: run the whole transaction again, for its answer.
  [[nodiscard]] static constexpr OnInFlight wait(std::chrono::milliseconds longest) {
    return OnInFlight{longest};
  }

  /// 0 for refuse.
  [[nodiscard]] constexpr std::chrono::milliseconds longest() const noexcept { return longest_; }

  friend bool operator==(const OnInFlight&, const OnInFlight&) = default;

 private:
  constexpr OnInFlight() noexcept = default;
  constexpr explicit OnInFlight(std::chrono::milliseconds longest) noexcept : longest_{longest} {}

  std::chrono::milliseconds longest_{0};
};

inline constexpr OnInFlight OnInFlight::refuse{};

/// The system that a command calls outside the database, and what it promises about repeated calls.
struct Downstream {
  /// Its stable name, 1 to 255 bytes of UTF-8 without NUL. Stored: a record is resumed only for the same name.
  std::string name;
  /// For at least this long after the reservation the same downstream key gets the same final answer, declines and
  /// concurrent calls included. Empty: it cannot deduplicate, so nothing is ever sent to it twice. Must be shorter than
  /// the retention, and longer than `margin`. Milliseconds.
  std::optional<std::chrono::milliseconds> window;
  /// How long before the window's end nothing is resumed any more: at least the longest pause between the check and
  /// the sending plus the longest time that a sent request may still arrive. external_call() adds the call's deadline.
  /// Milliseconds.
  std::chrono::milliseconds margin{std::chrono::minutes{1}};
  /// Puts the record's generation into the downstream key, for a downstream that never forgets: a key that is used again
  /// after its retention would otherwise be given the old charge. The cost: a reservation that the database lost, in a
  /// failover to a standby that was behind, is a new generation, so its charge is not deduplicated any more.
  bool key_per_generation = false;

  /// The name under which records are stored; another one where the keys are made in another way.
  [[nodiscard]] std::string stored_name() const { return key_per_generation ? name + "#generation" : name; }

  friend bool operator==(const Downstream&, const Downstream&) = default;
};

/// A downstream that remembers its keys for `window`.
[[nodiscard]] inline Downstream deduplicates_for(std::string name, std::chrono::milliseconds window) {
  return {std::move(name), window};
}

/// A downstream that carries out whatever it is sent.
[[nodiscard]] inline Downstream cannot_deduplicate(std::string name) {
  return {std::move(name), std::nullopt};
}

/// What `reserve` asks for. The recorded values of the first reservation hold: another lease or retention asked for
/// by a duplicate changes nothing. Only whoever acquires the key, a takeover too, is given the lease that it asks for.
struct ReserveOptions {
  /// How long the record is the holder's own. Its end only permits a takeover. More than 0; default 30 s.
  std::chrono::milliseconds lease{std::chrono::seconds{30}};
  /// How long a settled record is kept, counted from settling. At least the lease and the horizon, at most ten years;
  /// default 72 h. Too short, and a late retry runs as a new request.
  std::chrono::milliseconds retention{std::chrono::hours{72}};
  /// How long duplicates may still arrive, where the caller states it. Checked against the retention.
  std::optional<std::chrono::milliseconds> horizon{};
  /// What a duplicate gets while somebody else holds the key; default refuse.
  OnInFlight on_in_flight = OnInFlight::refuse;
  /// May another attempt resume this command after the lease lapsed? Needs a downstream. Default false: a lapsed
  /// record then becomes UNKNOWN, never a second run.
  bool resumable = false;
  /// The outside system that the command calls; default none.
  std::optional<Downstream> downstream{};
  /// How long one outside call may take. At least 0 and less than the lease; default 0, for no outside call.
  std::chrono::milliseconds call_deadline{0};
  /// Only to settle this caller's own lost COMMIT: the attempt of that reservation (`Lease::holder.attempt`). The call
  /// then waits for the old transaction to end instead of refusing.
  std::optional<Uuid> attempt{};
};

/// Throws InvalidArgument, naming the option and its limit, where `options` break one.
void validate(const ReserveOptions& options);

}  // namespace v0
}  // namespace idem
