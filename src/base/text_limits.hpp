// One check for every text that becomes a text column.
#pragma once

#include <cstddef>
#include <string_view>

namespace idem {
inline namespace v0 {
namespace detail {

/// Throws InvalidArgument, naming `what` and the limit, unless `text` is 1 to `max_bytes` bytes of UTF-8 without NUL.
void check_text(std::string_view what, std::string_view text, std::size_t max_bytes);

}  // namespace detail
}  // namespace v0
}  // namespace idem
