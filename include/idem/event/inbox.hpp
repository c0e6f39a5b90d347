// Redelivered events take effect once: the event is marked as seen in the transaction of its effect.
#pragma once

#include <algorithm>
#include <concepts>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "idem/event/inbox_store.hpp"

namespace idem {
inline namespace v0 {

/// An event that says who it is: its member `identity` is an EventIdentity.
template <class Event>
concept Identified = requires(const Event& event) {
  { event.identity } -> std::convertible_to<const EventIdentity&>;
};

/// Whoever handles events. Its `name` is stored with each event that it has seen: give it another name, and every event
/// that is delivered again is new to it.
template <class Consumer>
concept NamedConsumer = requires {
  { Consumer::name } -> std::convertible_to<std::string_view>;
};

/// Handles one event in the transaction that marks it as seen.
template <class Consumer, class Tx, class Event>
concept AppliesEvent = requires(Consumer& consumer, Tx& tx, const Event& event) {
  consumer.apply(tx, event);
};

/// Handles all new events of a batch at once, where one statement can do what many would.
template <class Consumer, class Tx, class Event>
concept AppliesBatch = requires(Consumer& consumer, Tx& tx, std::span<const Event* const> events) {
  consumer.apply_batch(tx, events);
};

namespace detail {

// Does an event's effect in the transaction that says it is done: neither is committed without the other.
template <class Backend, class Tx, class Work>
void run_consumer(const Backend& backend, Tx& tx, const Work& work) {
  try {
    work();
    // The consumer may have swallowed what aborted the transaction: then nothing is applied.
    backend.check_committable(tx);
  } catch (...) {
    backend.make_uncommittable(tx);
    throw;
  }
}

}  // namespace detail

/// Delivers each event to its consumer once, however often it comes.
///
///     struct Enrolment {
///       static constexpr std::string_view name = "enrolment";
///       void apply(pqxx::dbtransaction& tx, const PaymentAuthorized& event);   // writes in tx, and nowhere else
///     };
///     Enrolment enrolment;
///     idem::Inbox inbox{backend, enrolment};
///     pqxx::work tx{connection};
///     const idem::Delivery delivery = inbox.deliver(tx, event);
///     tx.commit();                                                             // acknowledge the message after this
///
/// Two consumers each see the event. A consumer with an effect outside the database has no transaction that could hold
/// both: the inbox is not enough for it. Backend and consumer must outlive the inbox, which is as safe between threads as
/// the consumer; each call has a transaction of its own.
template <class Consumer, class Backend>
class Inbox {
  static_assert(NamedConsumer<Consumer>,
                "a consumer has a static member `name`, which is stored with its events");

 public:
  /// Throws InvalidArgument where the options break a limit.
  Inbox(const Backend& backend, Consumer& consumer, InboxOptions options = {})
      : backend_{backend}, consumer_{consumer}, options_{options} {
    validate(options_);
  }
  /// A backend that ends with the expression.
  Inbox(const Backend&& backend, Consumer& consumer, InboxOptions options = {}) = delete;

  /// Calls `consumer.apply(tx, event)` if this consumer has not seen the event, in the caller's transaction: if that
  /// rolls back, the event is unseen again.
  ///
  /// - applied: the consumer ran. Not durable until you commit; acknowledge the message after that.
  /// - duplicate: it was applied before, and the consumer was not called. Commit or roll back, and acknowledge.
  /// - beyond_horizon: it cannot be proven unseen, and the consumer was not called. Put it where somebody decides.
  ///
  /// A delivery of the same event that is being applied elsewhere is waited for. Never commits. Whatever the consumer
  /// throws is passed on, and the transaction can then commit nothing, also where the exception is swallowed: the event
  /// is not lost. Roll back, and have it delivered again. A consumer that swallows a database error, which aborts the
  /// transaction, is told of by TransactionClosed here or by commit(). Throws what InboxStore::receive() throws.
  template <class Tx, Identified Event>
  requires AppliesEvent<Consumer, Tx, Event>
  [[nodiscard]] Delivery deliver(Tx& tx, const Event& event) {
    const auto store = backend_.inbox_store(tx);
    const EventIdentity& identity = event.identity;
    const Delivery delivery = store->receive(Consumer::name, {&identity, 1}, options_).front();
    if (delivery == Delivery::applied)
      detail::run_consumer(backend_, tx, [&] { consumer_.apply(tx, event); });
    return delivery;
  }

  /// Delivers up to InboxStore::most_events events in one transaction, and says of each, in order, what became of it:
  /// the first of equal ones is `applied`, later ones are `duplicate`. (Equal ones that differ in their time are judged
  /// by the time of the first.)
  ///
  /// The consumer gets the new ones in the order given: all at once where it has `apply_batch(tx, events)`, with `events`
  /// a `std::span<const Event* const>`, otherwise one by one. One that fails fails the whole: roll back, and deliver them
  /// one by one, so that the others are not held up. Otherwise as deliver().
  template <class Tx, std::ranges::contiguous_range Events>
  requires Identified<std::ranges::range_value_t<Events>>
  [[nodiscard]] std::vector<Delivery> deliver_batch(Tx& tx, const Events& events) {
    using Event = std::ranges::range_value_t<Events>;
    static_assert(AppliesBatch<Consumer, Tx, Event> || AppliesEvent<Consumer, Tx, Event>,
                  "the consumer has apply(tx, event) or apply_batch(tx, events)");
    std::vector<EventIdentity> identities;
    identities.reserve(std::ranges::size(events));
    for (const Event& event : events) identities.push_back(event.identity);
    const auto store = backend_.inbox_store(tx);
    std::vector<Delivery> deliveries = store->receive(Consumer::name, identities, options_);

    if (std::ranges::find(deliveries, Delivery::applied) == deliveries.end()) return deliveries;
    detail::run_consumer(backend_, tx, [&] {
      std::vector<const Event*> news;
      for (std::size_t i = 0; i < deliveries.size(); ++i) {
        if (deliveries[i] == Delivery::applied) news.push_back(std::ranges::data(events) + i);
      }
      if constexpr (AppliesBatch<Consumer, Tx, Event>) {
        consumer_.apply_batch(tx, std::span<const Event* const>{news});
      } else {
        for (const Event* event : news) consumer_.apply(tx, *event);
      }
    });
    return deliveries;
  }

 private:
  const Backend& backend_;
  Consumer& consumer_;
  InboxOptions options_;
};

}  // namespace v0
}  // namespace idem
