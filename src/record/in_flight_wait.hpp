// How long one who waits for a key in flight goes on looking.
#pragma once

#include <algorithm>
#include <chrono>

#include "idem/record/options.hpp"

namespace idem {
inline namespace v0 {
namespace detail {

class InFlightWait {
 public:
  explicit InFlightWait(const OnInFlight& on_in_flight) : deadline_{Steady::now() + on_in_flight.longest()} {}

  // How long to wait before the next look; 0 where there is none.
  [[nodiscard]] std::chrono::nanoseconds next() {
    const auto left =
        std::max<std::chrono::nanoseconds>(deadline_ - Steady::now(), std::chrono::nanoseconds{0});
    const auto interval = std::min<std::chrono::nanoseconds>(left, interval_);
    interval_ = std::min(2 * interval_, longest_interval);
    return interval;
  }

 private:
  using Steady = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds longest_interval{50};

  Steady::time_point deadline_;
  std::chrono::milliseconds interval_{1};
};

}  // namespace detail
}  // namespace v0
}  // namespace idem
