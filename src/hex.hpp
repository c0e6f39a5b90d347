// Bytes as hexadecimal digits and back.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace idem::inline v0::detail {

/// Two lower-case digits a byte.
[[nodiscard]] std::string to_hex(std::span<const std::byte> bytes);

/// The bytes that `digits` spell; empty optional where they spell none.
[[nodiscard]] std::optional<std::vector<std::byte>> from_hex(std::string_view digits);

}  // namespace idem::inline v0::detail
