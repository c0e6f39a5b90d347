// The events that consumers have seen, in an in-memory database.
#pragma once

#include <utility>

#include "idem/event/inbox_store.hpp"
#include "idem/memory/detail/work.hpp"

namespace idem {
inline namespace v0 {
namespace memory {

class MemoryInboxStore final : public InboxStore {
 public:
  MemoryInboxStore(Observer* observer, detail::WorkLevel level)
      : InboxStore{observer}, level_{std::move(level)} {}

 private:
  std::vector<Delivery> do_receive(std::string_view consumer, std::span<const EventIdentity> events,
                                   const InboxOptions& options) override;
  Versioned do_advance(std::string_view consumer, std::string_view entity, std::int64_t version) override;

  detail::WorkLevel level_;
};

}  // namespace memory
}  // namespace v0
}  // namespace idem
