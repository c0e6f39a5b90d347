#include "text.hpp"

#include <nlohmann/json.hpp>

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "base/hex.hpp"
#include "base/utf8.hpp"

namespace idemctl {

namespace {

std::string padded(std::int64_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  // U+0080 to U+009F are control characters too.
  if (first == 0xc2) return static_cast<unsigned char>(character[1]) < 0xa0;
  if (first != 0xe2 || character.size() != 3) return false;
  // Line separators and what turns the direction of the text: U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069.
  const unsigned second = static_cast<unsigned char>(character[1]);
  const unsigned third = static_cast<unsigned char>(character[2]);
  const unsigned code = 0x2000 + (second - 0x80) * 0x40 + (third - 0x80);
  return code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const idem::Utf8Sequence sequence = idem::utf8_sequence(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(sequence.length, 1));
    text.remove_prefix(character.size());
    if (character == "\\") {
      line += "\\\\";
    } else if (sequence.valid && !is_control(character)) {
      line += character;
    } else {
      for (const char byte : character) {
        line += "\\x";
        line += digits[static_cast<unsigned char>(byte) >> 4];
        line += digits[byte & 0x0f];
      }
    }
  }
  return line;
}

std::string printable(idem::TimePoint time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return padded(int{date.year()}, 4) + '-' + padded(unsigned{date.month()}, 2) + '-' +
         padded(unsigned{date.day()}, 2) + 'T' + padded(clock.hours().count(), 2) + ':' +
         padded(clock.minutes().count(), 2) + ':' + padded(clock.seconds().count(), 2) + '.' +
         padded(clock.subseconds().count(), 6) + 'Z';
}

std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + '\n';
}

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string_view name_of(idem::State state) {
  switch (state) {
    case idem::State::in_progress:
      return "IN_PROGRESS";
    case idem::State::completed:
      return "COMPLETED";
    case idem::State::failed:
      return "FAILED";
    case idem::State::unknown:
      return "UNKNOWN";
  }
  return "?";
}

std::string size_and_hash(std::span<const std::byte> body) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> hash{};
  SHA256(reinterpret_cast<const unsigned char*>(body.data()), body.size(), hash.data());
  return std::to_string(body.size()) + " bytes, sha256 " + idem::to_hex(std::as_bytes(std::span{hash}));
}

}  // namespace idemctl
