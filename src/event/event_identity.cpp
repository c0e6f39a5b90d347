#include "idem/event/event_identity.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/rfc3339.hpp"
#include "base/text_limits.hpp"
#include "idem/base/error.hpp"
#include "idem/base/uuid.hpp"
#include "idem/json/canonical_json.hpp"

namespace idem {
inline namespace v0 {
namespace {

using nlohmann::json;

void check_part(std::string_view what, std::string_view text, std::size_t most_bytes) {
  try {
    detail::check_text(what, text, most_bytes);
  } catch (const InvalidArgument& refused) {
    throw InvalidEvent{refused.what()};
  }
}

TimePoint time_from(std::string_view text) {
  const auto time = detail::parse_rfc3339(text);
  if (!time) throw InvalidEvent{"the event's time must be an RFC 3339 date and time with an offset"};
  return *time;
}

EventIdentity checked(EventIdentity identity) {
  validate(identity);
  return identity;
}

// The CloudEvents attributes that matter here, from wherever the event has them; a null is an attribute that is not
// there.
template <class Attribute>
std::optional<EventIdentity> cloud_event(const Attribute& attribute) {
  const std::optional<std::string> version = attribute("specversion");
  if (!version) return std::nullopt;
  if (*version != "1.0") throw InvalidEvent{"the event's specversion must be 1.0"};
  const std::optional<std::string> id = attribute("id");
  const std::optional<std::string> source = attribute("source");
  if (!id || !source) throw InvalidEvent{"a CloudEvents event must have an id and a source"};
  EventIdentity identity{*source, *id};
  if (const std::optional<std::string> time = attribute("time")) identity.time = time_from(*time);
  return checked(std::move(identity));
}

bool equal_without_case(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

// The last header of that name: a redelivery may have added its own behind the first one's.
template <class Same>
std::optional<std::string> last_value(std::span<const Header> headers, const Same& same) {
  const auto found =
      std::find_if(headers.rbegin(), headers.rend(), [&](const Header& header) { return same(header.name); });
  if (found == headers.rend()) return std::nullopt;
  return found->value;
}

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// A value as HTTP carries it: a quoted string is unquoted, then percent-decoded once (CloudEvents HTTP binding 1.0,
// 3.1.3.2).
std::string http_value(std::string_view value) {
  std::string unquoted;
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    value = value.substr(1, value.size() - 2);
    for (std::size_t at = 0; at < value.size(); ++at) {
      if (value[at] == '\\' && at + 1 < value.size()) ++at;
      unquoted += value[at];
    }
    value = unquoted;
  }
  std::string decoded;
  for (std::size_t at = 0; at < value.size(); ++at) {
    const auto high = value[at] == '%' && at + 2 < value.size() ? hex_digit(value[at + 1]) : std::nullopt;
    const auto low = high ? hex_digit(value[at + 2]) : std::nullopt;
    if (low) {
      decoded += static_cast<char>(*high * 16 + *low);
      at += 2;
    } else {
      decoded += value[at];
    }
  }
  return decoded;
}

bool is_http_attribute(std::string_view header, std::string_view name) {
  return header.size() > 3 && equal_without_case(header.substr(0, 3), "ce-") &&
         equal_without_case(header.substr(3), name);
}

// Canonical JSON: what has no single meaning was refused already.
json parsed(const std::string& canonical) {
  json document = json::parse(canonical, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) throw InvalidEvent{"the event holds a number that is too large"};
  return document;
}

const json* member_at(const json& document, const std::string& pointer) {
  try {
    return &document.at(json::json_pointer{pointer});
  } catch (const json::exception&) {
    return nullptr;
  }
}

}  // namespace

void validate(const EventIdentity& identity) {
  check_part("an event's source", identity.source, 1024);
  check_part("an event's id", identity.id, 512);
  if (!identity.time) return;
  using namespace std::chrono;
  constexpr sys_days first = year{1} / January / 1;
  constexpr sys_days end = year{10000} / January / 1;
  if (*identity.time < first || *identity.time >= end) {
    throw InvalidEvent{"an event's time must be in the years 1 to 9999"};
  }
}

std::optional<TimePoint> time_of(const EventIdentity& identity) {
  if (identity.time) return identity.time;
  const std::optional<Uuid> uuid = Uuid::parse(identity.id);
  if (!uuid) return std::nullopt;
  return uuid_v7_time(*uuid);
}

std::optional<EventIdentity> cloud_event_identity(std::span<const Header> headers) {
  constexpr std::array<std::string_view, 3> prefixes{"ce_", "cloudEvents_", "cloudEvents:"};
  return cloud_event([&](std::string_view name) -> std::optional<std::string> {
    if (const auto value =
            last_value(headers, [&](std::string_view header) { return is_http_attribute(header, name); })) {
      return http_value(*value);
    }
    return last_value(headers, [&](std::string_view header) {
      return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
        return header.starts_with(prefix) && header.substr(prefix.size()) == name;
      });
    });
  });
}

std::optional<EventIdentity> cloud_event_identity(std::string_view text) {
  const std::vector<std::string> attributes{"/specversion", "/id", "/source", "/time"};
  const json event = parsed(canonical_json(text, {}, JsonProjection{attributes, {}}));
  if (!event.is_object()) return std::nullopt;
  return cloud_event([&](const char* name) -> std::optional<std::string> {
    const auto found = event.find(name);
    if (found == event.end() || found->is_null()) return std::nullopt;
    if (!found->is_string()) throw InvalidEvent{std::string{"the event's "} + name + " must be a string"};
    return found->get<std::string>();
  });
}

std::optional<EventIdentity> header_identity(std::span<const Header> headers,
                                             std::span<const std::string> names, std::string source) {
  for (const std::string& name : names) {
    if (auto id = last_value(headers, [&](std::string_view header) { return header == name; })) {
      return checked({std::move(source), *std::move(id)});
    }
  }
  return std::nullopt;
}

std::optional<EventIdentity> member_identity(std::string_view payload, const std::string& pointer,
                                             std::string source) {
  const JsonProjection names_a_place{std::vector{pointer}, {}};
  // All of it is read, as a place in an array is counted in the whole document.
  const json document = parsed(canonical_json(payload));
  const json* member = member_at(document, pointer);
  if (member == nullptr || member->is_null()) return std::nullopt;
  if (member->is_string()) return checked({std::move(source), member->get<std::string>()});
  if (member->is_number_integer()) return checked({std::move(source), member->dump()});
  throw InvalidEvent{"the event's id must be a string or an integer of 64 bits"};
}

}  // namespace v0
}  // namespace idem
