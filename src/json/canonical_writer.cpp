#include "json/canonical_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <compare>
#include <iterator>
#include <limits>
#include <utility>

#include "base/utf8.hpp"
#include "json/json_number.hpp"

namespace idem {
inline namespace v0 {

namespace {

constexpr std::size_t max_max_bytes = std::size_t{1024} * 1024 * 1024;

/// Bytes of UTF-8 in the order of UTF-16 code units: the surrogates of the 4-byte characters, which begin
/// with F0 to F4, stand before U+E000 to U+FFFF, which begin with EE and EF.
constexpr unsigned utf16_rank(char c) noexcept {
  const unsigned byte = static_cast<unsigned char>(c);
  if (byte >= 0xf0) return byte - 2;
  if (byte >= 0xee) return byte + 5;
  return byte;
}

std::strong_ordering utf16_order(std::string_view a, std::string_view b) noexcept {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a == a.end() || in_b == b.end()) return a.size() <=> b.size();
  return utf16_rank(*in_a) <=> utf16_rank(*in_b);
}

constexpr auto stands_as_it_is = [] {
  std::array<bool, 256> table{};
  for (std::size_t c = 0x20; c < 0x80; ++c) table[c] = c != '"' && c != '\\';
  return table;
}();

}  // namespace

std::size_t plain_prefix(std::string_view text) noexcept {
  std::size_t end = 0;
  while (end < text.size()) {
    const auto byte = static_cast<unsigned char>(text[end]);
    if (stands_as_it_is[byte]) {
      ++end;
      continue;
    }
    if (byte < 0x80) break;
    const Utf8Sequence sequence = utf8_sequence(text.substr(end));
    if (!sequence.valid) break;
    end += sequence.length;
  }
  return end;
}

CanonicalWriter::CanonicalWriter(const CanonicalJsonOptions& options, const JsonProjection& projection)
    : options_{options}, projection_{projection}, place_{projection.root()} {
  if (options.max_bytes > max_max_bytes)
    throw InvalidArgument{"max_bytes of canonical JSON must be at most 1 GiB"};
}

void CanonicalWriter::literal(std::string_view spelling, std::size_t offset) {
  begin_value();
  out_ += spelling;
  end_value(offset);
}

void CanonicalWriter::number(std::string_view token, std::size_t offset) {
  begin_value();
  append_number(out_, token, options_.numbers, offset);
  end_value(offset);
}

void CanonicalWriter::number(double finite, std::size_t offset) {
  begin_value();
  append_double(out_, finite, options_.numbers);
  end_value(offset);
}

void CanonicalWriter::begin_string() {
  begin_value();
  out_ += '"';
}

void CanonicalWriter::end_string(std::size_t offset) {
  out_ += '"';
  end_value(offset);
}

void CanonicalWriter::begin_name(std::size_t offset) {
  if (!containers_.back().empty) out_ += ',';
  const auto name_begin = static_cast<Position>(names_.size());
  members_.push_back({{name_begin, name_begin}, {position(), position()}, static_cast<Position>(offset)});
  out_ += '"';
  in_name_ = true;
}

void CanonicalWriter::end_name() {
  in_name_ = false;
  out_ += "\":";
  Container& object = containers_.back();
  Member& member = members_.back();
  member.name.end = static_cast<Position>(names_.size());
  if (object.in_order && members_.size() - object.first_member > 1) {
    object.in_order = utf16_order(name(members_[members_.size() - 2]), name(member)) < 0;
  }
  if (!projection_.keeps_everything()) {
    const std::size_t separator = object.empty ? 0 : 1;
    enter(projection_.child(object.place, name(member)), member.range.begin - separator);
  }
}

void CanonicalWriter::text(std::string_view plain) {
  out_ += plain;
  if (in_name_) names_ += plain;
}

void CanonicalWriter::character(char32_t c) {
  if (in_name_) append_utf8(names_, c);
  constexpr std::string_view short_escapes = "\b\t\n\f\r\"\\";
  constexpr std::string_view letters = "btnfr\"\\";
  const std::size_t found = c < 0x80 ? short_escapes.find(static_cast<char>(c)) : std::string_view::npos;
  if (found != std::string_view::npos) {
    out_ += '\\';
    out_ += letters[found];
  } else if (c < 0x20) {
    out_ += c < 0x10 ? "\\u000" : "\\u001";
    out_ += "0123456789abcdef"[c & 0x0f];
  } else {
    append_utf8(out_, c);
  }
}

void CanonicalWriter::begin_container(char bracket, std::size_t offset) {
  if (containers_.size() >= options_.max_depth) {
    throw InvalidJson{offset,
                      "nested deeper than the limit of " + std::to_string(options_.max_depth) + " levels"};
  }
  begin_value();
  containers_.push_back(Container{.object = bracket == '{',
                                  .begin = position(),
                                  .first_member = members_.size(),
                                  .first_name = names_.size(),
                                  .place = place_});
  out_ += bracket;
}

void CanonicalWriter::end_container(std::size_t offset) {
  Container& container = containers_.back();
  out_ += container.object ? '}' : ']';
  if (!container.in_order) put_in_order(container);
  members_.resize(container.first_member);
  names_.resize(container.first_name);
  containers_.pop_back();
  end_value(offset);
}

// A member's place is found by its name and the root's is known; an element has to be begun here.
void CanonicalWriter::begin_value() {
  if (containers_.empty() || containers_.back().object) return;
  Container& array = containers_.back();
  const std::size_t before_separator = out_.size();
  if (!array.empty) out_ += ',';
  if (!projection_.keeps_everything()) {
    std::array<char, 20> digits{};
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), array.elements);
    enter(projection_.child(array.place, {digits.data(), written.ptr}), before_separator);
  }
  ++array.elements;
}

