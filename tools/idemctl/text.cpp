#include "text.hpp"

#include <array>
#include <cstdio>

namespace idemctl {

std::string printable(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string line;
  line.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters too, two bytes long in UTF-8.
    const bool c1 = byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (byte == '\\') {
      line += "\\\\";
    } else if (byte < 0x20 || byte == 0x7f || c1) {
      line += "\\x";
      line += digits[byte >> 4];
      line += digits[byte & 0x0f];
    } else {
      line += static_cast<char>(byte);
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
