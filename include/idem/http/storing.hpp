// Which of a handler's answers are stored, and which of their headers.
#pragma once

#include <string>
#include <vector>

#include "idem/response/response.hpp"

namespace idem {
inline namespace v0 {
namespace http {

/// What becomes of an answer.
enum class Disposition {
  /// It is the command's answer: committed with its effects, and every retry gets it.
  store,
  /// It is a passing failure: everything is rolled back, this client gets it, and a retry runs the command again.
  roll_back,
};

/// What is stored, by the class of the status. A success (2xx, 3xx) always is: it was done.
struct StorePolicy {
  /// A decision against the command: a declined card, an offering that is sold out.
  Disposition client_error = Disposition::store;
  /// Rolled back, as a handler that failed has done nothing. `store` for answers such as Stripe's, whose every first answer
  /// stands.
  Disposition server_error = Disposition::roll_back;
  /// Statuses that are never stored, whatever their class: the client is to come back.
  std::vector<int> never{401, 408, 425, 429};
  /// The headers that are stored and replayed, in letters of any case; all others are the first caller's alone. Never
  /// `Set-Cookie`, `Date` or a hop-by-hop header: they are refused here.
  std::vector<std::string> headers{"Content-Type",     "Content-Language",
                                   "Content-Location", "Content-Encoding",
                                   "Location",         "ETag",
                                   "Last-Modified",    "Link"};
};

/// Throws InvalidArgument, naming it, for a header that must not be replayed and for a status that is none.
void validate(const StorePolicy& policy);

/// What becomes of an answer with this status, 100 to 599.
[[nodiscard]] Disposition disposition_of(const StorePolicy& policy, int status) noexcept;

/// `response` with those headers only that the policy stores, in their order; without those that its `Connection` names.
[[nodiscard]] Response storable(const StorePolicy& policy, Response response);

}  // namespace http
}  // namespace v0
}  // namespace idem
