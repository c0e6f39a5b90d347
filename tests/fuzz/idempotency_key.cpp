// The Idempotency-Key header, which anybody may send.
#include "idem/http/idempotency_key.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "fuzz.hpp"
#include "idem/base/error.hpp"

namespace idem::fuzz {
namespace {

using http::KeyHeaderOptions;
using http::KeyRefusal;
using http::KeySyntax;
using Read = std::variant<std::string, KeyRefusal>;

constexpr KeyHeaderOptions strict{.syntax = KeySyntax::strict};
constexpr KeyHeaderOptions lenient{};

Read read(std::string_view line, const KeyHeaderOptions& options) {
  return http::parse_idempotency_key({&line, 1}, options);
}

std::string_view without(std::string_view text, std::string_view characters) {
  while (!text.empty() && characters.find(text.front()) != std::string_view::npos) text.remove_prefix(1);
  while (!text.empty() && characters.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  return text;
}

bool is_visible(char c) {
  return c > 0x20 && c < 0x7f;
}

// A String without parameters and what it holds, read by hand: backwards from its closing quotation mark. Empty where it is
// none, or may have parameters.
std::optional<std::string> plain_string(std::string_view field) {
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') return std::nullopt;
  const std::string_view inner = field.substr(1, field.size() - 2);
  std::string text;
  for (std::size_t at = 0; at < inner.size(); ++at) {
    if (inner[at] == '"' || (inner[at] != ' ' && !is_visible(inner[at]))) return std::nullopt;
    if (inner[at] == '\\') {
      ++at;
      if (at == inner.size() || (inner[at] != '"' && inner[at] != '\\')) return std::nullopt;
    }
    text += inner[at];
  }
  return text;
}

void check_key(const std::string& key, std::size_t max_bytes) {
  expect(!key.empty() && key.size() <= max_bytes, "a key has 1 to max_bytes bytes");
  expect(std::all_of(key.begin(), key.end(), [](char c) { return c == ' ' || is_visible(c); }),
         "a key is printable ASCII");
  const std::string header = http::serialize_idempotency_key(key);
  expect(read(header, strict) == Read{key}, "a key's header is read back where it is strict");
  expect(read(header, lenient) == Read{key}, "a key's header is read back where it is lenient");
  expect(read(header + ";a;b=\"c\"", strict) == Read{key}, "parameters do not count");
  expect(std::holds_alternative<KeyRefusal>(read(header + ", " + header, lenient)),
         "two lines that were joined are no key");
}

// What a line is, told from its first and last characters where they tell it.
void check_line(std::string_view line, const KeyHeaderOptions& options, const Read& told) {
  const bool is_lenient = options.syntax == KeySyntax::lenient;
  const std::string_view value = without(line, is_lenient ? " \t" : " ");
  const bool has_quote = line.find('"') != std::string_view::npos;
  if (without(line, " \t").empty() || plain_string(value) == "") {
    expect(told == Read{KeyRefusal::empty}, "nothing but space, and an empty String, is empty");
    return;
  }
  expect(told != Read{KeyRefusal::empty} || value.starts_with(R"("";)"), "nothing else is empty");
  std::optional<std::string> expected = plain_string(value);
  if (!expected && is_lenient && !value.empty() && !has_quote &&
      std::all_of(value.begin(), value.end(), [](char c) { return is_visible(c) && c != ','; })) {
    expected = std::string{value};
  }
  if (expected) {
    expect(told == (expected->size() > options.max_bytes ? Read{KeyRefusal::too_long} : Read{*expected}),
           "a String, and a bare key where it is lenient, is its text");
  }
  if (!expected && line.find(';') == std::string_view::npos) {
    expect(std::holds_alternative<KeyRefusal>(told), "nothing else is a key");
  }
  if (is_lenient) return;
  const Read where_lenient = read(line, {.max_bytes = options.max_bytes});
  if (std::holds_alternative<std::string>(told)) {
    expect(where_lenient == told, "a strict key is the same key where it is lenient");
  }
}

}  // namespace

void one_input(Input input) {
  const std::uint8_t choice = input.byte();
  KeyHeaderOptions options;
  options.syntax = (choice & 1U) != 0 ? KeySyntax::strict : KeySyntax::lenient;
  if ((choice & 2U) != 0) options.max_bytes = std::size_t{2} * input.byte();  // also what is out of bounds

  std::vector<std::string_view> lines;
  if ((choice & 4U) == 0) {
    lines.push_back(input.rest());
  } else {
    while (!input.rest().empty() && lines.size() < 3) lines.push_back(input.line());
  }

  Read told;
  try {
    told = http::parse_idempotency_key(lines, options);
  } catch (const InvalidArgument&) {
    expect(options.max_bytes < 1 || options.max_bytes > 255, "only the options are thrown for");
    return;
  }
  expect((told == Read{KeyRefusal::missing}) == lines.empty(), "no line is a missing key");
  expect((told == Read{KeyRefusal::repeated}) == (lines.size() > 1), "two lines are repeated");
  if (const auto* key = std::get_if<std::string>(&told)) check_key(*key, options.max_bytes);
  if (lines.size() != 1) return;
  check_line(lines.front(), options, told);
  const std::string spaced = "  " + std::string{lines.front()} + ' ';
  expect(http::parse_idempotency_key(std::vector<std::string_view>{spaced}, options) == told,
         "spaces around it do not count");

  try {
    const std::string header = http::serialize_idempotency_key(lines.front());
    expect(read(header, strict) == Read{std::string{lines.front()}}, "what can be sent is read back");
  } catch (const InvalidKey& refused) {
    expect(!quotes(refused.what(), lines.front()), "a refusal holds nothing of the key");
  }
}

}  // namespace idem::fuzz
