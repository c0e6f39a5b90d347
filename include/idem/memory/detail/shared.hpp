// What the transactions of one in-memory database share.
#pragma once

#include <compare>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "idem/base/clock.hpp"
#include "idem/event/outbox_store.hpp"
#include "idem/memory/detail/rows.hpp"
#include "idem/memory/detail/work.hpp"
#include "idem/memory/lost_commit.hpp"
#include "idem/record/record.hpp"

namespace idem {
inline namespace v0 {
namespace memory::detail {

// A record, and the transaction that reserved it last.
struct StoredRecord {
  Record record;
  std::uint64_t reserved_in = 0;
};

// A consumer and its event; a consumer and its entity.
struct SeenEvent {
  std::string consumer;
  std::string source;
  std::string id;
  friend auto operator<=>(const SeenEvent&, const SeenEvent&) = default;
};
struct GuardedEntity {
  std::string consumer;
  std::string entity;
  friend auto operator<=>(const GuardedEntity&, const GuardedEntity&) = default;
};

struct Receipt {
  TimePoint received_at;
  TimePoint keep_until;
};

struct Shared {
  explicit Shared(std::shared_ptr<const Clock> its_clock) : clock{std::move(its_clock)} {}

  const std::shared_ptr<const Clock> clock;
  std::mutex mutex;  // guards all that follows, and the rows of every table
  Rows<Key, StoredRecord> records;
  Rows<SeenEvent, Receipt> inbox;
  Rows<GuardedEntity, std::int64_t> versions;
  Rows<std::int64_t, OutboxEvent> outbox;  // by sequence
  std::int64_t last_sequence = 0;
  std::int64_t last_fence = 0;  // fences grow also while a test's clock stands still
  std::uint64_t last_work = 0;
  std::vector<Work*> waiting;
  std::condition_variable rows_given_up;
  std::optional<LostCommit> lose_next_commit;
};

}  // namespace memory::detail
}  // namespace v0
}  // namespace idem
