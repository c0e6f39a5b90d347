#include "idem/event/inbox_store.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>

#include "base/text_limits.hpp"
#include "base/time_limit.hpp"
#include "idem/base/error.hpp"
#include "record/observed.hpp"

namespace idem {
inline namespace v0 {
namespace {

auto place(const EventIdentity& identity) {
  return std::tie(identity.source, identity.id);
}

Observed observed_as(Delivery delivery) {
  switch (delivery) {
    case Delivery::applied:
      return Observed::applied;
    case Delivery::duplicate:
      return Observed::duplicate;
    case Delivery::beyond_horizon:
      return Observed::beyond_horizon;
  }
  return Observed::error;
}

void check_consumer(std::string_view consumer) {
  detail::check_text("a consumer's name", consumer, 255);
}

}  // namespace

std::string_view to_string(Delivery delivery) noexcept {
  return to_string(observed_as(delivery));
}

std::string_view to_string(Versioned versioned) noexcept {
  return to_string(versioned == Versioned::applied ? Observed::applied : Observed::not_newer);
}

std::vector<Delivery> InboxStore::receive(std::string_view consumer, std::span<const EventIdentity> events,
                                          const InboxOptions& options) {
  const auto call = [&] {
    check_consumer(consumer);
    validate(options);
    if (events.size() > most_events) {
      throw InvalidArgument{"a batch must have at most " + std::to_string(most_events) + " events"};
    }
    for (const EventIdentity& event : events) validate(event);

    // In one order for every batch, each identity once, and where an identity comes twice its first place counts.
    std::vector<std::size_t> order(events.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
      return place(events[left]) < place(events[right]);
    });
    std::vector<EventIdentity> distinct;
    std::vector<std::size_t> which(events.size());  // of `distinct`, for each event
    std::vector<bool> first(events.size());
    for (const std::size_t at : order) {
      if (distinct.empty() || place(distinct.back()) != place(events[at])) {
        distinct.push_back(events[at]);
        distinct.back().time = time_of(events[at]);
        first[at] = true;
      }
      which[at] = distinct.size() - 1;
    }

    const std::vector<Delivery> answers =
        distinct.empty() ? std::vector<Delivery>{} : do_receive(consumer, distinct, options);
    std::vector<Delivery> deliveries(events.size());
    for (std::size_t at = 0; at < events.size(); ++at) {
      const Delivery answer = answers.at(which[at]);
      deliveries[at] = answer == Delivery::applied && !first[at] ? Delivery::duplicate : answer;
    }
    return deliveries;
  };
  return detail::observed_each(
      observer_, events.size(), call,
      [&](std::size_t at) {
        return Key{events[at].source, std::string{consumer}, events[at].id};
      },
      [](const std::vector<Delivery>& deliveries, std::size_t at) { return observed_as(deliveries[at]); });
}

Versioned InboxStore::advance(std::string_view consumer, std::string_view entity, std::int64_t version) {
  const auto call = [&] {
    check_consumer(consumer);
    try {
      detail::check_text("an event's entity", entity, 1024);
    } catch (const InvalidArgument& refused) {
      throw InvalidEvent{refused.what()};
    }
    return do_advance(consumer, entity, version);
  };
  if (observer_ == nullptr) return call();
  const Key key{std::string{entity}, std::string{consumer}, std::to_string(version)};
  return detail::observed(observer_, key, call, [](Versioned versioned) {
    return versioned == Versioned::applied ? Observed::applied : Observed::not_newer;
  });
}

void validate(const InboxOptions& options) {
  using std::chrono::milliseconds;
  if (options.horizon < milliseconds{0} || options.horizon > detail::longest_time) {
    throw InvalidArgument{"horizon must be at least 0 and at most ten years"};
  }
  if (options.skew < milliseconds{0} || options.skew > detail::longest_time) {
    throw InvalidArgument{"skew must be at least 0 and at most ten years"};
  }
}

}  // namespace v0
}  // namespace idem
