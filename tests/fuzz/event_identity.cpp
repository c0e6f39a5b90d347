// What names an event in a message that somebody else made: headers, JSON, UUIDs and times.
#include "idem/event/event_identity.hpp"

#include <algorithm>
#include <vector>

#include "base/rfc3339.hpp"
#include "fuzz.hpp"
#include "idem/base/error.hpp"
#include "idem/base/uuid.hpp"
#include "idem/json/canonical_json.hpp"

namespace idem::fuzz {
namespace {

// What it names; where it is refused, `refused`, if that is as it should be.
struct Told {
  std::optional<EventIdentity> identity{};
  bool refused = false;
  friend bool operator==(const Told&, const Told&) = default;
};

template <class Read>
Told told(std::string_view content, Read read) {
  try {
    Told result{read()};
    if (result.identity) {
      validate(*result.identity);
      const auto time = time_of(*result.identity);
      expect(!result.identity->time || time == result.identity->time, "an event's own time counts");
    }
    return result;
  } catch (const InvalidArgument& refused) {
    expect(dynamic_cast<const InvalidEvent*>(&refused) != nullptr ||
               dynamic_cast<const InvalidJson*>(&refused) != nullptr,
           "a message is refused as an event or as JSON");
    expect(!quotes(refused.what(), content), "a refusal holds nothing of the message");
    return {std::nullopt, true};
  }
}

void check_headers(Input input) {
  std::vector<Header> headers;
  const std::string_view content = input.rest();
  while (!input.rest().empty()) {
    const std::string_view line = input.line();
    const std::size_t end = std::min(line.find('='), line.size());
    headers.push_back(
        {std::string{line.substr(0, end)}, std::string{line.substr(std::min(end + 1, line.size()))}});
  }
  const auto cloud_event = [&](const std::vector<Header>& given) {
    return told(content, [&] { return cloud_event_identity(given); });
  };
  const Told identity = cloud_event(headers);

  std::vector<Header> repeated = headers;
  for (Header& header : repeated) header.value = "earlier";
  repeated.insert(repeated.end(), headers.begin(), headers.end());
  expect(cloud_event(repeated) == identity, "the last of repeated headers counts");

  const std::vector<std::string> names{"message-id", "id"};
  const auto by_name = [&](const std::vector<Header>& given) {
    return told(content, [&] { return header_identity(given, names, "s"); });
  };
  expect(by_name(repeated) == by_name(headers), "the last of repeated headers counts");
}

void check_json(std::string_view text) {
  const Told identity = told(text, [&] { return cloud_event_identity(text); });
  const auto member = [&](const char* pointer) {
    return told(text, [&] { return member_identity(text, pointer, "s"); });
  };
  if (identity.identity) {
    const Told id = member("/id");
    expect(id.refused || id.identity->id == identity.identity->id, "an event's id is its member id");
  }
  std::string canonical;
  try {
    canonical = canonical_json(text);
  } catch (const InvalidJson&) {
    expect(identity.refused, "what is no JSON names nothing");
    expect(member("/id").refused, "what is no JSON names nothing");
    return;
  }
  expect(told(text, [&] { return cloud_event_identity(canonical); }) == identity,
         "an event is that of its canonical form");
}

void check_member(Input input) {
  const std::string pointer{input.line()};
  const std::string_view payload = input.rest();
  try {
    const auto whole = std::vector{pointer};
    const JsonProjection names_a_place{whole, {}};
  } catch (const InvalidArgument&) {
    try {
      static_cast<void>(member_identity(payload, pointer, "s"));
      expect(false, "a pointer that is none is refused");
    } catch (const InvalidArgument&) {
      return;
    }
  }
  static_cast<void>(told(payload, [&] { return member_identity(payload, pointer, "s"); }));
}

void check_uuid(std::string_view text) {
  const auto uuid = Uuid::parse(text);
  if (!uuid) return;
  std::string lower{text};
  for (char& c : lower) c = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  expect(uuid->to_string() == lower, "a UUID is written as it was read, in lower case");
  if (const auto time = uuid_v7_time(*uuid)) {
    expect(make_uuid_v7(*time, std::span{uuid->bytes()}.last<10>()) == *uuid,
           "its time and bits make it again");
  }
}

std::string padded(std::int64_t number, std::size_t width) {
  const std::string digits = std::to_string(number);
  return std::string(width - std::min(width, digits.size()), '0') + digits;
}

void check_time(std::string_view text) {
  using namespace std::chrono;
  const auto time = detail::parse_rfc3339(text);
  if (!time) return;
  const auto day = floor<days>(*time);
  const year_month_day date{day};
  const hh_mm_ss clock{*time - day};
  if (date.year() < year{0} || date.year() > year{9999}) return;  // by its offset
  const std::string written =
      padded(static_cast<int>(date.year()), 4) + '-' + padded(static_cast<unsigned>(date.month()), 2) + '-' +
      padded(static_cast<unsigned>(date.day()), 2) + 'T' + padded(clock.hours().count(), 2) + ':' +
      padded(clock.minutes().count(), 2) + ':' + padded(clock.seconds().count(), 2) + '.' +
      padded(clock.subseconds().count(), 6) + 'Z';
  expect(detail::parse_rfc3339(written) == time, "a time is read back");
  const bool same_spelling =
      text.size() == 27 && text[10] == 'T' && text[26] == 'Z' && text.substr(17, 2) != "60";
  expect(!same_spelling || text == written, "a time is what its text says");
}

}  // namespace

void one_input(Input input) {
  switch (input.byte() % 4) {
    case 0:
      return check_headers(input);
    case 1:
      return check_json(input.rest());
    case 2:
      return check_member(input);
    default:
      check_uuid(input.rest());
      check_time(input.rest());
  }
}

}  // namespace idem::fuzz
