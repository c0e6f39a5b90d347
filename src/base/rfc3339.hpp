// Times as text.
#pragma once

#include <optional>
#include <string_view>

#include "idem/base/clock.hpp"

namespace idem {
inline namespace v0 {
namespace detail {

/// Reads an RFC 3339 date-time with its offset, cut to microseconds; a leap second, the last of its hour, is the second
/// after it. Empty for
/// anything else.
[[nodiscard]] std::optional<TimePoint> parse_rfc3339(std::string_view text) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace idem
