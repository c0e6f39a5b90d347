#include "idem/record/observer.hpp"

namespace idem {
inline namespace v0 {

std::string_view to_string(Event event) noexcept {
  switch (event) {
    case Event::acquired:
      return "acquired";
    case Event::acquired_again:
      return "acquired_again";
    case Event::took_over:
      return "took_over";
    case Event::replayed:
      return "replayed";
    case Event::in_progress:
      return "in_progress";
    case Event::mismatch:
      return "mismatch";
    case Event::unknown:
      return "unknown";
    case Event::completed:
      return "completed";
    case Event::failed:
      return "failed";
    case Event::marked_unknown:
      return "marked_unknown";
    case Event::held:
      return "held";
    case Event::marked_sent:
      return "marked_sent";
    case Event::renewed:
      return "renewed";
    case Event::lapsed:
      return "lapsed";
    case Event::released:
      return "released";
    case Event::resolved:
      return "resolved";
    case Event::found:
      return "found";
    case Event::not_found:
      return "not_found";
    case Event::applied:
      return "applied";
    case Event::duplicate:
      return "duplicate";
    case Event::beyond_horizon:
      return "beyond_horizon";
    case Event::not_newer:
      return "not_newer";
    case Event::appended:
      return "appended";
    case Event::lease_lost:
      return "lease_lost";
    case Event::already_settled:
      return "already_settled";
    case Event::conflict:
      return "conflict";
    case Event::error:
      return "error";
  }
  return "error";
}

}  // namespace v0
}  // namespace idem
