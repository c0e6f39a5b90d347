// The type in a Content-Type header.
#pragma once

#include <string>
#include <string_view>

namespace idem {
inline namespace v0 {

/// The type and subtype in lower case, without parameters: `application/json` of `Application/JSON;
/// charset=utf-8`.
[[nodiscard]] std::string media_type(std::string_view content_type);

/// Whether a type that media_type returned is JSON.
[[nodiscard]] bool is_json(std::string_view type) noexcept;

}  // namespace v0
}  // namespace idem
