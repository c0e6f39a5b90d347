// One transaction's view of the idempotency records.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "idem/record/observer.hpp"
#include "idem/record/options.hpp"
#include "idem/record/record.hpp"
#include "idem/record/reservation.hpp"
#include "idem/request/key.hpp"
#include "idem/response/response.hpp"

namespace idem {
inline namespace v0 {

struct ResponseRules;

/// The records as one transaction of the caller's sees and changes them.
///
/// Every change belongs to that transaction: if it rolls back, so does the change. The store never begins, commits or
/// rolls back, leaves no setting changed, and must not outlive the transaction. After any answer the transaction is
/// usable, and after InvalidArgument, AlreadyReserved, FingerprintUnavailable, BodyUnavailable and TooEarly too; after any
/// other error roll back.
/// Not thread-safe: a transaction and its store belong to one thread at a time.
///
/// A store of one's own derives from this and passes the suite in idem/testing/store_conformance.hpp.
class IdempotencyStore {
 public:
  virtual ~IdempotencyStore() = default;

  /// Reserves `key` inside the caller's transaction: if that rolls back, so does the reservation.
  ///
  /// - Acquired: the key is yours. Do the work, then complete() or fail() with this lease, in the same (sub)transaction.
  /// - Replay: it was done before. Answer with this response, byte for byte, and do nothing; see withheld() for one whose
  ///   body was not kept.
  /// - InProgress: another transaction holds the key. Come back after `retry_after`, with the same key.
  /// - Mismatch: the key was used for another request: the client's bug. Never retry with it.
  /// - Unknown: an outside call's result is not known; somebody settles it. Tell the client so.
  ///
  /// Only Acquired and the turn of a lapsed record to UNKNOWN write anything. One round trip for a new key.
  ///
  /// Throws InvalidKey or InvalidArgument before anything is sent; AlreadyReserved, FingerprintUnavailable and
  /// BodyUnavailable (the request is the same, but the answer cannot be decoded here) with nothing changed;
  /// TransactionConflict (run the whole transaction again) when a race is lost under REPEATABLE READ or SERIALIZABLE;
  /// TransactionClosed outside an open transaction; and what the database throws.
  [[nodiscard]] Reservation reserve(const Key& key, const Fingerprint& fingerprint,
                                    const ReserveOptions& options = {});

  /// Settles the record as COMPLETED with `response`, which every retry then gets. Rolled back with the transaction.
  /// Settles an UNKNOWN record too, where the lease's fence and attempt are still its own.
  ///
  /// Returns when the record expires: settling time + the recorded retention. Throws AlreadySettled or LeaseLost (the
  /// transaction can then commit nothing), InvalidArgument before anything is sent for a header that cannot be stored, a
  /// reserved one among them, or a response over the backend's limit, unless its rules withhold the body.
  TimePoint complete(const Lease& lease, const Response& response);

  /// Settles the record as FAILED: a *decision* against the command, such as a declined card, replayed like any other
  /// answer. Never for a passing failure (a deadlock, a lost connection, an exception): roll back instead.
  /// Otherwise as complete().
  TimePoint fail(const Lease& lease, const Response& response);

  /// Turns an IN_PROGRESS record into UNKNOWN and stores what duplicates are told until it is settled. Rolled back with
  /// the transaction. An UNKNOWN record of this lease's, for which nothing was stored yet, is given that response. Throws
  /// as complete(); LeaseLost also where the record is UNKNOWN with a response already.
  void mark_unknown(const Lease& lease, const Response& response);

  /// Makes sure that the record can still be settled with this lease (IN_PROGRESS, or UNKNOWN with the lease's fence and
  /// attempt), and keeps all others from it until the transaction ends: what comes before complete() or fail() then has
  /// no rival. Changes nothing. Throws AlreadySettled or LeaseLost (the transaction can then commit nothing).
  void hold(const Lease& lease);

  /// Marks that the outside call is about to be sent. Commit it before sending: a lapsed record of a downstream that
  /// cannot deduplicate is resumed only without this mark. Rolled back with the transaction. Throws LeaseLost.
  void mark_sent(const Lease& lease);

  /// Sets the lease's end to `lease` from now, also where it has lapsed but nobody took over. Never extends the
  /// downstream's window. Rolled back with the transaction. Throws LeaseLost; InvalidArgument unless `lease` is more than
  /// 0 and at most ten years.
  [[nodiscard]] Lease renew(const Lease& held, std::chrono::milliseconds lease);

  /// Ends the lease now: the record stays IN_PROGRESS for the next one to resume. Rolled back with the transaction.
  /// Throws LeaseLost.
  void lapse(const Lease& lease);

  /// Removes the record, as if the key had never been used. Rolled back with the transaction. Legal only where nothing
  /// outside was called and no other attempt came before: throws InvalidArgument for a record that was taken over or
  /// marked sent (nothing is changed). Business rows of this command go in the same transaction. Throws LeaseLost.
  void release(const Lease& lease);

  /// Settles an UNKNOWN record as `state` (COMPLETED or FAILED), in the transaction that also updates the business row;
  /// rolled back with it. Returns when the record expires.
  ///
  /// COMPLETED needs evidence of a charge of this generation: `effect_at` at or after `created_at`, or the generation
  /// itself. FAILED needs a definitive `no_effect`, and is TooEarly before the lapsed lease plus the call's deadline.
  /// Throws InvalidArgument where the evidence is missing or another generation's (nothing is changed); AlreadySettled
  /// the second time, LeaseLost where it is not UNKNOWN under this holder (the transaction can then commit nothing).
  TimePoint resolve(const Key& key, const Holder& holder, State state, const Response& response,
                    const Resolution& resolution);

  /// Reads the record without changing or locking anything; absent where there is none, where it has expired, or where
  /// it is another transaction's uncommitted one. Throws InvalidKey, and BodyUnavailable for a response that cannot be decoded
  /// here.
  [[nodiscard]] std::optional<Record> find(const Key& key);

  /// As find(), but with the response as it is stored: an encoded body is not decoded (see encoded_by()). For tools, and for
  /// whoever needs all but the body.
  [[nodiscard]] std::optional<Record> find_stored(const Key& key);

  /// A record of find_stored() as find() shows it. Throws BodyUnavailable.
  [[nodiscard]] Record decoded(Record stored) const;

 protected:
  /// `observer` and `rules` may be null; otherwise they must outlive the store. A response over `max_response_bytes` is
  /// treated as the rules say: refused without any.
  explicit IdempotencyStore(Observer* observer = nullptr,
                            std::size_t max_response_bytes = default_max_response_bytes,
                            const ResponseRules* rules = nullptr) noexcept
      : observer_{observer}, max_response_bytes_{max_response_bytes}, rules_{rules} {}
  IdempotencyStore(const IdempotencyStore&) = default;
  IdempotencyStore& operator=(const IdempotencyStore&) = default;

  static constexpr std::size_t default_max_response_bytes = std::size_t{16} << 20;

 private:
  // The hooks see arguments that were checked already, and responses as they are stored. They do what the function of the
  // same name says.
  virtual Reservation do_reserve(const Key& key, const Fingerprint& fingerprint,
                                 const ReserveOptions& options) = 0;
  virtual TimePoint do_settle(const Lease& lease, State state, const Response& response) = 0;
  virtual void do_mark_unknown(const Lease& lease, const Response& response) = 0;
  virtual void do_hold(const Lease& lease) = 0;
  virtual void do_mark_sent(const Lease& lease) = 0;
  virtual TimePoint do_renew(const Lease& held, std::chrono::milliseconds lease) = 0;
  virtual void do_lapse(const Lease& lease) = 0;
  virtual void do_release(const Lease& lease) = 0;
  virtual TimePoint do_resolve(const Key& key, const Holder& holder, State state, const Response& response,
                               const Resolution& resolution) = 0;
  virtual std::optional<Record> do_find(const Key& key) = 0;

  [[nodiscard]] std::optional<Record> read(const Key& key);

  Observer* observer_;
  std::size_t max_response_bytes_;
  const ResponseRules* rules_;
};

}  // namespace v0
}  // namespace idem
