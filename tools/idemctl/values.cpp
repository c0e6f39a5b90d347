#include "values.hpp"

#include <charconv>
#include <optional>
#include <string_view>

#include "base/rfc3339.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace idemctl {
namespace {

// The number that all of `digits` spell; empty where they spell none.
template <class Number>
std::optional<Number> whole(std::string_view digits) {
  Number number{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

std::int64_t number_of(const std::string& option, const std::string& word, std::int64_t least,
                       std::int64_t most) {
  const auto number = whole<std::int64_t>(word);
  if (!number || *number < least || *number > most) {
    throw Failure{"--" + option + " must be a whole number from " + std::to_string(least) + " to " +
                  std::to_string(most)};
  }
  return *number;
}

std::chrono::seconds duration_of(const std::string& option, const std::string& word) {
  constexpr std::string_view units = "smhd";
  constexpr std::chrono::seconds length_of[] = {std::chrono::seconds{1}, std::chrono::minutes{1},
                                                std::chrono::hours{1}, std::chrono::days{1}};
  const std::size_t unit = word.empty() ? std::string_view::npos : units.find(word.back());
  std::optional<std::int64_t> count;
  if (unit != std::string_view::npos)
    count = whole<std::int64_t>(std::string_view{word}.substr(0, word.size() - 1));
  if (!count || *count < 1) {
    throw Failure{"--" + option + " must be a positive whole number and s, m, h or d: 90s, 15m, 36h, 7d"};
  }
  constexpr std::chrono::seconds longest = std::chrono::years{10};
  if (*count > longest / length_of[unit]) throw Failure{"--" + option + " must not be longer than ten years"};
  return *count * length_of[unit];
}

idem::TimePoint time_of(const std::string& option, const std::string& word) {
  const auto found = idem::detail::parse_rfc3339(word);
  if (!found) {
    throw Failure{"--" + option +
                  " must be a time as RFC 3339 has it: 2026-01-31T12:00:00.5Z, 2026-01-31T14:00:00+02:00"};
  }
  return *found;
}

idem::State state_of(const std::string& option, const std::string& word) {
  std::string capitals = word;
  for (char& c : capitals) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  using idem::State;
  for (const State state : {State::in_progress, State::completed, State::failed, State::unknown}) {
    if (capitals == name_of(state)) return state;
  }
  throw Failure{"--" + option + " must be one of in_progress, completed, failed, unknown"};
}

idem::Uuid uuid_of(const std::string& option, const std::string& word) {
  const auto uuid = idem::Uuid::parse(word);
  if (!uuid) throw Failure{"--" + option + " must be a UUID of 36 characters"};
  return *uuid;
}

idem::Header header_of(const std::string& option, const std::string& word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string::npos) throw Failure{"--" + option + " must be \"Name: value\""};
  std::string value = word.substr(colon + 1);
  if (value.starts_with(' ')) value.erase(0, 1);
  return {word.substr(0, colon), value};
}

}  // namespace idemctl
