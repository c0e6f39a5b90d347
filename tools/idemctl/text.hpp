// Stored values as text for a terminal.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "idem/base/clock.hpp"
#include "idem/record/record.hpp"

namespace idemctl {

/// `text` on one line. Control characters, which could drive the terminal, what is not UTF-8, and backslashes
/// are escaped.
[[nodiscard]] std::string printable(std::string_view text);

/// A time in UTC, to the microsecond: 2026-01-31T12:00:00.000000Z.
[[nodiscard]] std::string printable(idem::TimePoint time);

/// One line of JSON in ASCII, so that no control character is left to drive a terminal; what is not UTF-8 is replaced.
[[nodiscard]] std::string json_line(const nlohmann::ordered_json& json);

/// How many characters of UTF-8, which are as many columns of a terminal for most scripts.
[[nodiscard]] std::size_t characters_in(std::string_view text);

/// A state's name in the documents: IN_PROGRESS.
[[nodiscard]] std::string_view name_of(idem::State state);

/// What may be told of a body: "3 bytes, sha256 ba78…".
[[nodiscard]] std::string size_and_hash(std::span<const std::byte> body);

}  // namespace idemctl
