// Stored values as text for a terminal.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "idem/clock.hpp"

namespace idemctl {

/// `text` on one line. Control characters, which could drive the terminal, what is not UTF-8, and backslashes
/// are escaped.
[[nodiscard]] std::string printable(std::string_view text);

/// A time in UTC, to the microsecond: 2026-01-31T12:00:00.000000Z.
[[nodiscard]] std::string printable(idem::TimePoint time);

}  // namespace idemctl
