// Strict UTF-8 (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace idem {
inline namespace v0 {

/// The bytes at the front of a text.
struct Utf8Sequence {
  std::size_t
      length;  ///< Of the whole character, or of the good bytes before the first one that cannot follow them.
  bool valid;
};

[[nodiscard]] constexpr Utf8Sequence utf8_sequence(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return {0, false};
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xc2 || lead > 0xf4) return {0, false};
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // Only the second byte has bounds that depend on the first.
  const unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (text.size() < 2 || byte(1) < low || byte(1) > high) return {1, false};
  for (std::size_t i = 2; i < length; ++i) {
    if (i == text.size() || (byte(i) & 0xc0) != 0x80) return {i, false};
  }
  return {length, true};
}

[[nodiscard]] constexpr bool is_valid_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const Utf8Sequence sequence = utf8_sequence(text);
    if (!sequence.valid) return false;
    text.remove_prefix(sequence.length);
  }
  return true;
}

/// Appends a code point that is no surrogate.
inline void append_utf8(std::string& text, char32_t c) {
  const auto append = [&text](char32_t byte) { text += static_cast<char>(byte); };
  if (c < 0x80) {
    append(c);
  } else if (c < 0x800) {
    append(0xc0 | (c >> 6));
    append(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    append(0xe0 | (c >> 12));
    append(0x80 | ((c >> 6) & 0x3f));
    append(0x80 | (c & 0x3f));
  } else {
    append(0xf0 | (c >> 18));
    append(0x80 | ((c >> 12) & 0x3f));
    append(0x80 | ((c >> 6) & 0x3f));
    append(0x80 | (c & 0x3f));
  }
}

}  // namespace v0
}  // namespace idem
