#include "idem/record/observer.hpp"

namespace idem {
inline namespace v0 {

std::string_view to_string(Observed what) noexcept {
  switch (what) {
    case Observed::acquired:
      return "acquired";
    case Observed::acquired_again:
      return "acquired_again";
    case Observed::took_over:
      return "took_over";
    case Observed::replayed:
      return "replayed";
    case Observed::in_progress:
      return "in_progress";
    case Observed::mismatch:
      return "mismatch";
    case Observed::unknown:
      return "unknown";
    case Observed::completed:
      return "completed";
    case Observed::failed:
      return "failed";
    case Observed::marked_unknown:
      return "marked_unknown";
    case Observed::held:
      return "held";
    case Observed::marked_sent:
      return "marked_sent";
    case Observed::renewed:
      return "renewed";
    case Observed::lapsed:
      return "lapsed";
    case Observed::released:
      return "released";
    case Observed::resolved:
      return "resolved";
    case Observed::found:
      return "found";
    case Observed::not_found:
      return "not_found";
    case Observed::applied:
      return "applied";
    case Observed::duplicate:
      return "duplicate";
    case Observed::beyond_horizon:
      return "beyond_horizon";
    case Observed::not_newer:
      return "not_newer";
    case Observed::appended:
      return "appended";
    case Observed::lease_lost:
      return "lease_lost";
    case Observed::already_settled:
      return "already_settled";
    case Observed::conflict:
      return "conflict";
    case Observed::error:
      return "error";
  }
  return "error";
}

}  // namespace v0
}  // namespace idem
