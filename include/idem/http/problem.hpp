// The boundary's own answers, as RFC 9457 has them: for each case a type of its own, so that a client can tell "come back"
// from "stop, this is a bug".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "idem/response/response.hpp"

namespace idem {
inline namespace v0 {
namespace http {

/// What a client is told. The names are part of the API, so they are frozen.
enum class Problem {
  key_missing,      ///< Stop: the request has no idempotency key, and the operation needs one.
  key_refused,      ///< Stop: there is a key header, and it is no one key.
  unauthenticated,  ///< Stop: there is nobody whom a key could belong to.
  request_refused,  ///< Stop: the body cannot be read with one meaning.
  key_reused,       ///< Stop: the key was used for another request.
  in_progress,      ///< Come back with the same key.
  unknown,          ///< Come back with the same key, later: an outside call's result is not known.
  unavailable,      ///< Come back with the same key: nothing is known to be done.
  answer_withheld,  ///< Done: it was carried out with this status, and its body was not kept.
};

/// Its stable name, which ends the `type`: `key-missing`, `in-progress`, …
[[nodiscard]] std::string_view to_string(Problem problem) noexcept;

/// What the types begin with where nobody says otherwise. With `urn:` nothing is promised to be found there; a service that
/// publishes its rules has `https://developer.example.com/idempotency#`, say.
inline constexpr std::string_view default_problem_types = "urn:idem:problem:";

/// The problem that a `type` names, whatever it begins with; empty for every other. Pure.
[[nodiscard]] std::optional<Problem> problem_of_type(std::string_view type) noexcept;

/// What is told of one case beside its type.
struct ProblemDetails {
  int status = 0;
  /// Of this occurrence; empty for the type's own words. Never content of the request.
  std::string detail{};
  /// The client's own key, for `unknown`.
  std::optional<std::string> key{};
  /// Of type URIs: what comes before the name.
  std::string_view types = default_problem_types;
};

/// The response: `application/problem+json` with type, title, status and detail. Pure.
[[nodiscard]] Response problem_response(Problem problem, const ProblemDetails& details);

}  // namespace http
}  // namespace v0
}  // namespace idem
