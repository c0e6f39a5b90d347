#include "idem/retry.hpp"

#include <algorithm>
#include <random>
#include <thread>

#include "idem/error.hpp"

namespace idem::inline v0::detail {

Retries::Retries(const RetryOptions& options) : options_{options}, bound_{options.first_pause} {
  if (options.max_tries < 1) throw InvalidArgument{"max_tries must be at least 1"};
  if (options.first_pause < std::chrono::milliseconds{0} || options.longest_pause < options.first_pause) {
    throw InvalidArgument{"first_pause must be at least 0 and not longer than longest_pause"};
  }
}

bool Retries::another() {
  if (tries_ >= options_.max_tries) return false;
  ++tries_;
  // A random share of the bound, so that rivals that collided do not collide again in step.
  std::random_device seed;
  const std::chrono::milliseconds pause{std::uniform_int_distribution<std::int64_t>{0, bound_.count()}(seed)};
  bound_ = bound_ > options_.longest_pause / 2 ? options_.longest_pause : bound_ * 2;
  if (options_.pause) {
    options_.pause(pause);
  } else {
    std::this_thread::sleep_for(pause);
  }
  return true;
}

}  // namespace idem::inline v0::detail
