// Asks the acquirer, over HTTP.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "charge.hpp"
#include "keyed_post.hpp"

namespace payments {

/// Sends each charge once, on a connection of its own. Safe to share between threads.
class AcquirerClient {
 public:
  /// `http://HOST:PORT`. Throws as KeyedPost does.
  explicit AcquirerClient(std::string_view url);

  /// The acquirer's decision. Returns or throws within the deadline. Throws AcquirerUnknown, and std::invalid_argument
  /// where nothing can be sent.
  [[nodiscard]] ChargeAnswer charge(const std::string& idempotency_key, const Charge& charge,
                                    std::chrono::milliseconds deadline) const;

 private:
  examples::KeyedPost post_;
};

}  // namespace payments
