#include "memory/outbox_store.hpp"

#include <chrono>
#include <memory>

#include "idem/memory/detail/shared.hpp"

namespace idem {
inline namespace v0 {
namespace memory {

std::vector<Uuid> MemoryOutboxStore::do_append(std::span<const OutboxMessage> messages) {
  detail::Work& work = *level_.work;
  detail::Shared& shared = work.shared();
  const detail::Work::Lock lock = work.enter(level_.level);
  const TimePoint now = shared.clock->now();
  std::vector<Uuid> ids;
  ids.reserve(messages.size());
  for (const OutboxMessage& message : messages) {
    const Uuid id = random_uuid_v7(std::chrono::floor<std::chrono::milliseconds>(now));
    const std::int64_t sequence = ++shared.last_sequence;
    shared.outbox.write(work, sequence,
                        std::make_shared<const OutboxEvent>(OutboxEvent{id, message, sequence, now}));
    ids.push_back(id);
  }
  return ids;
}

}  // namespace memory
}  // namespace v0
}  // namespace idem
