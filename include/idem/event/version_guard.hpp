// Events that carry the whole state: only a newer one is applied.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "idem/event/inbox.hpp"

namespace idem {
inline namespace v0 {

/// An event that says what it is about and which version of that it carries: `entity`, such as an account's number, and
/// `version`, which grows with each change of that entity.
template <class Event>
concept VersionedEvent = requires(const Event& event) {
  { event.entity } -> std::convertible_to<std::string_view>;
  { event.version } -> std::convertible_to<std::int64_t>;
};

/// Applies an event only where its version is greater than what was applied of its entity: one guard against duplicates
/// and against events that overtake each other.
///
/// For events that carry the entity's whole state: a version that was skipped is never applied afterwards. Events that
/// carry changes need every one of them: Inbox. One row is kept for each consumer and entity, for as long as the entity
/// may have events; nothing purges it. Backend and consumer must outlive the guard, which is as safe between threads as
/// the consumer; each call has a transaction of its own.
template <class Consumer, class Backend>
class VersionGuard {
  static_assert(NamedConsumer<Consumer>,
                "a consumer has a static member `name`, which is stored with its versions");

 public:
  VersionGuard(const Backend& backend, Consumer& consumer) : backend_{backend}, consumer_{consumer} {}
  /// A backend that ends with the expression.
  VersionGuard(const Backend&& backend, Consumer& consumer) = delete;

  /// Calls `consumer.apply(tx, event)` if the event's version is greater than the last one applied, in the caller's
  /// transaction: if that rolls back, so does the recorded version.
  ///
  /// - applied: the consumer ran. Not durable until you commit; acknowledge the message after that.
  /// - not_newer: this version or a greater one was applied before, and the consumer was not called. Acknowledge it.
  ///
  /// Concurrent deliveries of one entity wait for each other, so that two versions in either order end at the greater.
  /// Never commits. Whatever the consumer throws is passed on, and the transaction can then commit nothing, also where
  /// the exception is swallowed. Throws what InboxStore::advance() throws.
  template <class Tx, VersionedEvent Event>
  requires AppliesEvent<Consumer, Tx, Event>
  [[nodiscard]] Versioned deliver(Tx& tx, const Event& event) {
    const auto store = backend_.inbox_store(tx);
    const Versioned versioned = store->advance(Consumer::name, event.entity, event.version);
    if (versioned == Versioned::applied) {
      detail::run_consumer(backend_, tx, [&] { consumer_.apply(tx, event); });
    }
    return versioned;
  }

 private:
  const Backend& backend_;
  Consumer& consumer_;
};

}  // namespace v0
}  // namespace idem
