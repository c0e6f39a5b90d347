// The one spelling of a JSON number.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "idem/json/canonical_json.hpp"

namespace idem {
inline namespace v0 {

/// Appends the canonical spelling of `token`, which follows the grammar of a JSON number. Throws InvalidJson
/// with `offset` where it is too large.
void append_number(std::string& out, std::string_view token, JsonNumbers numbers, std::size_t offset);

/// Appends a finite double in ECMAScript's shortest form (Number::toString), or with exact integers without
/// an exponent where it is integral.
void append_double(std::string& out, double value, JsonNumbers numbers);

}  // namespace v0
}  // namespace idem
