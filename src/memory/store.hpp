// The records of an in-memory database as one transaction sees them.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include "idem/memory/detail/work.hpp"
#include "idem/record/store.hpp"

namespace idem {
inline namespace v0 {
namespace memory {

class MemoryStore final : public IdempotencyStore {
 public:
  MemoryStore(Observer* observer, std::size_t max_response_bytes, const ResponseRules& rules,
              detail::WorkLevel level)
      : IdempotencyStore{observer, max_response_bytes, &rules}, level_{std::move(level)} {}

 private:
  Reservation do_reserve(const Key& key, const Fingerprint& fingerprint,
                         const ReserveOptions& options) override;
  TimePoint do_settle(const Lease& lease, State state, const Response& response) override;
  void do_mark_unknown(const Lease& lease, const Response& response) override;
  void do_hold(const Lease& lease) override;
  void do_mark_sent(const Lease& lease) override;
  TimePoint do_renew(const Lease& held, std::chrono::milliseconds lease) override;
  void do_lapse(const Lease& lease) override;
  void do_release(const Lease& lease) override;
  TimePoint do_resolve(const Key& key, const Holder& holder, State state, const Response& response,
                       const Resolution& resolution) override;
  std::optional<Record> do_find(const Key& key) override;

  detail::WorkLevel level_;
};

}  // namespace memory
}  // namespace v0
}  // namespace idem
