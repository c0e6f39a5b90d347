#include "memory/inbox_store.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "idem/memory/detail/shared.hpp"

namespace idem {
inline namespace v0 {
namespace memory {
namespace {

// The row, once no other transaction holds it.
template <class Key, class Value>
auto free(detail::Work& work, detail::Work::Lock& lock, const detail::Rows<Key, Value>& rows,
          const Key& key) {
  while (const detail::Work* other = rows.other_holder(work, key)) work.wait_for(lock, *other);
  return rows.seen_by(work, key);
}

bool in_time(const std::optional<TimePoint>& made_at, TimePoint now, const InboxOptions& options) {
  const bool age_unknown = !made_at || *made_at > now + options.skew;
  return age_unknown ? options.unknown_age == UnknownAge::apply : *made_at + options.horizon >= now;
}

}  // namespace

std::vector<Delivery> MemoryInboxStore::do_receive(std::string_view consumer,
                                                   std::span<const EventIdentity> events,
                                                   const InboxOptions& options) {
  detail::Work& work = *level_.work;
  detail::Shared& shared = work.shared();
  detail::Work::Lock lock = work.enter(level_.level);
  std::vector<Delivery> deliveries;
  deliveries.reserve(events.size());
  for (const EventIdentity& event : events) {
    const detail::SeenEvent seen{std::string{consumer}, event.source, event.id};
    TimePoint now = shared.clock->now();
    // What is too old is not marked, so it waits for nobody.
    if (in_time(event.time, now, options)) {
      if (free(work, lock, shared.inbox, seen)) {
        deliveries.push_back(Delivery::duplicate);
        continue;
      }
      now = shared.clock->now();
      const TimePoint keep_until = std::max(now, event.time.value_or(now)) + options.horizon + options.skew;
      shared.inbox.write(work, seen,
                         std::make_shared<const detail::Receipt>(detail::Receipt{now, keep_until}));
      deliveries.push_back(Delivery::applied);
    } else {
      const bool known = shared.inbox.seen_by(work, seen) != nullptr;
      deliveries.push_back(known ? Delivery::duplicate : Delivery::beyond_horizon);
    }
  }
  return deliveries;
}

Versioned MemoryInboxStore::do_advance(std::string_view consumer, std::string_view entity,
                                       std::int64_t version) {
  detail::Work& work = *level_.work;
  detail::Shared& shared = work.shared();
  detail::Work::Lock lock = work.enter(level_.level);
  const detail::GuardedEntity guarded{std::string{consumer}, std::string{entity}};
  const auto last = free(work, lock, shared.versions, guarded);
  if (last && *last >= version) return Versioned::not_newer;
  shared.versions.write(work, guarded, std::make_shared<const std::int64_t>(version));
  return Versioned::applied;
}

}  // namespace memory
}  // namespace v0
}  // namespace idem
