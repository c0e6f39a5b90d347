// Where a server listens.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace examples {

struct ListenAddress {
  std::string host;
  int port = 0;  ///< 0 takes a free one.
};

/// Reads `HOST:PORT`, `[::1]:80` too; empty for anything else.
[[nodiscard]] std::optional<ListenAddress> listen_address(std::string_view text);

/// `http://HOST:PORT`.
[[nodiscard]] std::string http_url(const std::string& host, int port);

}  // namespace examples
