// Builds canonical JSON from a stream of values, whether they come from a text or from a parsed value.
//
// The values are written once, in the order in which they come. Objects whose names did not come in order are
// only noted, and put in order in one last copy. Sorting each object where it ends would copy what is deep
// inside it again for every level around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "idem/json/canonical_json.hpp"

namespace idem {
inline namespace v0 {

/// The front of `text` that stands in a JSON string as it is: valid UTF-8 without quotes, backslashes and
/// controls.
[[nodiscard]] std::size_t plain_prefix(std::string_view text) noexcept;

/// Takes one document, value by value: each begin_ has its end_, a member is a name and then a value. Every
/// `offset` is a byte of the source, for errors. Not thread-safe; used for one document.
///
/// Throws InvalidJson for a duplicate name, too deep nesting and a form that is too long.
class CanonicalWriter {
 public:
  /// Both must live as long as the writer. Throws InvalidArgument for options beyond the limits.
  CanonicalWriter(const CanonicalJsonOptions& options, const JsonProjection& projection);

  void literal(std::string_view spelling, std::size_t offset);
  void number(std::string_view token, std::size_t offset);
  void number(double finite, std::size_t offset);

  void begin_string();
  void end_string(std::size_t offset);
  void begin_name(std::size_t offset);
  void end_name();
  /// A part of a string or name that plain_prefix accepts whole.
  void text(std::string_view plain);
  /// A character of a string or name, not a surrogate.
  void character(char32_t c);

  void begin_object(std::size_t offset) { begin_container('{', offset); }
  void begin_array(std::size_t offset) { begin_container('[', offset); }
  void end_container(std::size_t offset);

  /// Whether the innermost open container is an object.
  [[nodiscard]] bool in_object() const noexcept { return containers_.back().object; }
  /// Whether every container is closed.
  [[nodiscard]] bool at_root() const noexcept { return containers_.empty(); }

  /// The canonical form. The last call on this object.
  [[nodiscard]] std::string finish();

 private:
  // Positions fit 32 bits, as the form is limited to 1 GiB and the last value: there can be millions of
  // members.
  using Position = std::uint32_t;

  struct Range {
    Position begin;
    Position end;
  };

  // A member of an object that is still open. One that the projection drops has an empty range.
  struct Member {
    Range name;       // in names_
    Range range;      // in out_, from the name's quote to the value's end
    Position offset;  // of the name in the source
  };

  struct Container {
    bool object = false;
    bool empty = true;     // nothing was kept so far
    bool in_order = true;  // the names came in canonical order so far
    Position begin{};      // in out_
    std::size_t first_member =
        0;  // in members_; those of an open object are together, its children's are above them
    std::size_t first_name = 0;  // in names_, likewise
    std::size_t elements = 0;    // of an array, dropped ones too
    JsonProjection::Place place{};
  };

  // A closed object that has to be put in order.
  struct Disordered {
    Range range;     // in out_, with both braces
    Position first;  // in ordered_
    Position count;
  };

  // What there was before the value that is being dropped.
  struct Dropping {
    bool active = false;
    std::size_t depth = 0;
    std::size_t out = 0;
    std::size_t disordered = 0;
    std::size_t ordered = 0;
  };

  void begin_container(char bracket, std::size_t offset);
  void begin_value();
  void end_value(std::size_t offset);
  void enter(const JsonProjection::Place& place, std::size_t before_separator);
  void put_in_order(Container& object);
  [[nodiscard]] std::string_view name(const Member& member) const noexcept;
  [[nodiscard]] Position position() const noexcept { return static_cast<Position>(out_.size()); }

  const CanonicalJsonOptions& options_;
  const JsonProjection& projection_;
  std::string out_;    // the values in the order in which they came
  std::string names_;  // the unescaped names of the open objects
  bool in_name_ = false;
  std::vector<Member> members_;        // of the open objects
  std::vector<Container> containers_;  // the open ones, outermost first
  std::vector<Disordered> disordered_;
  std::vector<Range> ordered_;   // the members of the disordered objects, in canonical order
  JsonProjection::Place place_;  // of the value that comes next
  Dropping dropping_;
};

}  // namespace v0
}  // namespace idem
