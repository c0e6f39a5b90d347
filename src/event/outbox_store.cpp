#include "idem/event/outbox_store.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "base/text_limits.hpp"
#include "idem/base/error.hpp"
#include "record/observed.hpp"
#include "response/headers.hpp"

namespace idem {
inline namespace v0 {
namespace {

std::size_t checked_bytes(const OutboxMessage& message, std::size_t max_bytes) {
  constexpr std::size_t longest_text = 255;
  detail::check_text("an event's aggregate type", message.aggregate_type, longest_text);
  detail::check_text("an event's aggregate id", message.aggregate_id, longest_text);
  detail::check_text("an event's type", message.event_type, longest_text);
  const std::size_t bytes = detail::check_headers("an event", message.headers) + message.payload.size();
  if (bytes > max_bytes) {
    throw InvalidArgument{"an event of " + std::to_string(bytes) + " bytes is over the limit of " +
                          std::to_string(max_bytes)};
  }
  return bytes;
}

}  // namespace

std::vector<std::byte> text_payload(std::string_view text) {
  std::vector<std::byte> bytes;
  bytes.reserve(text.size());
  std::ranges::transform(text, std::back_inserter(bytes), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

std::vector<Uuid> OutboxStore::append(std::span<const OutboxMessage> messages) {
  const auto call = [&] {
    if (messages.size() > most_messages) {
      throw InvalidArgument{"at most " + std::to_string(most_messages) + " events can be appended at once"};
    }
    std::size_t bytes = 0;
    for (const OutboxMessage& message : messages) bytes += checked_bytes(message, max_event_bytes_);
    if (bytes > most_bytes) {
      throw InvalidArgument{"the events of one call must not be over " + std::to_string(most_bytes) +
                            " bytes together"};
    }
    return messages.empty() ? std::vector<Uuid>{} : do_append(messages);
  };
  return detail::observed_each(
      observer_, messages.size(), call,
      [&](std::size_t at) {
        const OutboxMessage& message = messages[at];
        return Key{message.aggregate_type, message.event_type, message.aggregate_id};
      },
      [](const std::vector<Uuid>&, std::size_t) { return Observed::appended; });
}

}  // namespace v0
}  // namespace idem
