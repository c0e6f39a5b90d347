#include "idem/postgres/backend.hpp"
#include "postgres/configuration.hpp"
#include "postgres/sql.hpp"

namespace idem {
inline namespace v0 {
namespace postgres {
namespace {

PurgedBatch purge(pqxx::dbtransaction& tx, const std::string& statement, const std::string& table,
                  const PurgeBatch& batch) {
  const pqxx::result rows =
      run(tx, filled(statement, {Literal{batch.older_than}, Literal{static_cast<std::int64_t>(batch.from)},
                                 Literal{static_cast<std::int64_t>(batch.from + batch.places)},
                                 Literal{static_cast<std::int64_t>(batch.most_rows)}, Literal{tx, table}}));
  return {rows[0][0].as<std::size_t>(), rows[0][1].as<bool>()};
}

}  // namespace

PurgedBatch Backend::purge_records(pqxx::dbtransaction& tx, const PurgeBatch& batch) const {
  const Names& names = configuration_->options.names;
  return purge(tx, configuration_->statements.purge_records, qualified(names, names.record), batch);
}

PurgedBatch Backend::purge_inbox(pqxx::dbtransaction& tx, const PurgeBatch& batch) const {
  const Names& names = configuration_->options.names;
  return purge(tx, configuration_->statements.purge_inbox, qualified(names, names.inbox), batch);
}

}  // namespace postgres
}  // namespace v0
}  // namespace idem
