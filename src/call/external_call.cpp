#include "idem/call/external_call.hpp"

namespace idem {
inline namespace v0 {

void validate(const CallOptions& options) {
  if (options.settle_tries < 1) throw InvalidArgument{"settle_tries must be at least 1"};
  (void)detail::Retries{options.retry};
  (void)detail::call_reservation(options, cannot_deduplicate("any"));
}

namespace detail {

ReserveOptions call_reservation(const CallOptions& options, Downstream downstream) {
  ReserveOptions reserve = options.reserve;
  if (reserve.downstream || reserve.resumable || reserve.attempt) {
    throw InvalidArgument{
        "external_call: downstream and resumable are the operation's to say, and attempt the library's"};
  }
  reserve.downstream = std::move(downstream);
  reserve.resumable = true;
  if (reserve.call_deadline == std::chrono::milliseconds{0}) {
    reserve.call_deadline = reserve.lease / 3;
    if (reserve.call_deadline <= std::chrono::milliseconds{0}) {
      throw InvalidArgument{"the lease must be at least 3 ms: a third of it is the call's deadline"};
    }
  }
  // The call may send as late as at its deadline.
  if (reserve.downstream->window) reserve.downstream->margin += reserve.call_deadline;
  validate(reserve);
  return reserve;
}

bool LeaseTime::may_send(const Lease& lease, const ReserveOptions& reserve) const {
  const auto passed = Steady::now() - began_;
  if (passed + reserve.call_deadline > reserve.lease) return false;
  if (!lease.window_until) return true;
  // The lease was counted from the moment that the window is compared with.
  const auto window_left = *lease.window_until - (lease.lease_until - reserve.lease);
  return passed < window_left - reserve.downstream->margin;
}

}  // namespace detail
}  // namespace v0
}  // namespace idem
