// The records of one pqxx transaction.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "idem/record/store.hpp"

namespace pqxx {
class dbtransaction;
}

namespace idem {
inline namespace v0 {
namespace postgres {

struct Configuration;

class PostgresStore final : public IdempotencyStore {
 public:
  PostgresStore(std::shared_ptr<const Configuration> configuration, pqxx::dbtransaction& tx);

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

  std::shared_ptr<const Configuration> configuration_;
  pqxx::dbtransaction* tx_;
};

}  // namespace postgres
}  // namespace v0
}  // namespace idem
