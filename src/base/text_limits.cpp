#include "base/text_limits.hpp"

#include <string>

#include "base/utf8.hpp"
#include "idem/base/error.hpp"

namespace idem {
inline namespace v0 {
namespace detail {

void check_text(std::string_view what, std::string_view text, std::size_t max_bytes) {
  if (text.empty() || text.size() > max_bytes) {
    throw InvalidArgument{std::string{what} + " must be 1 to " + std::to_string(max_bytes) + " bytes long"};
  }
  if (text.find('\0') != std::string_view::npos || !is_valid_utf8(text)) {
    throw InvalidArgument{std::string{what} + " must be UTF-8 without NUL"};
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace idem
