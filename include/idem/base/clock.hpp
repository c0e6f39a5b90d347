// Time as records hold it, and where a store without a server reads it.
#pragma once

#include <chrono>

namespace idem {
inline namespace v0 {

/// A point in a store's own time, in microseconds (the resolution that PostgreSQL keeps).
using TimePoint = std::chrono::sys_time<std::chrono::microseconds>;

/// Where the in-memory backend reads the time. The PostgreSQL backend has none: there the server's
/// `clock_timestamp()` is the only clock. Implementations must be safe to call from several threads.
class Clock {
 public:
  virtual ~Clock() = default;
  /// The time now. Never goes back.
  [[nodiscard]] virtual TimePoint now() const = 0;
};

/// The machine's own clock. Stateless; safe between threads.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override {
    return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
  }
};

}  // namespace v0
}  // namespace idem
