#include "base/rfc3339.hpp"

#include <algorithm>
#include <chrono>

namespace idem {
inline namespace v0 {
namespace detail {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Takes what it reads from the front of the text; `good` stays false after the first thing that is missing.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_{text} {}

  int number(std::size_t digits) {
    int value = 0;
    if (rest_.size() < digits) good_ = false;
    for (std::size_t i = 0; good_ && i < digits; ++i) {
      good_ = is_digit(rest_[i]);
      value = value * 10 + (rest_[i] - '0');
    }
    if (good_) rest_.remove_prefix(digits);
    return value;
  }
  char one_of(std::string_view characters) {
    good_ = good_ && !rest_.empty() && characters.find(rest_.front()) != std::string_view::npos;
    if (!good_) return '\0';
    const char taken = rest_.front();
    rest_.remove_prefix(1);
    return taken;
  }
  std::chrono::microseconds fraction() {
    if (!good_ || !rest_.starts_with('.')) return {};
    rest_.remove_prefix(1);
    const auto* const end = std::find_if_not(rest_.begin(), rest_.end(), is_digit);
    const auto digits = static_cast<std::size_t>(end - rest_.begin());
    good_ = digits > 0;
    std::int64_t value = 0;
    for (std::size_t i = 0; i < 6; ++i) value = value * 10 + (i < digits ? rest_[i] - '0' : 0);
    rest_.remove_prefix(digits);
    return std::chrono::microseconds{value};
  }
  [[nodiscard]] bool at_end() const { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

std::optional<TimePoint> parse_rfc3339(std::string_view text) noexcept {
  using namespace std::chrono;
  Reader reader{text};
  const int y = reader.number(4);
  reader.one_of("-");
  const int m = reader.number(2);
  reader.one_of("-");
  const int d = reader.number(2);
  reader.one_of("Tt");
  const int h = reader.number(2);
  reader.one_of(":");
  const int min = reader.number(2);
  reader.one_of(":");
  const int s = reader.number(2);
  const microseconds fraction = reader.fraction();
  const char sign = reader.one_of("Zz+-");
  minutes offset{0};
  if (sign == '+' || sign == '-') {
    const int offset_hours = reader.number(2);
    reader.one_of(":");
    const int offset_minutes = reader.number(2);
    if (offset_hours > 23 || offset_minutes > 59) return std::nullopt;
    offset = hours{offset_hours} + minutes{offset_minutes};
    if (sign == '-') offset = -offset;
  }
  if (!reader.at_end()) return std::nullopt;
  const year_month_day date{year{y}, month{static_cast<unsigned>(m)}, day{static_cast<unsigned>(d)}};
  if (!date.ok() || h > 23 || min > 59 || s > 60 || (s == 60 && min != 59)) return std::nullopt;
  return sys_days{date} + hours{h} + minutes{min} + seconds{s} + fraction - offset;
}

}  // namespace detail
}  // namespace v0
}  // namespace idem
