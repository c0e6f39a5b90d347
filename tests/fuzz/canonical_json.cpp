// Canonical JSON: what every request's body goes through before anything else is known of it.
#include "idem/json/canonical_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "fuzz.hpp"
#include "idem/request/fingerprint.hpp"
#include "idem/request/nlohmann_json.hpp"

namespace idem::fuzz {
namespace {

using nlohmann::json;

// The canonical form, or nothing where the text is refused as it should be.
std::optional<std::string> canonical(std::string_view text, const CanonicalJsonOptions& options) {
  try {
    return canonical_json(text, options);
  } catch (const InvalidJson& refused) {
    expect(refused.offset() <= text.size(), "a refusal names an offset inside the text");
    expect(!quotes(refused.what(), text), "a refusal holds nothing of the text");
    return std::nullopt;
  }
}

// The same text with blanks wherever they may stand.
std::string with_blanks(std::string_view text) {
  std::string spaced = "\n";
  bool in_string = false;
  bool escaped = false;
  for (const char c : text) {
    const bool structural = !in_string && std::string_view{"{}[]:,"}.find(c) != std::string_view::npos;
    if (structural) spaced += " \t";
    spaced += c;
    if (structural) spaced += "\r\n";
    if (c == '"' && !escaped) in_string = !in_string;
    escaped = in_string && c == '\\' && !escaped;
  }
  return spaced + ' ';
}

// Each character of each string as an escape, and each member the other way round.
// NOLINTNEXTLINE(misc-no-recursion): as deep as max_depth
void append_spelled_otherwise(std::string& out, const json& value) {
  const auto append_string = [&out](const std::string& text) {
    const std::string ascii = json(text).dump(-1, ' ', /*ensure_ascii=*/true);
    for (std::size_t at = 0; at < ascii.size(); ++at) {
      const bool plain = ascii[at] != '"' && ascii[at] != '\\';
      if (plain && at % 3 == 0) {
        constexpr std::string_view hex = "0123456789ABCDEF";
        const auto c = static_cast<unsigned char>(ascii[at]);
        out += std::string{"\\u00"} + hex[c >> 4U] + hex[c & 0xfU];
      } else if (ascii[at] == '\\' && ascii[at + 1] == 'u') {
        out.append(ascii, at, 6);
        at += 5;
      } else if (ascii[at] == '\\') {
        out.append(ascii, at, 2);
        ++at;
      } else {
        out += ascii[at];
      }
    }
  };
  if (value.is_object()) {
    out += '{';
    for (auto member = value.end(); member != value.begin();) {
      --member;
      append_string(member.key());
      out += ':';
      append_spelled_otherwise(out, member.value());
      out += member == value.begin() ? "" : ",";
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    for (std::size_t at = 0; at < value.size(); ++at) {
      if (at > 0) out += ',';
      append_spelled_otherwise(out, value[at]);
    }
    out += ']';
  } else if (value.is_string()) {
    append_string(value.get_ref<const std::string&>());
  } else {
    out += value.dump();
  }
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as max_depth
bool has_fraction(const json& value) {
  if (value.is_number_float()) return true;
  return value.is_structured() && std::any_of(value.begin(), value.end(), has_fraction);
}

// RFC 8785 §3.2.3, from valid UTF-8.
std::u16string utf16(std::string_view text) {
  std::u16string units;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    char32_t c = length == 1 ? lead : lead & (0xffU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
      c = (c << 6U) | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
    }
    if (c >= 0x10000) {
      units += static_cast<char16_t>(0xd800 + ((c - 0x10000) >> 10U));
      c = 0xdc00 + ((c - 0x10000) & 0x3ffU);
    }
    units += static_cast<char16_t>(c);
    at += length;
  }
  return units;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as max_depth
bool is_in_order(const nlohmann::ordered_json& value) {
  std::optional<std::u16string> before;
  for (auto inside = value.begin(); value.is_structured() && inside != value.end(); ++inside) {
    if (!is_in_order(*inside)) return false;
    if (!value.is_object()) continue;
    std::u16string name = utf16(inside.key());
    if (before && *before >= name) return false;
    before = std::move(name);
  }
  return true;
}

// What another parser takes is refused for these reasons only.
void check_refused(std::string_view text, const CanonicalJsonOptions& options) {
  if (!json::accept(text)) return;
  try {
    static_cast<void>(canonical_json(text, options));
  } catch (const InvalidJson& refused) {
    const std::string_view why = refused.reason();
    expect(why == "a member name occurs twice in one object" || why == "a byte order mark is not allowed" ||
               (why == "there must be nothing after the value" && text.at(refused.offset()) == '\0') ||
               why == "an integer written with a fraction or exponent has more than 400 digits" ||
               why.starts_with("nested deeper than the limit"),
           "valid JSON with one meaning is taken");
  }
}

void check_taken(std::string_view text, const std::string& form, const CanonicalJsonOptions& options) {
  expect(canonical(form, options) == form, "the canonical form of a canonical form is itself");
  expect(canonical(with_blanks(text), options) == form, "blanks do not count");
  expect(canonical(with_blanks(form), options) == form, "blanks do not count");

  const json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    // Plain integers have any length here, and none beyond the doubles there.
    expect(form.size() > 300 && options.numbers == JsonNumbers::exact_integers,
           "what is taken is valid JSON");
    return;
  }
  expect(is_in_order(nlohmann::ordered_json::parse(form)),
         "members are in the order of their UTF-16 code units");
  std::optional<std::string> of_value;
  try {
    of_value = canonical_json(value, options);
  } catch (const InvalidJson& refused) {
    expect(options.numbers == JsonNumbers::exact_integers && has_fraction(value),
           "a value is refused only where its digits may be lost");
  }
  if (of_value) expect(*of_value == form, "a value's form is its text's");
  if (!has_fraction(value)) {
    std::string otherwise;
    append_spelled_otherwise(otherwise, value);
    expect(canonical(otherwise, options) == form, "order of members and spelling of strings do not count");
  }
  if (options.numbers == JsonNumbers::rfc8785) {
    if (value.is_number_float()) {
      expect(json::parse(form).get<double>() == value.get<double>(),
             "a double is written so that it is read back");
    }
  }
}

// A part of the document is the same part of its canonical form.
void check_part(std::string_view pointer, std::string_view text, const std::string& form,
                const CanonicalJsonOptions& options) {
  std::optional<JsonProjection> without;
  std::optional<JsonProjection> only;
  const std::vector<std::string> pointers{std::string{pointer}};
  try {
    only.emplace(pointers, std::span<const std::string>{});
    without.emplace(std::span<const std::string>{}, pointers);
  } catch (const InvalidArgument&) {
    return;
  }
  expect(canonical_json(text, options, *only) == canonical_json(form, options, *only),
         "a part of a text is that of its canonical form");
  expect(canonical_json(text, options, *without) == canonical_json(form, options, *without),
         "a text without a part is its canonical form without it");
}

}  // namespace

void one_input(Input input) {
  static const Fingerprinter fingerprint;
  const std::uint8_t choice = input.byte();
  CanonicalJsonOptions options{.max_depth = 40};
  if ((choice & 1U) != 0) options.numbers = JsonNumbers::rfc8785;
  const std::string_view pointer = (choice & 2U) != 0 ? input.line() : std::string_view{};
  const std::string_view text = input.rest();

  const std::optional<std::string> form = canonical(text, options);
  if (!form) {
    check_refused(text, options);
    return;
  }
  check_taken(text, *form, options);
  if (!pointer.empty()) check_part(pointer, text, *form, options);
  if (options.numbers == JsonNumbers::exact_integers) {
    expect(fingerprint({.operation = "o", .body = text}) == fingerprint({.operation = "o", .body = *form}),
           "the fingerprint is that of the canonical form");
  }
  // No limit is passed, whichever it is.
  options.max_bytes = form->size() - 1;
  expect(form->size() == 1 || !canonical(*form, options), "a text over the limit is refused");
}

}  // namespace idem::fuzz
