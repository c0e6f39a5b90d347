// The events that consumers have seen, in one pqxx transaction.
#pragma once

#include <memory>

#include "idem/event/inbox_store.hpp"

namespace pqxx {
class dbtransaction;
}

namespace idem {
inline namespace v0 {
namespace postgres {

struct Configuration;

class PostgresInboxStore final : public InboxStore {
 public:
  PostgresInboxStore(std::shared_ptr<const Configuration> configuration, pqxx::dbtransaction& tx);

 private:
  std::vector<Delivery> do_receive(std::string_view consumer, std::span<const EventIdentity> events,
                                   const InboxOptions& options) override;
  Versioned do_advance(std::string_view consumer, std::string_view entity, std::int64_t version) override;

  std::shared_ptr<const Configuration> configuration_;
  pqxx::dbtransaction* tx_;
};

}  // namespace postgres
}  // namespace v0
}  // namespace idem
