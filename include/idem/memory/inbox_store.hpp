// The events that consumers have seen, in an in-memory database.
#pragma once

#include <utility>

#include "idem/event/inbox_store.hpp"
#include "idem/memory/detail/work.hpp"

namespace idem {
inline namespace v0 {
namespace memory {

/// The inbox and the version guard on an in-memory transaction, made by Database::inbox_store(). As on PostgreSQL under
/// READ COMMITTED, another transaction's uncommitted mark or version is waited for; a wait that would never end throws
/// TransactionConflict. Belongs to its transaction's thread.
class InboxStore final : public idem::InboxStore {
 private:
  friend class Database;
  InboxStore(Observer* observer, detail::WorkLevel level)
      : idem::InboxStore{observer}, level_{std::move(level)} {}

  std::vector<Delivery> do_receive(std::string_view consumer, std::span<const EventIdentity> events,
                                   const InboxOptions& options) override;
  Versioned do_advance(std::string_view consumer, std::string_view entity, std::int64_t version) override;

  detail::WorkLevel level_;
};

}  // namespace memory
}  // namespace v0
}  // namespace idem
