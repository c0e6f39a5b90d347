#include "response/headers.hpp"

#include <string>

#include "idem/base/error.hpp"

namespace idem {
inline namespace v0 {
namespace detail {

std::size_t check_headers(std::string_view whose, const std::vector<Header>& headers) {
  std::size_t bytes = 0;
  for (const Header& header : headers) {
    constexpr std::string_view forbidden{"\r\n\0", 3};
    if (header.name.empty() || header.name.find(':') != std::string::npos ||
        header.name.find_first_of(forbidden) != std::string::npos ||
        header.value.find_first_of(forbidden) != std::string::npos) {
      throw InvalidArgument{std::string{whose} +
                            " header's name must not be empty or hold ':', and no CR, LF or NUL may stand "
                            "in name or value"};
    }
    bytes += header.name.size() + header.value.size() + 2;
  }
  return bytes;
}

}  // namespace detail
}  // namespace v0
}  // namespace idem
