#include "idem/http/idempotency_key.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "http/header_name.hpp"
#include "http/structured_string.hpp"
#include "idem/base/error.hpp"

namespace idem {
inline namespace v0 {
namespace http {
namespace {

constexpr bool is_printable(char c) {
  return c >= 0x20 && c <= 0x7e;
}

std::optional<std::string> bare_key(std::string_view text) {
  const bool legal = std::all_of(text.begin(), text.end(),
                                 [](char c) { return is_printable(c) && c != ' ' && c != '"' && c != ','; });
  if (!legal) return std::nullopt;
  return std::string{text};
}

}  // namespace

std::string_view to_string(KeyRefusal refusal) noexcept {
  switch (refusal) {
    case KeyRefusal::missing:
      return "missing";
    case KeyRefusal::repeated:
      return "repeated";
    case KeyRefusal::empty:
      return "empty";
    case KeyRefusal::too_long:
      return "too_long";
    case KeyRefusal::malformed:
      break;
  }
  return "malformed";
}

std::variant<std::string, KeyRefusal> parse_idempotency_key(std::span<const std::string_view> lines,
                                                            const KeyHeaderOptions& options) {
  if (options.max_bytes < 1 || options.max_bytes > max_key_part_bytes) {
    throw InvalidArgument{"a key's max_bytes must be 1 to " + std::to_string(max_key_part_bytes)};
  }
  if (lines.empty()) return KeyRefusal::missing;
  if (lines.size() > 1) return KeyRefusal::repeated;

  const bool lenient = options.syntax == KeySyntax::lenient;
  const std::string_view value = lenient ? detail::without_space(lines.front()) : lines.front();
  if (detail::without_space(value).empty()) return KeyRefusal::empty;
  std::optional<std::string> key = detail::parse_structured_string(value);
  if (!key && lenient) key = bare_key(value);
  if (!key) return KeyRefusal::malformed;
  if (key->empty()) return KeyRefusal::empty;
  if (key->size() > options.max_bytes) return KeyRefusal::too_long;
  return *std::move(key);
}

std::string serialize_idempotency_key(std::string_view key) {
  if (key.empty() || key.size() > max_key_part_bytes || !std::all_of(key.begin(), key.end(), is_printable)) {
    throw InvalidKey{"a key for the header must be 1 to " + std::to_string(max_key_part_bytes) +
                     " bytes of printable ASCII"};
  }
  std::string value = "\"";
  for (const char c : key) {
    if (c == '"' || c == '\\') value += '\\';
    value += c;
  }
  return value += '"';
}

}  // namespace http
}  // namespace v0
}  // namespace idem
