// Asks the acquirer, over HTTP.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "charge.hpp"

namespace payments {

/// Sends each charge once, on a connection of its own. Safe to share between threads.
class AcquirerClient {
 public:
  /// `http://HOST:PORT`. The host is looked up here and not again, as a look-up keeps to no deadline. Throws
  /// std::invalid_argument for another URL, std::runtime_error for a host that is not found.
  explicit AcquirerClient(std::string_view url);

  /// The acquirer's decision. Returns or throws within the deadline, which holds for connecting, sending and reading
  /// together. Throws AcquirerUnknown; for a key that is not 1 to 255 visible ASCII characters without a
  /// percent sign, which some servers decode, std::invalid_argument, and nothing is sent.
  [[nodiscard]] ChargeAnswer charge(const std::string& idempotency_key, const Charge& charge,
                                    std::chrono::milliseconds deadline) const;

 private:
  std::string host_;
  int port_ = 0;
  std::string authority_;               // The Host header.
  std::vector<std::string> addresses_;  // In the order in which they are to be tried.
};

}  // namespace payments
