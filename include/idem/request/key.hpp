// What names one intended effect, and the ways to make a key where the client sends none.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "idem/base/uuid.hpp"

namespace idem {
inline namespace v0 {

/// One intended effect: who asks, for what, under which idempotency key. Two requests are retries of one
/// another only where all three are equal, byte for byte. A value: distinct objects may be used by distinct
/// threads.
struct Key {
  std::string principal{};  ///< The authenticated caller that owns the key: tenant, user. Never taken from
                            ///< the request body.
  std::string operation{};  ///< The command's stable name, such as `POST /payments`. Not the raw URL.
  std::string value{};      ///< The client's idempotency key: opaque, made once for each intent.

  friend auto operator<=>(const Key&, const Key&) = default;
};

/// The longest principal, operation and key value, in bytes.
inline constexpr std::size_t max_key_part_bytes = 255;

/// Checks the limits of a key: each of the three parts has 1 to 255 bytes, holds no NUL and is valid UTF-8,
/// as they are stored in text columns.
///
/// Throws InvalidKey, which names the part and the limit and never the content. Nothing else happens.
void validate(const Key& key);

/// Makes a key's value from the business facts that make a command unique, such as an order and its line.
/// Pure.
///
/// Different lists give different keys, `("a", "bc")` and `("ab", "c")` too: each part is written with its
/// length in front, `1:a,2:bc,`. Where that would be longer than 255 bytes or no valid key (a NUL, invalid
/// UTF-8) the value is `sha256:` and 64 hex digits instead; a readable value always begins with a digit. An
/// empty part is a part. Made keys are stored, so they are frozen: the hash is over `idem made key v1`, the
/// prefix and each part, each after its length as 8 bytes, big endian.
///
/// Throws InvalidArgument for an empty list: it would give every command the same key.
[[nodiscard]] std::string natural_key(std::initializer_list<std::string_view> parts);

/// The same for parts given one by one: `natural_key(order_id, line)`.
template <std::convertible_to<std::string_view>... Parts>
requires(sizeof...(Parts) > 0) [[nodiscard]] std::string natural_key(const Parts&... parts) {
  return natural_key({std::string_view{parts}...});
}

/// The key of one step of a saga, the same on every run of it: `step:` and the two lengths and texts, or
/// `step-sha256:` and 64 hex digits where natural_key would hash. Pure. Never equal to a compensation's key
/// or to a natural key.
[[nodiscard]] std::string step_key(std::string_view saga, std::string_view step);

/// The key of the compensation of one step of a saga: as step_key, with `undo:` and `undo-sha256:`. A
/// compensation under its step's key would be answered with the step's response and undo nothing.
[[nodiscard]] std::string compensation_key(std::string_view saga, std::string_view step);

/// A row id that every retry of the same command makes again: a version 8 UUID (RFC 9562 §5.8) of SHA-256.
/// Pure.
///
/// `purpose` tells the rows of one command apart: `"payment"`, `"receipt"`. Its value is stored by callers,
/// so it is frozen: SHA-256 over `idem deterministic uuid v1`, principal, operation, value and purpose, each
/// after its length as 8 bytes, big endian; the first 16 bytes of that, with version and variant set.
[[nodiscard]] Uuid deterministic_uuid(const Key& key, std::string_view purpose);

}  // namespace v0
}  // namespace idem
