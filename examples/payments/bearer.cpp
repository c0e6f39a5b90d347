#include "bearer.hpp"

#include <algorithm>

namespace payments {
namespace {

constexpr bool is_token(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

}  // namespace

std::string principal_of(std::string_view authorization) {
  constexpr std::string_view head = "Bearer demo-";
  if (!authorization.starts_with(head)) return {};
  const std::string_view name = authorization.substr(head.size());
  if (name.size() > 255 || !std::ranges::all_of(name, is_token)) return {};
  return std::string{name};
}

}  // namespace payments
