#include "request/media_type.hpp"

#include <algorithm>

namespace idem {
inline namespace v0 {

std::string media_type(std::string_view content_type) {
  constexpr std::string_view blanks = " \t";
  content_type = content_type.substr(0, content_type.find(';'));
  content_type.remove_prefix(std::min(content_type.find_first_not_of(blanks), content_type.size()));
  content_type = content_type.substr(0, content_type.find_last_not_of(blanks) + 1);
  std::string type{content_type};
  for (char& c : type) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return type;
}

bool is_json(std::string_view type) noexcept {
  return type == "application/json" || type == "text/json" || type.ends_with("+json");
}

}  // namespace v0
}  // namespace idem
