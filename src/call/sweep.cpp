#include "idem/call/sweep.hpp"

#include "base/text_limits.hpp"
#include "base/time_limit.hpp"

namespace idem {
inline namespace v0 {

void validate(const SweepOptions& options) {
  using std::chrono::milliseconds;
  detail::check_text("the swept operation", options.operation, 255);
  for (const milliseconds interval : {options.interval, options.full_interval}) {
    if (interval <= milliseconds{0} || interval > detail::longest_time)
      throw InvalidArgument{"a sweep's intervals must be more than 0 and at most ten years"};
  }
  // Or every record would be refused, one by one.
  validate(options.call);
}

namespace detail {

void wait_or_stop(const std::stop_token& stop, std::chrono::milliseconds duration) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock{mutex};
  stopped.wait_for(lock, stop, duration, [] { return false; });
}

}  // namespace detail
}  // namespace v0
}  // namespace idem
