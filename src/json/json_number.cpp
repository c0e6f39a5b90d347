#include "json/json_number.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace idem {
inline namespace v0 {

namespace {

/// A number as the digits between its first and last one that are not zero, and where its decimal point
/// stands.
struct Decimal {
  bool negative = false;
  std::string digits;      // empty for zero
  std::int64_t point = 0;  // the value is 0.DIGITS times ten to the power of this

  [[nodiscard]] bool integral() const { return point >= static_cast<std::int64_t>(digits.size()); }
};

/// A text of at most 1 GiB moves the point by less than this, so a sum of both cannot overflow and a larger
/// exponent is as good as this one.
constexpr std::int64_t huge_exponent = std::int64_t{1} << 40;

std::int64_t exponent_of(std::string_view text) {
  if (text.empty()) return 0;
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  std::int64_t exponent = 0;
  for (const char digit : text) {
    exponent = exponent * 10 + (digit - '0');
    if (exponent > huge_exponent) exponent = huge_exponent;
  }
  return negative ? -exponent : exponent;
}

Decimal decimal_of(std::string_view token) {
  Decimal decimal;
  decimal.negative = token.front() == '-';
  if (decimal.negative) token.remove_prefix(1);
  const std::size_t mantissa_size = token.find_first_of("eE");
  const std::string_view mantissa = token.substr(0, mantissa_size);
  const std::string_view integer = mantissa.substr(0, mantissa.find('.'));
  decimal.digits = integer;
  if (integer.size() < mantissa.size()) decimal.digits += mantissa.substr(integer.size() + 1);
  decimal.point = static_cast<std::int64_t>(integer.size());
  if (mantissa_size != std::string_view::npos) decimal.point += exponent_of(token.substr(mantissa_size + 1));

  const std::size_t first = decimal.digits.find_first_not_of('0');
  if (first == std::string::npos) return {};  // minus zero is zero
  decimal.digits.erase(decimal.digits.find_last_not_of('0') + 1);
  decimal.digits.erase(0, first);
  decimal.point -= static_cast<std::int64_t>(first);
  return decimal;
}

void append_integer(std::string& out, const Decimal& decimal) {
  if (decimal.negative) out += '-';
  out += decimal.digits;
  out.append(static_cast<std::size_t>(decimal.point) - decimal.digits.size(), '0');
}

/// The layout of ECMAScript's Number::toString (RFC 8785 §3.2.2.3) for the shortest digits of a double.
void append_ecmascript(std::string& out, const Decimal& decimal) {
  const auto size = static_cast<std::int64_t>(decimal.digits.size());
  const std::int64_t point = decimal.point;
  if (size <= point && point <= 21) return append_integer(out, decimal);
  if (decimal.negative) out += '-';
  if (0 < point && point <= 21) {
    out.append(decimal.digits, 0, static_cast<std::size_t>(point));
    out += '.';
    out.append(decimal.digits, static_cast<std::size_t>(point));
  } else if (-6 < point && point <= 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-point), '0');
    out += decimal.digits;
  } else {
    out += decimal.digits.front();
    if (size > 1) {
      out += '.';
      out.append(decimal.digits, 1);
    }
    out += point > 0 ? "e+" : "e";
    out += std::to_string(point - 1);
  }
}

void append_double_token(std::string& out, std::string_view token, const Decimal& decimal,
                         JsonNumbers numbers, std::size_t offset) {
  double value = 0;
  const std::from_chars_result read = std::from_chars(token.data(), token.data() + token.size(), value);
  if (read.ec == std::errc::result_out_of_range) {
    // Both ends of the range are told alike: too small is zero, as RFC 8785's nearest double, too large is
    // refused.
    if (decimal.point > 0) throw InvalidJson{offset, "a number is beyond the range of an IEEE 754 double"};
    value = 0;
  }
  append_double(out, value, numbers);
}

}  // namespace

void append_double(std::string& out, double value, JsonNumbers numbers) {
  std::array<char, 32> buffer{};
  const auto written =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const Decimal decimal = decimal_of({buffer.data(), written.ptr});
  if (decimal.digits.empty()) {
    out += '0';
  } else if (numbers == JsonNumbers::exact_integers && decimal.integral()) {
    append_integer(out, decimal);
  } else {
    append_ecmascript(out, decimal);
  }
}

void append_number(std::string& out, std::string_view token, JsonNumbers numbers, std::size_t offset) {
  constexpr std::int64_t max_digits = 400;
  const bool plain_integer = token.find_first_of(".eE") == std::string_view::npos;
  if (plain_integer && numbers == JsonNumbers::exact_integers) {
    out += token == "-0" ? "0" : token;
    return;
  }
  const Decimal decimal = decimal_of(token);
  if (decimal.digits.empty()) {
    out += '0';
  } else if (decimal.integral() && numbers == JsonNumbers::exact_integers) {
    if (decimal.point > max_digits) {
      throw InvalidJson{offset, "an integer written with a fraction or exponent has more than 400 digits"};
    }
    append_integer(out, decimal);
  } else {
    append_double_token(out, token, decimal, numbers, offset);
  }
}

}  // namespace v0
}  // namespace idem
