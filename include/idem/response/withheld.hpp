// A stored answer without its body: what a retry is told where the first answer could not be kept.
#pragma once

#include <optional>
#include <string_view>

#include "idem/response/response.hpp"

namespace idem {
inline namespace v0 {

/// Why a body was not kept.
enum class Withheld {
  too_large,  ///< The answer was over the backend's limit.
  card_data,  ///< It held what must not be stored: ResponseRules::must_not_store.
};

/// What settling does with an answer that cannot be stored whole.
enum class OnUnstorable {
  /// Throws InvalidArgument, before anything is sent: the command's work rolls back. After an outside call there is nothing
  /// to roll back, and its result is recorded as not known: choose the other there.
  refuse,
  /// Stores the status and the headers, marked. The first caller still gets the whole answer, unless its COMMIT lost its
  /// answer: then it gets what a retry gets.
  withhold_body,
};

/// Begins the names of the headers that idem itself stores, in any case of letters. Settling with a response that holds
/// such a name is refused.
inline constexpr std::string_view reserved_header_prefix = "idem-";

/// The header that marks a stored answer whose body was not kept, and its values. Stored, so they are frozen.
inline constexpr std::string_view withheld_header = "idem-withheld";
inline constexpr std::string_view withheld_too_large = "too-large";
inline constexpr std::string_view withheld_card_data = "card-data";

/// Why the body of a replayed `response` is missing; empty where it is whole. The command was done: never run it again, and
/// tell the client that its answer is not there any more.
[[nodiscard]] std::optional<Withheld> withheld(const Response& response);

}  // namespace v0
}  // namespace idem
