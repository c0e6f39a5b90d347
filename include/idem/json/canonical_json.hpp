// JSON in one spelling, so that the same request always has the same bytes and a different one never has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "idem/base/error.hpp"

namespace idem {
inline namespace v0 {

/// What becomes of a number.
enum class JsonNumbers {
  /// Integers keep every digit at any length, as RFC 8785 would fold 9007199254740993 into ...992 and with it
  /// two 64-bit ids into one. An integral value written with a fraction or an exponent (`1290.0`, `1.29e3`) is
  /// that integer, exact up to 400 digits. Every other number is an IEEE 754 double in ECMAScript's shortest
  /// form; where the nearest double is integral it is written as that integer, without an exponent.
  exact_integers,
  /// Every number is an IEEE 754 double, as RFC 8785 has it. For exchange with other implementations only:
  /// different integers beyond 2^53 may become one.
  rfc8785,
};

/// The limits and the number rule of canonical JSON. A plain value.
struct CanonicalJsonOptions {
  JsonNumbers numbers = JsonNumbers::exact_integers;
  /// The longest text, and the longest canonical form (`1e399` grows to 400 bytes), in bytes. At most 1 GiB.
  std::size_t max_bytes = std::size_t{16} * 1024 * 1024;
  /// The most arrays and objects inside one another; `[]` has one.
  std::size_t max_depth = 512;
};

/// The part of a document that counts, named by JSON Pointers (RFC 6901). Immutable; safe to share between
/// threads.
///
/// A member or element stays if it is at, below or on the way to an included pointer, and not at or below an
/// excluded one; an empty include list keeps everything. What is dropped leaves no trace, and an absent
/// member stays different from one that is null. An array's elements are named by their index in the whole
/// document. A pointer that names nothing in a document drops or keeps nothing. A root that is no array or
/// object is always kept.
class JsonProjection {
 public:
  /// Keeps everything.
  JsonProjection() : JsonProjection{{}, {}} {}

  /// Throws InvalidArgument for what is no JSON Pointer (it neither is empty nor begins with `/`, or has a
  /// `~` that is not followed by 0 or 1; it must be valid UTF-8), and for the exclusion of the whole
  /// document.
  JsonProjection(std::span<const std::string> include, std::span<const std::string> exclude);

  /// True where nothing is ever dropped.
  [[nodiscard]] bool keeps_everything() const noexcept { return nodes_.size() == 1; }

 private:
  friend class CanonicalWriter;

  static constexpr std::size_t no_node = static_cast<std::size_t>(-1);

  // A place in a document while it is walked from its root.
  struct Place {
    std::size_t node;  // its node in the tree of pointers; no_node where no pointer leads here
    bool included;     // it is at or below an included pointer
    bool kept;         // it is part of the projected document
  };

  struct Node {
    std::vector<std::pair<std::string, std::size_t>> children;  // sorted by token
    bool included = false;                                      // an included pointer ends here
    bool leads_to_included = false;                             // one ends here or further down
    bool excluded = false;                                      // an excluded pointer ends here
  };

  std::size_t add(std::string_view pointer);
  [[nodiscard]] Place root() const noexcept;
  [[nodiscard]] Place child(const Place& parent, std::string_view token) const;

  std::vector<Node> nodes_;  // the first is the root
};

/// Returns the canonical form of a JSON text: RFC 8785 (no white space, members in the order of their names'
/// UTF-16 code units, one spelling for each string and number), with integers as `options.numbers` says.
/// Pure; the canonical form of a canonical form is itself.
///
/// Throws InvalidJson for what has no single meaning, never guesses: bad grammar, anything after the value (a
/// NUL too), a byte order mark, invalid UTF-8, half a surrogate pair, a member name that occurs twice (after
/// unescaping, also in parts that a projection drops), a number beyond the doubles or beyond 400 digits where
/// it is not a plain integer, more than `max_depth` levels, a text or result longer than `max_bytes`. Its
/// offset is that of the first byte that cannot continue the text, or of the beginning of the name, number,
/// escape or bracket that is refused as a whole; its reason holds nothing of the text. Refuse the request; a
/// retry of it changes nothing.
///
/// Never recurses. Time grows as n log n with the size of the text, whatever its shape; memory is bounded by
/// a small multiple of `max_bytes`. Throws InvalidArgument where `max_bytes` is more than 1 GiB.
[[nodiscard]] std::string canonical_json(std::string_view text, const CanonicalJsonOptions& options = {});

/// The same for the part of the document that `projection` keeps. The whole text is checked.
[[nodiscard]] std::string canonical_json(std::string_view text, const CanonicalJsonOptions& options,
                                         const JsonProjection& projection);

}  // namespace v0
}  // namespace idem
