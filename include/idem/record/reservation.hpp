// What `reserve` answers: exactly one of five.
#pragma once

#include <chrono>
#include <optional>
#include <variant>

#include "idem/record/record.hpp"

namespace idem {
inline namespace v0 {

/// How a key was acquired.
enum class How {
  fresh,      ///< A new request: nothing has run for it.
  again,      ///< This attempt's own reservation, whose COMMIT was lost. Its lease was renewed.
  took_over,  ///< An earlier attempt's lease lapsed, and the record may be resumed.
};

/// The key is the caller's. Do the work, then settle with this lease.
struct Acquired {
  Lease lease;
  How how = How::fresh;
};

/// It was done before: answer with this response, byte for byte, and do nothing.
struct Replay {
  State state = State::completed;
  Response response;
  /// After this the key is a new request.
  TimePoint expires_at;
};

/// Somebody else is doing it. Come back after `retry_after`, with the same key.
struct InProgress {
  std::chrono::milliseconds retry_after{0};
};

/// The key was used for another request: the client's bug. Never retry with it.
struct Mismatch {};

/// An outside call's result is not known; somebody settles it. Tell the client so, with this response where one was
/// stored.
struct Unknown {
  std::optional<Response> response;
  /// Set where this very call found the record lapsed and turned it UNKNOWN: what mark_unknown() takes, to store in the
  /// same transaction what duplicates are told.
  std::optional<Lease> turned{};
};

using Reservation = std::variant<Acquired, Replay, InProgress, Mismatch, Unknown>;

}  // namespace v0
}  // namespace idem
