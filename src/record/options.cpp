#include "idem/record/options.hpp"

#include <string>

#include "base/text_limits.hpp"
#include "base/time_limit.hpp"
#include "idem/base/error.hpp"

namespace idem {
inline namespace v0 {

void validate(const ReserveOptions& options) {
  using std::chrono::milliseconds;
  if (options.lease <= milliseconds{0}) throw InvalidArgument{"lease must be more than 0"};
  if (options.retention < options.lease)
    throw InvalidArgument{"retention must not be shorter than the lease"};
  if (options.retention > detail::longest_time)
    throw InvalidArgument{"retention must not be longer than ten years"};
  if (options.horizon && *options.horizon < milliseconds{0}) {
    throw InvalidArgument{"horizon must not be negative"};
  }
  if (options.horizon && options.retention < *options.horizon) {
    throw InvalidArgument{"retention must not be shorter than the horizon: a late duplicate would run again"};
  }
  if (options.on_in_flight.longest() < milliseconds{0} ||
      options.on_in_flight.longest() > std::chrono::hours{1}) {
    throw InvalidArgument{"the longest wait for a key in flight must be at least 0 and at most an hour"};
  }
  if (options.call_deadline < milliseconds{0} || options.call_deadline >= options.lease) {
    throw InvalidArgument{"call_deadline must be at least 0 and end inside the lease"};
  }
  if (options.resumable && !options.downstream) {
    throw InvalidArgument{"resumable needs a downstream: what the lapsed attempt may have called"};
  }
  if (!options.downstream) return;
  const Downstream& downstream = *options.downstream;
  detail::check_text("downstream name", downstream.stored_name(), 255);
  if (downstream.name.ends_with("#generation"))
    throw InvalidArgument{"a downstream's name must not end in \"#generation\""};
  if (downstream.margin < milliseconds{0})
    throw InvalidArgument{"the downstream's margin must not be negative"};
  if (!downstream.window) return;
  if (*downstream.window >= options.retention) {
    throw InvalidArgument{
        "the downstream's window must be shorter than the retention: a key used again after it "
        "would be given the old charge"};
  }
  if (*downstream.window <= downstream.margin) {
    throw InvalidArgument{"the downstream's window must be longer than its margin"};
  }
}

}  // namespace v0
}  // namespace idem
