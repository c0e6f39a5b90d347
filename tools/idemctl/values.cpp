#include "values.hpp"

#include <charconv>
#include <optional>
#include <string_view>

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

// Reads a text from its front.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_{text} {}

  [[nodiscard]] bool at_end() const { return text_.empty(); }

  bool take(char expected) {
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(1);
    return true;
  }

  // The number that exactly `width` digits spell.
  std::optional<int> digits(std::size_t width) {
    if (text_.size() < width || text_.find_first_not_of("0123456789") < width) return std::nullopt;
    const auto number = whole<int>(text_.substr(0, width));
    text_.remove_prefix(width);
    return number;
  }

  // One digit or more after a point.
  std::optional<std::chrono::microseconds> fraction() {
    std::int64_t parts = 0;
    std::int64_t unit = 100'000;
    std::size_t count = 0;
    for (; count < text_.size() && text_[count] >= '0' && text_[count] <= '9'; ++count, unit /= 10) {
      parts += (text_[count] - '0') * unit;
    }
    if (count == 0) return std::nullopt;
    text_.remove_prefix(count);
    return std::chrono::microseconds{parts};
  }

 private:
  std::string_view text_;
};

// "hh:mm", as an offset has it too.
std::optional<std::chrono::minutes> hours_and_minutes(Reader& reader) {
  const auto hours = reader.digits(2);
  const bool colon = reader.take(':');
  const auto minutes = reader.digits(2);
  if (!hours || !colon || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return std::chrono::hours{*hours} + std::chrono::minutes{*minutes};
}

std::optional<std::chrono::minutes> offset(Reader& reader) {
  if (reader.take('Z')) return std::chrono::minutes{0};
  const bool east = reader.take('+');
  if (!east && !reader.take('-')) return std::nullopt;
  const auto amount = hours_and_minutes(reader);
  if (!amount) return std::nullopt;
  return east ? *amount : -*amount;
}

std::optional<std::chrono::sys_days> date(Reader& reader) {
  const auto year = reader.digits(4);
  if (!year || !reader.take('-')) return std::nullopt;
  const auto month = reader.digits(2);
  if (!month || !reader.take('-')) return std::nullopt;
  const auto day = reader.digits(2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days{date};
}

// RFC 3339 §5.6, in capital letters and without leap seconds.
std::optional<idem::TimePoint> time(Reader reader) {
  const auto day = date(reader);
  if (!day || !reader.take('T')) return std::nullopt;
  const auto clock = hours_and_minutes(reader);
  if (!clock || !reader.take(':')) return std::nullopt;
  const auto seconds = reader.digits(2);
  if (!seconds || *seconds > 59) return std::nullopt;
  std::optional<std::chrono::microseconds> fraction{0};
  if (reader.take('.')) fraction = reader.fraction();
  if (!fraction) return std::nullopt;
  const auto east = offset(reader);
  if (!east || !reader.at_end()) return std::nullopt;
  return idem::TimePoint{*day} + *clock + std::chrono::seconds{*seconds} + *fraction - *east;
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
  const auto found = time(Reader{word});
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
