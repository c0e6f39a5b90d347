// Starts threads on the same line, to see what they do to each other.
#pragma once

#include <barrier>
#include <concepts>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

#include "idem/base/error.hpp"

namespace idem {
inline namespace v0 {
namespace testing {

/// Runs `run(0)` … `run(threads - 1)`, each on a thread of its own, all released by one barrier; returns when
/// all have returned. What the threads threw is the result, in the order of their indices, empty where none
/// threw: `EXPECT_TRUE(race(32, run).empty())`. Throws InvalidArgument for no thread.
template <std::invocable<std::size_t> Run>
[[nodiscard]] std::vector<std::exception_ptr> race_errors(std::size_t threads, const Run& run) {
  if (threads == 0) throw InvalidArgument{"a race needs at least one thread"};
  std::vector<std::exception_ptr> thrown(threads);
  std::barrier line{static_cast<std::ptrdiff_t>(threads)};
  {
    std::vector<std::jthread> runners;
    runners.reserve(threads);
    for (std::size_t index = 0; index < threads; ++index) {
      runners.emplace_back([&, index] {
        line.arrive_and_wait();
        try {
          run(index);
        } catch (...) {
          thrown[index] = std::current_exception();
        }
      });
    }
  }
  std::erase(thrown, nullptr);
  return thrown;
}

/// The same, and throws the first of what the threads threw.
template <std::invocable<std::size_t> Run>
void race(std::size_t threads, const Run& run) {
  if (const auto thrown = race_errors(threads, run); !thrown.empty()) std::rethrow_exception(thrown.front());
}

}  // namespace testing
}  // namespace v0
}  // namespace idem
