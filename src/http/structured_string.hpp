// An Item of RFC 9651 that is a String.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace idem {
inline namespace v0 {
namespace http::detail {

// The String of an Item (RFC 9651, 4.2.3); its parameters are parsed and dropped. Empty for every other type of Item and for
// what is no Item.
[[nodiscard]] std::optional<std::string> parse_structured_string(std::string_view field);

}  // namespace http::detail
}  // namespace v0
}  // namespace idem
