#include "bearer.hpp"

#include <algorithm>
#include <cctype>

#include "idem/http.hpp"

namespace payments {
namespace {

constexpr bool is_token(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

}  // namespace

std::string principal_of(std::string_view authorization) {
  // The scheme's letters may be of either case (RFC 9110, 11.1).
  constexpr std::string_view scheme = "bearer ";
  constexpr std::string_view head = "demo-";
  const auto same = [](unsigned char given, char wanted) { return std::tolower(given) == wanted; };
  if (!std::ranges::equal(authorization.substr(0, scheme.size()), scheme, same)) return {};
  authorization.remove_prefix(scheme.size());
  if (!authorization.starts_with(head)) return {};
  const std::string_view name = authorization.substr(head.size());
  if (name.size() > 255 || !std::ranges::all_of(name, is_token)) return {};
  return std::string{name};
}

idem::Response unauthenticated_response() {
  return idem::http::problem_response(idem::http::Problem::unauthenticated, {.status = 401});
}

}  // namespace payments
