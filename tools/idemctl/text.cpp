#include "text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "utf8.hpp"

namespace idemctl {

namespace {

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  // U+0080 to U+009F are control characters too.
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
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
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
                static_cast<int>(clock.subseconds().count()));
  return text.data();
}

}  // namespace idemctl
