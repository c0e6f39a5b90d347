// The longest time that a caller may ask for.
#pragma once

#include <chrono>

namespace idem {
inline namespace v0 {
namespace detail {

// Keeps every sum with a time of the store inside 64 bits of microseconds.
inline constexpr std::chrono::milliseconds longest_time = std::chrono::years{10};

}  // namespace detail
}  // namespace v0
}  // namespace idem
