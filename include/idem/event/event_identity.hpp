// What makes two deliveries one event, and where messages carry it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "idem/base/clock.hpp"
#include "idem/response/response.hpp"

namespace idem {
inline namespace v0 {

/// An event's identity: two deliveries with equal source and id are one event (CloudEvents 1.0, `source` + `id`). Never
/// an offset, a delivery tag or a consumer group's position: those change when the same event is sent again.
struct EventIdentity {
  /// Who made the event, such as a CloudEvents source or the name of a topic: 1 to 1024 bytes of UTF-8 without NUL.
  std::string source;
  /// Unique within the source: 1 to 512 bytes of UTF-8 without NUL. Compared byte for byte.
  std::string id;
  /// When the event came to be, by its maker's clock. Where it is empty, an id that is a version 7 UUID tells it.
  std::optional<TimePoint> time{};

  friend bool operator==(const EventIdentity&, const EventIdentity&) = default;
};

/// Throws InvalidEvent, naming the part and its limit, where `identity` breaks one. Times are the years 1 to 9999.
void validate(const EventIdentity& identity);

/// The event's time: its own, or that inside an id that is a version 7 UUID; empty where there is neither.
[[nodiscard]] std::optional<TimePoint> time_of(const EventIdentity& identity);

// Each of these returns empty where the message does not carry the identity in that place, so that they can be tried in
// turn, and throws InvalidEvent where it does but is malformed. Pure; safe between threads.

/// Reads a CloudEvents 1.0 event in binary mode from a message's headers: `id`, `source` and `time` behind the prefix
/// `ce_` (Kafka), `ce-` (HTTP, in either case; values are unquoted and percent-decoded as
/// the HTTP binding says), `cloudEvents_` or `cloudEvents:` (AMQP). Where a header repeats, its last value
/// counts. Empty where there is no `specversion`; another one than 1.0 is malformed, and so is a missing id or source.
[[nodiscard]] std::optional<EventIdentity> cloud_event_identity(std::span<const Header> headers);

/// Reads a CloudEvents 1.0 event in structured mode (`application/cloudevents+json`): the members `id`, `source` and
/// `time` of the JSON object `text`. Empty where it has no `specversion`. Throws InvalidJson for text with no single
/// meaning, such as a member given twice. Reads at most 16 MiB.
[[nodiscard]] std::optional<EventIdentity> cloud_event_identity(std::string_view text);

/// Reads the id from the first of `names` that `headers` have, compared byte for byte; where that header repeats, its
/// last value counts. `source` says who made the events, such as the topic's name. Usual names: `id` (Debezium),
/// `message-id`, `event_id`, `eventId`.
[[nodiscard]] std::optional<EventIdentity> header_identity(std::span<const Header> headers,
                                                           std::span<const std::string> names,
                                                           std::string source);

/// Reads the id from the member of the JSON text `payload` at `pointer` (RFC 6901): a string, or an integer of 64 bits,
/// which is its digits. Empty where there is none or it is null. Throws InvalidJson as cloud_event_identity does, and
/// InvalidArgument for a pointer that is none.
[[nodiscard]] std::optional<EventIdentity> member_identity(std::string_view payload,
                                                           const std::string& pointer, std::string source);

}  // namespace v0
}  // namespace idem
