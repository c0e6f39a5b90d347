// Canonical JSON and fingerprints of nlohmann::json values. The only public header that knows that library.
#pragma once

#include <concepts>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "idem/json/canonical_json.hpp"
#include "idem/request/fingerprint.hpp"

namespace idem {
inline namespace v0 {

/// Exactly a nlohmann::json. Its implicit conversions would make a JSON string of every text that is passed.
template <class T>
concept NlohmannJson = std::same_as<T, nlohmann::json>;

/// Returns the canonical form of a parsed value: the same as that of the text that it was parsed from. Pure.
///
/// What cannot be told from its text any more is refused: with exact integers a floating-point value that is
/// integral and 2^53 or more, as the parser makes one of every integer beyond 64 bits and its digits are
/// gone. So are NaN, infinities, binary and discarded values, strings that are not valid UTF-8, more than
/// `max_depth` levels and a result longer than `max_bytes`: InvalidJson with offset 0, as there is no text to
/// point into.
///
/// A duplicate name, or a NUL after the value, was swallowed by the parser and cannot be seen here: pass the
/// text where you have it. Never recurses.
template <NlohmannJson Json>
[[nodiscard]] std::string canonical_json(const Json& value, const CanonicalJsonOptions& options = {});

/// The same for the part of the value that `projection` keeps. The whole value is checked.
template <NlohmannJson Json>
[[nodiscard]] std::string canonical_json(const Json& value, const CanonicalJsonOptions& options,
                                         const JsonProjection& projection);

/// The fingerprint of a request whose body is `body`: the same as with its text in `request.body`.
///
/// Throws InvalidArgument where `request.body` is not empty or `request.content_type` is not JSON, else as
/// canonical_json and Fingerprinter do.
template <NlohmannJson Json>
[[nodiscard]] Fingerprint fingerprint(const Fingerprinter& fingerprinter, const RequestContent& request,
                                      const Json& body);

}  // namespace v0
}  // namespace idem
