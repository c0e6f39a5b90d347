// What the words of an option mean.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "idem/base/clock.hpp"
#include "idem/base/uuid.hpp"
#include "idem/record/record.hpp"
#include "idem/response/response.hpp"

namespace idemctl {

// Each throws Failure, which names the option and says what it takes, and never repeats the word.

/// A whole number within bounds.
[[nodiscard]] std::int64_t number_of(const std::string& option, const std::string& word, std::int64_t least,
                                     std::int64_t most);
/// A positive whole number and its unit: 90s, 15m, 36h, 7d. At most ten years.
[[nodiscard]] std::chrono::seconds duration_of(const std::string& option, const std::string& word);
/// A time as RFC 3339 has it, with Z or an offset. Digits beyond microseconds are cut off.
[[nodiscard]] idem::TimePoint time_of(const std::string& option, const std::string& word);
/// A state's name, in lower or upper case.
[[nodiscard]] idem::State state_of(const std::string& option, const std::string& word);
[[nodiscard]] idem::Uuid uuid_of(const std::string& option, const std::string& word);
/// "Name: value". One space after the colon is not the value's.
[[nodiscard]] idem::Header header_of(const std::string& option, const std::string& word);

}  // namespace idemctl
