// The outbox of an in-memory database.
#pragma once

#include <utility>

#include "idem/event/outbox_store.hpp"
#include "idem/memory/detail/work.hpp"

namespace idem {
inline namespace v0 {
namespace memory {

/// The outbox on an in-memory transaction, made by Database::outbox_store(). What was appended is seen by
/// Database::outbox_events(). Belongs to its transaction's thread.
class OutboxStore final : public idem::OutboxStore {
 private:
  friend class Database;
  OutboxStore(Observer* observer, detail::WorkLevel level)
      : idem::OutboxStore{observer}, level_{std::move(level)} {}

  std::vector<Uuid> do_append(std::span<const OutboxMessage> messages) override;

  detail::WorkLevel level_;
};

}  // namespace memory
}  // namespace v0
}  // namespace idem
