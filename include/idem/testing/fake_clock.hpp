// A clock that a test moves by hand.
#pragma once

#include <atomic>
#include <chrono>

#include "idem/base/clock.hpp"
#include "idem/base/error.hpp"

namespace idem {
inline namespace v0 {
namespace testing {

/// Stands still until it is advanced, so that a test meets a lease's end exactly. Safe between threads.
///
///     auto clock = std::make_shared<idem::testing::FakeClock>();
///     idem::memory::Database db{clock};
///     clock->advance(std::chrono::seconds{31});  // the default lease has lapsed
class FakeClock final : public Clock {
 public:
  /// Where it starts, unless told otherwise: 2030-01-01 00:00:00 UTC.
  static constexpr TimePoint default_start = std::chrono::sys_days{std::chrono::year{2030} / 1 / 1};

  explicit FakeClock(TimePoint start = default_start) noexcept : now_{start.time_since_epoch().count()} {}

  [[nodiscard]] TimePoint now() const override { return TimePoint{std::chrono::microseconds{now_.load()}}; }

  /// Moves the time forward. Throws InvalidArgument for a negative duration: a clock never goes back.
  void advance(std::chrono::microseconds duration) {
    if (duration < std::chrono::microseconds{0})
      throw InvalidArgument{"a clock cannot be advanced by less than 0"};
    now_ += duration.count();
  }

 private:
  std::atomic<std::chrono::microseconds::rep> now_;
};

}  // namespace testing
}  // namespace v0
}  // namespace idem
