#include "idem/event/inbox.hpp"

#include "base/time_limit.hpp"
#include "idem/base/error.hpp"

namespace idem {
inline namespace v0 {

void validate(const InboxOptions& options) {
  using std::chrono::milliseconds;
  if (options.horizon < milliseconds{0} || options.horizon > detail::longest_time) {
    throw InvalidArgument{"horizon must be at least 0 and at most ten years"};
  }
  if (options.skew < milliseconds{0} || options.skew > detail::longest_time) {
    throw InvalidArgument{"skew must be at least 0 and at most ten years"};
  }
}

}  // namespace v0
}  // namespace idem
