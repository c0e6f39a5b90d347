// The outbox in one pqxx transaction.
#pragma once

#include <memory>

#include "idem/event/outbox_store.hpp"

namespace pqxx {
class dbtransaction;
}

namespace idem {
inline namespace v0 {
namespace postgres {

struct Configuration;

class PostgresOutboxStore final : public OutboxStore {
 public:
  PostgresOutboxStore(std::shared_ptr<const Configuration> configuration, pqxx::dbtransaction& tx);

 private:
  std::vector<Uuid> do_append(std::span<const OutboxMessage> messages) override;

  std::shared_ptr<const Configuration> configuration_;
  pqxx::dbtransaction* tx_;
};

}  // namespace postgres
}  // namespace v0
}  // namespace idem
