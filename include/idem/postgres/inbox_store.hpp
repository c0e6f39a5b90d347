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

/// The inbox and the version guard as one `pqxx` transaction sees and changes them; made by Backend::inbox_store.
/// Otherwise as Store.
class InboxStore final : public idem::InboxStore {
 public:
  InboxStore(std::shared_ptr<const Configuration> configuration, pqxx::dbtransaction& tx);

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
