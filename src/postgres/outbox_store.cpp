#include "postgres/outbox_store.hpp"

#include <string>
#include <utility>

#include "event/outbox_shard.hpp"
#include "idem/base/error.hpp"
#include "postgres/configuration.hpp"
#include "postgres/row.hpp"
#include "postgres/sql.hpp"

namespace idem {
inline namespace v0 {
namespace postgres {
namespace {

// Where a version 7 UUID's 48 bits of time end, in its text.
constexpr std::size_t time_end = 13;

}  // namespace

PostgresOutboxStore::PostgresOutboxStore(std::shared_ptr<const Configuration> configuration,
                                         pqxx::dbtransaction& tx)
    : OutboxStore{configuration->options.observer.get(), configuration->options.max_event_bytes},
      configuration_{std::move(configuration)},
      tx_{&tx} {}

std::vector<Uuid> PostgresOutboxStore::do_append(std::span<const OutboxMessage> messages) {
  std::vector<std::vector<Literal>> rows;
  std::vector<std::string> random_parts;
  rows.reserve(messages.size());
  for (const OutboxMessage& message : messages) {
    // The time in it is the server's, which it puts before the rest.
    random_parts.push_back(random_uuid_v7({}).to_string().substr(time_end));
    const std::string headers = encode_headers(message.headers);
    rows.push_back({Literal{static_cast<std::int64_t>(rows.size())}, Literal{*tx_, random_parts.back()},
                    Literal{detail::outbox_shard(message.aggregate_type, message.aggregate_id)},
                    Literal{*tx_, message.aggregate_type}, Literal{*tx_, message.aggregate_id},
                    Literal{*tx_, message.event_type}, Literal{message.payload},
                    Literal{std::as_bytes(std::span{headers.data(), headers.size()})}});
  }
  const pqxx::result made = run(*tx_, filled(configuration_->statements.append, {Literal::values(rows)}));
  // One statement, so one time for all.
  const auto time = made[0][0].as<std::string>();
  std::vector<Uuid> ids;
  ids.reserve(messages.size());
  for (const std::string& random_part : random_parts) ids.push_back(Uuid::parse(time + random_part).value());
  return ids;
}

}  // namespace postgres
}  // namespace v0
}  // namespace idem
