#include "idem/json/canonical_json.hpp"

#include "base/utf8.hpp"
#include "json/canonical_writer.hpp"

namespace idem {
inline namespace v0 {

namespace {

/// A strict parser of one JSON text (RFC 8259) that drives a writer. It keeps no stack of its own: the writer
/// knows the open containers.
class Parser {
 public:
  Parser(std::string_view text, CanonicalWriter& writer) : text_{text}, writer_{writer} {}

  void document() {
    if (text_.starts_with("\xef\xbb\xbf")) fail(0, "a byte order mark is not allowed");
    do {
      skip_blanks();
      if (!begin_value()) continue;  // a container was opened and its first value comes next
      end_values();
    } while (!writer_.at_root());
    skip_blanks();
    if (pos_ != text_.size()) fail(pos_, "there must be nothing after the value");
  }

 private:
  [[noreturn]] static void fail(std::size_t offset, const char* reason) { throw InvalidJson{offset, reason}; }

  [[nodiscard]] bool at_end() const noexcept { return pos_ == text_.size(); }

  [[nodiscard]] char peek() const {
    if (at_end()) fail(pos_, "the text ends too early");
    return text_[pos_];
  }

  [[nodiscard]] bool next_is(char c) const noexcept { return !at_end() && text_[pos_] == c; }

  [[nodiscard]] bool next_is_digit() const noexcept {
    return !at_end() && text_[pos_] >= '0' && text_[pos_] <= '9';
  }

  void skip_blanks() noexcept {
    while (next_is(' ') || next_is('\n') || next_is('\r') || next_is('\t')) ++pos_;
  }

  /// Reads a scalar, an empty container, or the beginning of another. False for the last: its first value is
  /// next.
  bool begin_value() {
    switch (peek()) {
      case '{':
        writer_.begin_object(pos_++);
        skip_blanks();
        if (next_is('}')) return end_container();
        name();
        return false;
      case '[':
        writer_.begin_array(pos_++);
        skip_blanks();
        if (next_is(']')) return end_container();
        return false;
      case '"': {
        const std::size_t offset = pos_;
        writer_.begin_string();
        characters();
        writer_.end_string(offset);
        return true;
      }
      case 't':
        return literal("true");
      case 'f':
        return literal("false");
      case 'n':
        return literal("null");
      default:
        return number();
    }
  }

  /// After a value: closes every container that ends here, or goes on to the next value of one.
  void end_values() {
    while (!writer_.at_root()) {
      skip_blanks();
      const bool object = writer_.in_object();
      const char c = peek();
      if (c == (object ? '}' : ']')) {
        end_container();
      } else if (c == ',') {
        ++pos_;
        skip_blanks();
        if (object) name();
        return;
      } else {
        fail(pos_, object ? "expected ',' or '}'" : "expected ',' or ']'");
      }
    }
  }

  bool end_container() {
    writer_.end_container(pos_++);
    return true;
  }

  void name() {
    if (peek() != '"') fail(pos_, "expected a member name");
    writer_.begin_name(pos_);
    characters();
    writer_.end_name();
    skip_blanks();
    if (peek() != ':') fail(pos_, "expected ':'");
    ++pos_;
  }

  /// A string or name from its opening quote to behind its closing one.
  void characters() {
    ++pos_;
    for (;;) {
      const std::string_view plain = text_.substr(pos_, plain_prefix(text_.substr(pos_)));
      writer_.text(plain);
      pos_ += plain.size();
      const char c = peek();
      if (c == '"') break;
      if (c == '\\') {
        writer_.character(escape());
      } else if (static_cast<unsigned char>(c) < 0x20) {
        fail(pos_, "a control character in a string must be escaped");
      } else {
        fail(pos_ + utf8_sequence(text_.substr(pos_)).length, "invalid UTF-8");
      }
    }
    ++pos_;
  }

  char32_t escape() {
    const std::size_t offset = pos_++;
    switch (peek()) {
      case 'b':
        ++pos_;
        return '\b';
      case 't':
        ++pos_;
        return '\t';
      case 'n':
        ++pos_;
        return '\n';
      case 'f':
        ++pos_;
        return '\f';
      case 'r':
        ++pos_;
        return '\r';
      case '"':
      case '\\':
      case '/':
        return static_cast<unsigned char>(text_[pos_++]);
      case 'u':
        return unicode_escape(offset);
      default:
        fail(pos_, "unknown escape");
    }
  }

  char32_t unicode_escape(std::size_t offset) {
    const auto is_low_surrogate = [](char32_t c) { return c >= 0xdc00 && c <= 0xdfff; };
    const char32_t first = hex_digits();
    if (is_low_surrogate(first)) fail(offset, "half a surrogate pair");
    if (first < 0xd800 || first > 0xdbff) return first;
    if (peek() != '\\') fail(offset, "half a surrogate pair");
    ++pos_;
    if (peek() != 'u') fail(offset, "half a surrogate pair");
    const char32_t second = hex_digits();
    if (!is_low_surrogate(second)) fail(offset, "half a surrogate pair");
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
  }

  char32_t hex_digits() {
    ++pos_;
    char32_t value = 0;
    for (int i = 0; i < 4; ++i, ++pos_) {
      const char c = peek();
      value <<= 4;
      if (c >= '0' && c <= '9') {
        value |= static_cast<char32_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        value |= static_cast<char32_t>(c - 'a' + 10);
      } else if (c >= 'A' && c <= 'F') {
        value |= static_cast<char32_t>(c - 'A' + 10);
      } else {
        fail(pos_, "expected four hex digits");
      }
    }
    return value;
  }

  bool literal(std::string_view spelling) {
    const std::size_t offset = pos_;
    for (const char c : spelling) {
      if (peek() != c) fail(pos_, "expected a value");
      ++pos_;
    }
    writer_.literal(spelling, offset);
    return true;
  }

  bool number() {
    const std::size_t offset = pos_;
    if (next_is('-')) ++pos_;
    if (next_is('0')) {
      ++pos_;
      if (next_is_digit()) fail(pos_, "a number must not have leading zeros");
    } else {
      digits(pos_ == offset ? "expected a value" : "expected a digit");
    }
    if (next_is('.')) {
      ++pos_;
      digits("expected a digit");
    }
    if (next_is('e') || next_is('E')) {
      ++pos_;
      if (next_is('+') || next_is('-')) ++pos_;
      digits("expected a digit");
    }
    writer_.number(text_.substr(offset, pos_ - offset), offset);
    return true;
  }

  void digits(const char* otherwise) {
    static_cast<void>(peek());  // an end of the text is told as such
    if (!next_is_digit()) fail(pos_, otherwise);
    while (next_is_digit()) ++pos_;
  }

  std::string_view text_;
  std::size_t pos_ = 0;
  CanonicalWriter& writer_;
};

}  // namespace

std::string canonical_json(std::string_view text, const CanonicalJsonOptions& options) {
  return canonical_json(text, options, JsonProjection{});
}

std::string canonical_json(std::string_view text, const CanonicalJsonOptions& options,
                           const JsonProjection& projection) {
  CanonicalWriter writer{options, projection};
  if (text.size() > options.max_bytes) {
    throw InvalidJson{options.max_bytes,
                      "the text is longer than the limit of " + std::to_string(options.max_bytes) + " bytes"};
  }
  Parser{text, writer}.document();
  return writer.finish();
}

}  // namespace v0
}  // namespace idem
