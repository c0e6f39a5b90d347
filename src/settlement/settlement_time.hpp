// Whether what a settlement tells of is a record's own.
#pragma once

#include <chrono>
#include <optional>

#include "idem/base/clock.hpp"

namespace idem {
inline namespace v0 {
namespace detail {

// When what happened `at` was done for a record made at `created_at`; empty where it is an older record's. Many settlements
// have whole seconds, rounded down: the record's own second is taken for the moment that it was made.
[[nodiscard]] inline std::optional<TimePoint> own_time(TimePoint at, TimePoint created_at) {
  using std::chrono::floor;
  using std::chrono::seconds;
  if (at >= created_at) return at;
  if (at == floor<seconds>(at) && at == floor<seconds>(created_at)) return created_at;
  return std::nullopt;
}

}  // namespace detail
}  // namespace v0
}  // namespace idem
