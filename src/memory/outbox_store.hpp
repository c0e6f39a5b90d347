// The outbox of an in-memory database.
#pragma once

#include <utility>

#include "idem/event/outbox_store.hpp"
#include "idem/memory/detail/work.hpp"

namespace idem {
inline namespace v0 {
namespace memory {

class MemoryOutboxStore final : public OutboxStore {
 public:
  MemoryOutboxStore(Observer* observer, detail::WorkLevel level)
      : OutboxStore{observer}, level_{std::move(level)} {}

 private:
  std::vector<Uuid> do_append(std::span<const OutboxMessage> messages) override;

  detail::WorkLevel level_;
};

}  // namespace memory
}  // namespace v0
}  // namespace idem
