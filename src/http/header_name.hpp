// Headers as RFC 9110 reads them: names, whose letters' case does not count, and the space around values.
#pragma once

#include <algorithm>
#include <string_view>

namespace idem {
inline namespace v0 {
namespace http::detail {

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] inline bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

// Without what surrounds a field's value and is no part of it (RFC 9110, 5.6.3).
[[nodiscard]] constexpr std::string_view without_space(std::string_view value) {
  constexpr std::string_view space = " \t";
  const auto begin = value.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return value.substr(begin, value.find_last_not_of(space) + 1 - begin);
}

}  // namespace http::detail
}  // namespace v0
}  // namespace idem
