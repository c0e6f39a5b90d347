// Events leave with the business row: appended in its transaction, published by a relay after the commit.
#pragma once

#include <ranges>
#include <span>
#include <vector>

#include "idem/event/outbox_store.hpp"

namespace idem {
inline namespace v0 {

/// Appends events in the caller's transaction, so that an event is there exactly where the business row is.
///
///     idem::Outbox outbox{backend};
///     pqxx::work tx{connection};
///     tx.exec("UPDATE payment SET state = 'AUTHORIZED' WHERE …");
///     outbox.append(tx, {"payment", payment_id, "PaymentAuthorized", idem::text_payload(json)});
///     tx.commit();
///
/// Append under the aggregate's row lock (after an UPDATE of its row, or a SELECT … FOR UPDATE): its events are then
/// published in the order of their commits. The backend must outlive it. Safe between threads; each call has a transaction
/// of its own.
template <class Backend>
class Outbox {
 public:
  explicit Outbox(const Backend& backend) noexcept : backend_{backend} {}
  /// A backend that ends with the expression.
  explicit Outbox(const Backend&& backend) = delete;

  /// Appends one event and returns the id that it is published under. Rolled back with the transaction; durable when you
  /// commit. Throws what OutboxStore::append() throws.
  template <class Tx>
  Uuid append(Tx& tx, const OutboxMessage& message) const {
    return backend_.outbox_store(tx)->append({&message, 1}).front();
  }

  /// Appends several events in order, in one statement. Otherwise as the other.
  template <class Tx, std::ranges::contiguous_range Messages>
  requires std::same_as<std::ranges::range_value_t<Messages>, OutboxMessage> std::vector<Uuid> append(
      Tx& tx, const Messages& messages)
  const { return backend_.outbox_store(tx)->append(std::span<const OutboxMessage>{messages}); }

 private:
  const Backend& backend_;
};

}  // namespace v0
}  // namespace idem
