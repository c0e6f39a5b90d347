// One transaction's view of the events that leave with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "idem/base/clock.hpp"
#include "idem/base/uuid.hpp"
#include "idem/record/observer.hpp"
#include "idem/response/response.hpp"

namespace idem {
inline namespace v0 {

/// An event as its maker gives it to the outbox. Each text is 1 to 255 bytes of UTF-8 without NUL.
struct OutboxMessage {
  /// The kind of thing that the event is about, such as "payment".
  std::string aggregate_type;
  /// Which one. Events of one aggregate, type and id together, are published in order.
  std::string aggregate_id;
  /// What happened, such as "PaymentAuthorized".
  std::string event_type;
  /// Published as it is, byte for byte; may be empty. Never a card number or a token.
  std::vector<std::byte> payload;
  /// Published beside it. Names and values as for a stored response.
  std::vector<Header> headers{};

  friend bool operator==(const OutboxMessage&, const OutboxMessage&) = default;
};

/// A payload from text.
[[nodiscard]] std::vector<std::byte> text_payload(std::string_view text);

/// An event that is in the outbox.
struct OutboxEvent {
  /// A version 7 UUID by the store's clock. It stays the same however often the event is published: what an Inbox knows
  /// the event by.
  Uuid id;
  OutboxMessage message;
  /// Grows within a transaction, in the order of appending. Between transactions it says nothing of who committed first.
  std::int64_t sequence = 0;
  TimePoint created_at{};
};

/// The outbox as one transaction of the caller's appends to it; what Outbox stands on.
///
/// Every row belongs to that transaction and is rolled back with it. Never begins, commits or rolls back, leaves no setting
/// changed, and must not outlive the transaction. Not thread-safe: a transaction and its store belong to one thread at a
/// time.
class OutboxStore {
 public:
  virtual ~OutboxStore() = default;

  /// Appends the messages, in order, and says under which ids they will be published. Rolled back with the transaction. At
  /// most `most_messages` at once; none is no call to the store.
  ///
  /// Throws InvalidArgument before anything is sent, for a text, a header or a size beyond a limit; TransactionClosed
  /// outside an open transaction; and what the database throws.
  [[nodiscard]] std::vector<Uuid> append(std::span<const OutboxMessage> messages);

  static constexpr std::size_t most_messages = 10'000;
  /// Payloads and headers of one call together.
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

 protected:
  static constexpr std::size_t default_max_event_bytes = std::size_t{1} << 20;

  /// `observer` may be null; otherwise it must outlive the store. A message over `max_event_bytes` is refused.
  explicit OutboxStore(Observer* observer = nullptr,
                       std::size_t max_event_bytes = default_max_event_bytes) noexcept
      : observer_{observer}, max_event_bytes_{max_event_bytes} {}
  OutboxStore(const OutboxStore&) = default;
  OutboxStore& operator=(const OutboxStore&) = default;

 private:
  // Sees at least one message, and only such as were checked.
  virtual std::vector<Uuid> do_append(std::span<const OutboxMessage> messages) = 0;

  Observer* observer_;
  std::size_t max_event_bytes_;
};

}  // namespace v0
}  // namespace idem
