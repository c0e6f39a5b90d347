// The acquirer at a URL, where this build can speak HTTP.
#pragma once

#include <string_view>

#include "charge.hpp"

namespace payments {

/// Throws std::invalid_argument for a URL that is not `http://HOST:PORT`, and for any in a build without cpp-httplib;
/// std::runtime_error for a host that is not found. What it returns is safe to share between threads.
[[nodiscard]] AskAcquirer acquirer_at(std::string_view url);

}  // namespace payments
