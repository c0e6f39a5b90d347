// Posts a command under an idempotency key, over HTTP.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "not_known.hpp"

namespace examples {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Received {
  int status = 0;
  std::string body;
  Headers headers{};

  /// The first one of that name, in letters of any case; empty where there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

/// Sends each command once, on a connection of its own. Safe to share between threads.
class KeyedPost {
 public:
  /// `http://HOST:PORT`; messages call the other side `whom`. `headers` go with each command. The host is looked up here and
  /// not again, as a look-up keeps to no deadline. Throws std::invalid_argument for another URL, std::runtime_error for a host
  /// that is not found.
  KeyedPost(std::string whom, std::string_view url, Headers headers = {});

  /// The answer, whatever it says. Returns or throws within the deadline, which holds for connecting, sending and reading
  /// together. Throws NotKnown; for a key that is not 1 to 255 visible ASCII characters without a percent sign, which
  /// some servers decode, std::invalid_argument, and nothing is sent.
  [[nodiscard]] Received send(const std::string& path, const std::string& idempotency_key,
                              const std::string& body, std::chrono::milliseconds deadline) const;

 private:
  std::string whom_;
  Headers headers_;
  std::string host_;
  int port_ = 0;
  std::string authority_;               // The Host header.
  std::vector<std::string> addresses_;  // In the order in which they are to be tried.
};

}  // namespace examples
