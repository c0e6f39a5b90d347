// Header names, whose letters' case does not count.
#pragma once

#include <algorithm>
#include <string_view>

namespace idem::inline v0::http::detail {

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] inline bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace idem::inline v0::http::detail
