// Bytes as lower-case hex digits, and back.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace idem {
inline namespace v0 {

[[nodiscard]] inline std::string to_hex(std::span<const std::byte> bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<unsigned>(byte >> 4)];
    text += digits[std::to_integer<unsigned>(byte & std::byte{0x0f})];
  }
  return text;
}

/// The bytes that `digits` spell, in either case; empty optional where they spell none.
[[nodiscard]] inline std::optional<std::vector<std::byte>> from_hex(std::string_view digits) {
  const auto value_of = [](char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
  };
  if (digits.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = value_of(digits[i]);
    const int low = value_of(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return bytes;
}

}  // namespace v0
}  // namespace idem
