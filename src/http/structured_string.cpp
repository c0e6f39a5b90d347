#include "http/structured_string.hpp"

#include <cstddef>

namespace idem {
inline namespace v0 {
namespace http::detail {
namespace {

// By hand: the functions of <cctype> ask the locale.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_alpha(char c) {
  return is_lower(c) || (c >= 'A' && c <= 'Z');
}
constexpr bool is_printable(char c) {
  return c >= 0x20 && c <= 0x7e;
}
constexpr bool is_token(char c) {
  return is_alpha(c) || is_digit(c) ||
         std::string_view{"!#$%&'*+-.^_`|~:/"}.find(c) != std::string_view::npos;
}
constexpr bool is_base64(char c) {
  return is_alpha(c) || is_digit(c) || c == '+' || c == '/' || c == '=';
}
constexpr bool is_lower_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

// Each member takes what it names off the front; false or nothing where that is not there, and then the whole field fails.
class Reader {
 public:
  explicit Reader(std::string_view field) : rest_{field} {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  void spaces() {
    while (next(' ')) {
    }
  }

  std::optional<std::string> string() {
    if (!next('"')) return std::nullopt;
    std::string text;
    while (!rest_.empty()) {
      char c = take();
      if (c == '"') return text;
      if (c == '\\') {
        if (rest_.empty()) return std::nullopt;
        c = take();
        if (c != '"' && c != '\\') return std::nullopt;
      } else if (!is_printable(c)) {
        return std::nullopt;
      }
      text += c;
    }
    return std::nullopt;
  }

  bool parameters() {
    while (next(';')) {
      spaces();
      if (!key()) return false;
      if (next('=') && !bare_item()) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] char front() const { return rest_.empty() ? '\0' : rest_.front(); }
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  bool next(char expected) {
    if (rest_.empty() || rest_.front() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // How many there were.
  template <class Of>
  std::size_t run(Of of) {
    std::size_t length = 0;
    while (length < rest_.size() && of(rest_[length])) ++length;
    rest_.remove_prefix(length);
    return length;
  }

  bool key() {
    if (!is_lower(front()) && front() != '*') return false;
    run([](char c) { return is_lower(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '*'; });
    return true;
  }

  bool bare_item() {
    const char c = front();
    if (c == '"') return string().has_value();
    if (c == '-' || is_digit(c)) return number(true);
    if (c == '*' || is_alpha(c)) return run(is_token) > 0;
    if (c == ':') return bytes();
    if (c == '?') return boolean();
    if (c == '@') return next('@') && number(false);
    if (c == '%') return display_string();
    return false;
  }

  bool number(bool decimal_allowed) {
    (void)next('-');
    const std::size_t integer = run(is_digit);
    if (integer == 0 || integer > 15) return false;
    if (!next('.')) return true;
    const std::size_t fraction = run(is_digit);
    return decimal_allowed && integer <= 12 && fraction >= 1 && fraction <= 3;
  }

  bool bytes() {
    (void)next(':');
    run(is_base64);
    return next(':');
  }

  bool boolean() {
    (void)next('?');
    return next('0') || next('1');
  }

  bool display_string() {
    (void)next('%');
    if (!next('"')) return false;
    while (!rest_.empty()) {
      const char c = take();
      if (c == '"') return true;
      if (!is_printable(c)) return false;
      if (c != '%') continue;
      for (int i = 0; i < 2; ++i) {
        if (!is_lower_hex(front())) return false;
        (void)take();
      }
    }
    return false;
  }

  std::string_view rest_;
};

}  // namespace

std::optional<std::string> parse_structured_string(std::string_view field) {
  Reader reader{field};
  reader.spaces();
  std::optional<std::string> text = reader.string();
  if (!text || !reader.parameters()) return std::nullopt;
  reader.spaces();
  if (!reader.at_end()) return std::nullopt;
  return text;
}

}  // namespace http::detail
}  // namespace v0
}  // namespace idem
