// The Idempotency-Key header: one opaque key from the lines that a client sent.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "idem/request/key.hpp"

namespace idem {
inline namespace v0 {
namespace http {

/// What counts as a key.
enum class KeySyntax {
  /// A String of RFC 9651, with its quotation marks, as draft-ietf-httpapi-idempotency-key-header has it: `"8e03978e-40d5"`.
  strict,
  /// That, or the bare text that nearly all clients send: `8e03978e-40d5`. Both are the same key.
  lenient,
};

/// How the header is read.
struct KeyHeaderOptions {
  KeySyntax syntax = KeySyntax::lenient;
  /// Of the key itself, without quotation marks and escapes: 1 to 255, which is what a record holds.
  std::size_t max_bytes = max_key_part_bytes;
};

/// Why there is no key.
enum class KeyRefusal {
  missing,    ///< There is no line.
  repeated,   ///< There are two or more, also where they are equal.
  empty,      ///< There is one, and no key in it.
  too_long,   ///< It is over `max_bytes`.
  malformed,  ///< It is neither form.
};

/// Its stable name, such as `too_long`.
[[nodiscard]] std::string_view to_string(KeyRefusal refusal) noexcept;

/// Reads the key from the header's lines, each as it was received, without the name. Pure: nothing is looked up.
///
/// A String may have parameters, which are checked and do not count: the draft defines none. A bare key is visible ASCII
/// without `"` and `,`: a comma is what two lines become where a proxy joins them. Spaces around it do not count; the
/// strict form has only spaces, as HTTP servers take tabs away.
///
/// Throws InvalidArgument for options out of bounds.
[[nodiscard]] std::variant<std::string, KeyRefusal> parse_idempotency_key(
    std::span<const std::string_view> lines, const KeyHeaderOptions& options = {});

/// The header's value for a key, quoted: what a client sends. Throws InvalidKey for one that is empty, longer than 255 bytes
/// or not printable ASCII.
[[nodiscard]] std::string serialize_idempotency_key(std::string_view key);

}  // namespace http
}  // namespace v0
}  // namespace idem
