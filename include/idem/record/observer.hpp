// Sees what every call on a store came to, for metrics and logs.
#pragma once

#include <chrono>
#include <string_view>

#include "idem/request/key.hpp"

namespace idem {
inline namespace v0 {

/// What one call came to.
enum class Observed {
  acquired,
  acquired_again,
  took_over,
  replayed,
  in_progress,
  mismatch,
  unknown,
  completed,
  failed,
  marked_unknown,
  held,
  marked_sent,
  renewed,
  lapsed,
  released,
  resolved,
  found,
  not_found,
  applied,  ///< An event or a newer version: its consumer is called.
  duplicate,
  beyond_horizon,
  not_newer,
  appended,  ///< To the outbox.
  lease_lost,
  already_settled,
  conflict,  ///< TransactionConflict: the caller runs its transaction again.
  error,     ///< Any other exception.
};

/// The event's stable name for a metric's label, such as "took_over".
[[nodiscard]] std::string_view to_string(Observed what) noexcept;

/// One call on a store; of a batch of events, one event of the call. Never holds a body, a header or a fingerprint.
/// Valid during the call only.
struct Observation {
  Observed what;
  /// Principal, operation and key. Of an event: its source, the consumer, its id. Of a version: the entity, the
  /// consumer, the version. Of an outbox message: aggregate type, event type, aggregate id. Log the value only where that
  /// is allowed.
  const Key& subject;
  std::chrono::nanoseconds duration;  ///< From the call to its answer, by the process's steady clock.
};

/// Receives every observation of a backend. Called on the thread of the call, from several threads at once, before the
/// call returns and before the transaction commits: what it is told may still be rolled back. Must not throw and must
/// not use the transaction. Where there is none, no clock is read.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void observe(const Observation& observation) noexcept = 0;
};

}  // namespace v0
}  // namespace idem
