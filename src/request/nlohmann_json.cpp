#include "idem/request/nlohmann_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "json/canonical_writer.hpp"
#include "request/media_type.hpp"

namespace idem {
inline namespace v0 {

namespace {

using nlohmann::json;

[[noreturn]] void fail(const char* reason) {
  throw InvalidJson{0, reason};
}

/// Walks a parsed value and drives a writer.
class Walker {
 public:
  Walker(CanonicalWriter& writer, const CanonicalJsonOptions& options)
      : writer_{writer}, numbers_{options.numbers}, max_bytes_{options.max_bytes} {}

  void document(const json& root) {
    begin_value(root);
    while (!open_.empty()) {
      Position& position = open_.back();
      if (position.next == position.container->end()) {
        open_.pop_back();
        writer_.end_container(0);
        continue;
      }
      const json::const_iterator child = position.next++;
      if (writer_.in_object()) {
        writer_.begin_name(0);
        characters(child.key());
        writer_.end_name();
      }
      begin_value(*child);
    }
  }

 private:
  struct Position {
    const json* container;
    json::const_iterator next;
  };

  void begin_value(const json& value) {
    switch (value.type()) {
      case json::value_t::object:
        writer_.begin_object(0);
        open_.push_back({&value, value.begin()});
        return;
      case json::value_t::array:
        writer_.begin_array(0);
        open_.push_back({&value, value.begin()});
        return;
      case json::value_t::string:
        writer_.begin_string();
        characters(value.get_ref<const std::string&>());
        return writer_.end_string(0);
      case json::value_t::null:
        return writer_.literal("null", 0);
      case json::value_t::boolean:
        return writer_.literal(value.get<bool>() ? "true" : "false", 0);
      case json::value_t::number_integer:
        return writer_.number(std::to_string(value.get<std::int64_t>()), 0);
      case json::value_t::number_unsigned:
        return writer_.number(std::to_string(value.get<std::uint64_t>()), 0);
      case json::value_t::number_float:
        return floating_point(value.get<double>());
      case json::value_t::binary:
        fail("a binary value has no JSON form");
      case json::value_t::discarded:
        fail("a discarded value has no JSON form");
    }
    fail("a value of an unknown type has no JSON form");
  }

  void floating_point(double value) {
    constexpr double first_unsafe_integer = 9007199254740992.0;  // 2^53
    if (!std::isfinite(value)) fail("NaN and infinities have no JSON form");
    if (numbers_ == JsonNumbers::exact_integers && std::abs(value) >= first_unsafe_integer) {
      // From 2^53 every double is integral.
      fail("an integer beyond 2^53 is held as floating point, so digits may be lost");
    }
    writer_.number(value, 0);
  }

  void characters(std::string_view text) {
    if (text.size() > max_bytes_) fail("a string is longer than the limit of max_bytes");
    for (;;) {
      const std::size_t plain = plain_prefix(text);
      writer_.text(text.substr(0, plain));
      if (plain == text.size()) return;
      const auto c = static_cast<unsigned char>(text[plain]);
      if (c >= 0x80) fail("a string is not valid UTF-8");
      writer_.character(c);
      text.remove_prefix(plain + 1);
    }
  }

  CanonicalWriter& writer_;
  JsonNumbers numbers_;
  std::size_t max_bytes_;
  std::vector<Position> open_;
};

}  // namespace

template <NlohmannJson Json>
std::string canonical_json(const Json& value, const CanonicalJsonOptions& options) {
  return canonical_json(value, options, JsonProjection{});
}

template <NlohmannJson Json>
std::string canonical_json(const Json& value, const CanonicalJsonOptions& options,
                           const JsonProjection& projection) {
  CanonicalWriter writer{options, projection};
  Walker{writer, options}.document(value);
  return writer.finish();
}

template <NlohmannJson Json>
Fingerprint fingerprint(const Fingerprinter& fingerprinter, const RequestContent& request, const Json& body) {
  if (!request.body.empty()) {
    throw InvalidArgument{"a request has one body: leave RequestContent::body empty"};
  }
  if (!is_json(media_type(request.content_type))) {
    throw InvalidArgument{"the content type of a JSON value must be JSON"};
  }
  // The canonical form of a canonical form is itself, so this is the fingerprint of the body's text.
  const std::string text = canonical_json(body, fingerprinter.json_options());
  RequestContent whole = request;
  whole.body = text;
  return fingerprinter(whole);
}

template std::string canonical_json(const json&, const CanonicalJsonOptions&);
template std::string canonical_json(const json&, const CanonicalJsonOptions&, const JsonProjection&);
template Fingerprint fingerprint(const Fingerprinter&, const RequestContent&, const json&);

}  // namespace v0
}  // namespace idem
