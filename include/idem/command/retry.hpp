// What a failed transaction's exception says, and how often and how patiently the whole is run again.
#pragma once

#include <chrono>
#include <functional>

namespace idem {
inline namespace v0 {

/// What an exception says of the transaction it came from. A backend's `failure_of` tells.
enum class Failure {
  transient,  ///< Rolled back for certain by a race (40001, 40P01): the whole transaction may run again.
  passing,  ///< Rolled back for certain by a time-out (55P03, 57014), a lack (53xxx) or a read-only server (25006).
  definite,  ///< The database or this library refused: rolled back for certain, and it would be refused again.
  lost,  ///< The connection or the COMMIT's answer was lost. At COMMIT: in doubt. Before COMMIT: rolled back.
  unknown,  ///< Anything else, such as an exception of the caller's own code. At COMMIT: in doubt. Before: rolled back.
};

/// The bounds of the retries.
struct RetryOptions {
  /// Transactions run at the most, the first included; at least 1, default 8.
  int max_tries = 8;
  /// The first pause is a random time up to this; each later one up to twice the one before. Default 5 ms.
  std::chrono::milliseconds first_pause{5};
  /// No pause is longer than this. Default 500 ms.
  std::chrono::milliseconds longest_pause{500};
  /// Waits between two tries, with no transaction open. May throw to give up. Default: std::this_thread::sleep_for.
  std::function<void(std::chrono::milliseconds)> pause{};
};

namespace detail {

// Counts the tries and waits between them.
class Retries {
 public:
  explicit Retries(const RetryOptions& options);
  // In a handler: waits and returns where the failure at hand allows another try and one is left. Otherwise throws it
  // again; where a COMMIT of ours is in doubt, CommitUnknown with it nested.
  void wait_or_rethrow(bool allowed, bool in_doubt);

 private:
  // Waits and says true, or says false where no try is left.
  bool wait();

  const RetryOptions& options_;
  int tries_ = 1;
  std::chrono::milliseconds bound_;
};

}  // namespace detail
}  // namespace v0
}  // namespace idem
