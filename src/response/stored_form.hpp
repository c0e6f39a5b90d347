// An answer on its way into a store and out of it.
#pragma once

#include <cstddef>
#include <optional>

#include "idem/request/key.hpp"
#include "idem/response/rules.hpp"

namespace idem {
inline namespace v0 {
namespace detail {

/// `given` as `rules`, which may be null, have it stored for `key`; empty where that is `given` itself. Throws
/// InvalidArgument where it cannot be stored, and what the rules' own functions throw.
[[nodiscard]] std::optional<Response> as_stored(const Key& key, const Response& given, std::size_t max_bytes,
                                                const ResponseRules* rules);

/// Makes of a stored answer what was given, or what was kept of it. Throws BodyUnavailable; StoredDataError for a mark that no
/// version writes.
void restore(const Key& key, Response& stored, const ResponseRules* rules);

}  // namespace detail
}  // namespace v0
}  // namespace idem
