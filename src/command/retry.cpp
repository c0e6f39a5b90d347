#include "idem/command/retry.hpp"

#include <algorithm>
#include <exception>
#include <random>
#include <thread>

#include "idem/base/error.hpp"

namespace idem {
inline namespace v0 {
namespace detail {
namespace {

// Whatever ends the settling, a definite refusal or a pause that throws: it says nothing of a COMMIT that was lost before.
[[noreturn]] void give_up(bool in_doubt) {
  if (in_doubt) {
    std::throw_with_nested(
        CommitUnknown{"the COMMIT's answer was lost and is not settled; call again with this key"});
  }
  throw;
}

}  // namespace

Retries::Retries(const RetryOptions& options) : options_{options}, bound_{options.first_pause} {
  if (options.max_tries < 1) throw InvalidArgument{"max_tries must be at least 1"};
  if (options.first_pause < std::chrono::milliseconds{0} || options.longest_pause < options.first_pause) {
    throw InvalidArgument{"first_pause must be at least 0 and not longer than longest_pause"};
  }
}

void Retries::wait_or_rethrow(bool allowed, bool in_doubt) {
  bool again = false;
  try {
    again = allowed && wait();
  } catch (...) {
    give_up(in_doubt);
  }
  if (!again) give_up(in_doubt);
}

bool Retries::wait() {
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

}  // namespace detail
}  // namespace v0
}  // namespace idem
