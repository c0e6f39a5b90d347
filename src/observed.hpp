// Tells an observer what a call on a store came to.
#pragma once

#include <chrono>
#include <type_traits>

#include "idem/error.hpp"
#include "idem/observer.hpp"

namespace idem::inline v0::detail {

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

}  // namespace idem::inline v0::detail
