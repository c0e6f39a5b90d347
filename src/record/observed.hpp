// Tells an observer what a call on a store came to.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <type_traits>

#include "idem/base/error.hpp"
#include "idem/record/observer.hpp"

namespace idem {
inline namespace v0 {
namespace detail {

inline Observed observed_exception() {
  try {
    throw;
  } catch (const AlreadySettled&) {
    return Observed::already_settled;
  } catch (const LeaseLost&) {
    return Observed::lease_lost;
  } catch (const TransactionConflict&) {
    return Observed::conflict;
  } catch (...) {
    return Observed::error;
  }
}

// Runs `call` and tells the observer what it came to; reads no clock where there is no observer.
template <class Call, class ObservedOf>
auto observed(Observer* observer, const Key& key, const Call& call, const ObservedOf& what) {
  if (observer == nullptr) return call();
  const auto begin = std::chrono::steady_clock::now();
  const auto tell = [&](Observed told) {
    observer->observe({told, key, std::chrono::steady_clock::now() - begin});
  };
  try {
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
      tell(what);
    } else {
      auto answer = call();
      if constexpr (std::is_same_v<ObservedOf, Observed>) {
        tell(what);
      } else {
        tell(what(answer));
      }
      return answer;
    }
  } catch (...) {
    tell(observed_exception());
    throw;
  }
}

// Runs `call`, which is about `count` things, and tells the observer what each came to, with its share of the time.
template <class Call, class KeyAt, class ObservedAt>
auto observed_each(Observer* observer, std::size_t count, const Call& call, const KeyAt& key_at,
                   const ObservedAt& observed_at) {
  if (observer == nullptr) return call();
  const auto begin = std::chrono::steady_clock::now();
  const auto tell = [&](const auto& what_of) {
    const auto duration = (std::chrono::steady_clock::now() - begin) / std::max<std::size_t>(count, 1);
    for (std::size_t at = 0; at < count; ++at) observer->observe({what_of(at), key_at(at), duration});
  };
  try {
    auto answers = call();
    tell([&](std::size_t at) { return observed_at(answers, at); });
    return answers;
  } catch (...) {
    const Observed what = observed_exception();
    tell([what](std::size_t) { return what; });
    throw;
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace idem
