// The state table of a record: what a found record means for the one who asks. A pure function, so that every backend
// gives the same answer.
#pragma once

#include <chrono>

#include "idem/record/options.hpp"
#include "idem/record/record.hpp"

namespace idem {
inline namespace v0 {

/// What a store does about a record that it found.
enum class Verdict {
  replace,        ///< Settled and expired: a new request. Make every column new: Acquired, fresh.
  replay,         ///< Settled: Replay.
  mismatch,       ///< Another request's record: Mismatch.
  in_progress,    ///< Another attempt's live lease: InProgress.
  resume_own,     ///< This attempt's own reservation: renew the lease: Acquired, again.
  take_over,      ///< Lapsed and may be resumed: new fence and attempt: Acquired, took_over.
  leave_unknown,  ///< Lapsed and resumable, but not by this asker: Unknown, the record left as it is.
  turn_unknown,  ///< Lapsed and must not be resumed: make it UNKNOWN with fence and attempt unchanged: Unknown.
  unknown,       ///< Already UNKNOWN: Unknown.
  already_reserved,  ///< Held by the asking transaction itself under another attempt: throw AlreadyReserved.
};

/// Judges `record`, found at `now` by the store's clock, for one who asks with `asked` and `options`.
/// `own_transaction` says that the asking transaction itself reserved the record and has not committed.
/// Throws FingerprintUnavailable where the two fingerprints cannot be compared. Changes nothing; safe between threads.
[[nodiscard]] Verdict judge(const Record& record, bool own_transaction, TimePoint now,
                            const Fingerprint& asked, const ReserveOptions& options);

/// When one who was told InProgress comes back: what is left of the lease, at least 1 ms and at most 1 s.
[[nodiscard]] std::chrono::milliseconds retry_after(std::chrono::microseconds lease_left) noexcept;

/// Checks that a call of `record`'s generation was made and that `resolution` may settle it as `state` at `now`.
/// Throws InvalidArgument or TooEarly; see IdempotencyStore::resolve. Changes nothing; safe between threads.
void check_resolution(const Record& record, State state, const Resolution& resolution, TimePoint now);

}  // namespace v0
}  // namespace idem
