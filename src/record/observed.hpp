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

inline Event event_of_current_exception() {
  try {
    throw;
  } catch (const AlreadySettled&) {
    return Event::already_settled;
  } catch (const LeaseLost&) {
    return Event::lease_lost;
  } catch (const TransactionConflict&) {
    return Event::conflict;
  } catch (...) {
    return Event::error;
  }
}

// Runs `call` and tells the observer what it came to; reads no clock where there is no observer.
template <class Call, class EventOf>
auto observed(Observer* observer, const Key& key, const Call& call, const EventOf& event) {
  if (observer == nullptr) return call();
  const auto begin = std::chrono::steady_clock::now();
  const auto tell = [&](Event what) {
    observer->observe({what, key, std::chrono::steady_clock::now() - begin});
  };
  try {
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
      tell(event);
    } else {
      auto answer = call();
      if constexpr (std::is_same_v<EventOf, Event>) {
        tell(event);
      } else {
        tell(event(answer));
      }
      return answer;
    }
  } catch (...) {
    tell(event_of_current_exception());
    throw;
  }
}

// Runs `call`, which is about `count` things, and tells the observer what each came to, with its share of the time.
template <class Call, class KeyAt, class EventAt>
auto observed_each(Observer* observer, std::size_t count, const Call& call, const KeyAt& key_at,
                   const EventAt& event_at) {
  if (observer == nullptr) return call();
  const auto begin = std::chrono::steady_clock::now();
  const auto tell = [&](const auto& event_of) {
    const auto duration = (std::chrono::steady_clock::now() - begin) / std::max<std::size_t>(count, 1);
    for (std::size_t at = 0; at < count; ++at) observer->observe({event_of(at), key_at(at), duration});
  };
  try {
    auto answers = call();
    tell([&](std::size_t at) { return event_at(answers, at); });
    return answers;
  } catch (...) {
    const Event event = event_of_current_exception();
    tell([event](std::size_t) { return event; });
    throw;
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace idem