void CanonicalWriter::enter(const JsonProjection::Place& place, std::size_t before_separator) {
  place_ = place;
  if (place.kept || dropping_.active) return;
  dropping_ = {true, containers_.size(), before_separator, disordered_.size(), ordered_.size()};
}

void CanonicalWriter::end_value(std::size_t offset) {
  if (out_.size() > options_.max_bytes) {
    throw InvalidJson{offset, "the canonical form is longer than the limit of " +
                                  std::to_string(options_.max_bytes) + " bytes"};
  }
  if (dropping_.active && dropping_.depth == containers_.size()) {
    // Dropped values are read whole, as their errors count, and then forgotten.
    out_.resize(dropping_.out);
    disordered_.resize(dropping_.disordered);
    ordered_.resize(dropping_.ordered);
    dropping_.active = false;
    return;
  }
  if (containers_.empty()) return;
  containers_.back().empty = false;
  if (containers_.back().object) members_.back().range.end = position();
}

void CanonicalWriter::put_in_order(Container& object) {
  const auto first = members_.begin() + static_cast<std::ptrdiff_t>(object.first_member);
  std::sort(first, members_.end(), [this](const Member& a, const Member& b) {
    const std::strong_ordering order = utf16_order(name(a), name(b));
    return order != 0 ? order < 0 : a.offset < b.offset;
  });
  constexpr Position none = std::numeric_limits<Position>::max();
  Position repeated = none;
  for (auto member = std::next(first); member != members_.end(); ++member) {
    if (name(*std::prev(member)) == name(*member)) repeated = std::min(repeated, member->offset);
  }
  if (repeated != none) throw InvalidJson{repeated, "a member name occurs twice in one object"};
  const auto first_ordered = static_cast<Position>(ordered_.size());
  for (auto member = first; member != members_.end(); ++member) {
    if (member->range.begin != member->range.end) ordered_.push_back(member->range);
  }
  disordered_.push_back(
      {{object.begin, position()}, first_ordered, static_cast<Position>(ordered_.size()) - first_ordered});
}

std::string_view CanonicalWriter::name(const Member& member) const noexcept {
  return std::string_view{names_}.substr(member.name.begin, member.name.end - member.name.begin);
}

std::string CanonicalWriter::finish() {
  if (disordered_.empty()) return std::move(out_);
  members_ = {};
  names_ = {};
  // They were noted when they ended; they are met in the order in which they begin.
  const auto begins_before = [](const Disordered& d, Position at) { return d.range.begin < at; };
  std::sort(disordered_.begin(), disordered_.end(),
            [](const Disordered& a, const Disordered& b) { return a.range.begin < b.range.begin; });

  // The rest of a range that is being copied, and the members that follow it where it belongs to a disordered
  // object.
  struct Copying {
    Range rest;
    Position next;
    Position last;
    bool object;
  };
  std::string result;
  result.reserve(out_.size());
  std::vector<Copying> open{{{0, position()}, 0, 0, false}};
  while (!open.empty()) {
    Copying& copying = open.back();
    Range& rest = copying.rest;
    const auto inner = std::lower_bound(disordered_.begin(), disordered_.end(), rest.begin, begins_before);
    if (inner != disordered_.end() && inner->range.begin < rest.end) {
      result.append(out_, rest.begin, inner->range.begin - rest.begin);
      result += '{';
      rest.begin = inner->range.end;
      open.push_back({{0, 0}, inner->first, inner->first + inner->count, true});
      continue;
    }
    result.append(out_, rest.begin, rest.end - rest.begin);
    if (copying.next != copying.last) {
      if (result.back() != '{') result += ',';  // no value ends in an opening brace
      rest = ordered_[copying.next++];
    } else {
      if (copying.object) result += '}';
      open.pop_back();
    }
  }
  return result;
}

}  // namespace v0
}  // namespace idem
