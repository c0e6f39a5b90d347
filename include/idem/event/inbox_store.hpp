// One transaction's view of the events that consumers have seen.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "idem/event/event_identity.hpp"
#include "idem/record/observer.hpp"

namespace idem {
inline namespace v0 {

/// What became of a delivered event.
enum class Delivery {
  applied,    ///< Seen for the first time: its effect belongs to this transaction.
  duplicate,  ///< Seen before: nothing was done. Acknowledge it.
  beyond_horizon,  ///< Too old, or of unknown age, to be proven unseen: nothing was done. The caller's dead letter.
};

/// The outcome's stable name, such as "beyond_horizon".
[[nodiscard]] std::string_view to_string(Delivery delivery) noexcept;

/// What a version guard made of an event.
enum class Versioned {
  applied,    ///< Newer than what was applied: its effect belongs to this transaction.
  not_newer,  ///< A duplicate, or overtaken by a newer one: nothing was done. Acknowledge it.
};

/// The outcome's stable name, such as "not_newer".
[[nodiscard]] std::string_view to_string(Versioned versioned) noexcept;

/// What an inbox does with an event whose age cannot be told: it has no time, or one further in the future than the
/// skew.
enum class UnknownAge {
  refuse,  ///< `beyond_horizon`: it cannot be proven unseen, so a person or a dead letter decides.
  apply,   ///< As one made now. The caller vouches that none is redelivered after the horizon.
};

/// Give every inbox of one consumer equal ones. A mark is kept as long as the options of the inbox that received the
/// event say: another inbox with a longer horizon, or a longer one later, may apply an event again whose mark was
/// purged.
struct InboxOptions {
  /// How long after it was made an event may still be delivered, the first time or again. At least 0, at most ten years;
  /// default 7 days. At least what the broker retains and redelivers. Milliseconds.
  std::chrono::milliseconds horizon{std::chrono::days{7}};
  /// How far the maker's clock may be ahead of the store's. At least 0, at most ten years; default 5 minutes.
  std::chrono::milliseconds skew{std::chrono::minutes{5}};
  UnknownAge unknown_age = UnknownAge::refuse;
};

/// Throws InvalidArgument, naming the option and its limit, where `options` break one.
void validate(const InboxOptions& options);

/// The inbox and the version guard as one transaction of the caller's sees and changes them; what Inbox and VersionGuard
/// stand on.
///
/// Every change belongs to that transaction and is rolled back with it. Never begins, commits or rolls back, leaves no
/// setting changed, and must not outlive the transaction. Not thread-safe: a transaction and its store belong to one
/// thread at a time.
class InboxStore {
 public:
  virtual ~InboxStore() = default;

  /// Records that `consumer` sees these events, and says of each, in order, what it is. Rolled back with the transaction.
  ///
  /// The first of equal identities is `applied` where nobody has seen it, each later one `duplicate`. Whoever is told
  /// `applied` does the effect in this transaction, or rolls it back. An event that another open transaction is
  /// applying is waited for. Rows are taken in the order of source and id, so that batches do not deadlock with each
  /// other. At most `most_events` at once; none is no call to the store.
  ///
  /// Throws InvalidEvent and InvalidArgument before anything is sent; TransactionConflict (run the whole transaction
  /// again) where a race is lost under REPEATABLE READ or SERIALIZABLE, or in a deadlock; TransactionClosed outside an
  /// open transaction; and what the database throws.
  [[nodiscard]] std::vector<Delivery> receive(std::string_view consumer,
                                              std::span<const EventIdentity> events,
                                              const InboxOptions& options);

  /// Records `version` as what `consumer` has applied of `entity`, if it is greater than what is recorded. Rolled back
  /// with the transaction. A concurrent one is waited for. Whoever is told `applied` does the effect in this
  /// transaction, or rolls it back. `entity` is 1 to 1024 bytes of UTF-8 without NUL. Throws as receive().
  [[nodiscard]] Versioned advance(std::string_view consumer, std::string_view entity, std::int64_t version);

  static constexpr std::size_t most_events = 10'000;

 protected:
  /// `observer` may be null; otherwise it must outlive the store.
  explicit InboxStore(Observer* observer = nullptr) noexcept : observer_{observer} {}
  InboxStore(const InboxStore&) = default;
  InboxStore& operator=(const InboxStore&) = default;

 private:
  // The hooks see arguments that were checked already; `events` are distinct and in the order of source and id, and their
  // times are those of time_of().
  virtual std::vector<Delivery> do_receive(std::string_view consumer, std::span<const EventIdentity> events,
                                           const InboxOptions& options) = 0;
  virtual Versioned do_advance(std::string_view consumer, std::string_view entity, std::int64_t version) = 0;

  Observer* observer_;
};

}  // namespace v0
}  // namespace idem
