#include "idem/postgres/repair.hpp"

#include "base/text_limits.hpp"
#include "idem/base/error.hpp"
#include "idem/base/uuid.hpp"
#include "postgres/row.hpp"
#include "postgres/sql.hpp"
#include "postgres/statements.hpp"

namespace idem {
inline namespace v0 {
namespace postgres {
namespace {

void check_limit(std::size_t limit, std::size_t most) {
  if (limit < 1 || limit > most) {
    throw InvalidArgument{"the limit must be 1 to " + std::to_string(most) + " repairs"};
  }
}

Uuid uuid_from(const std::string& text) {
  const auto uuid = Uuid::parse(text);
  if (!uuid) throw InvalidArgument{"a repair's key must be a UUID of 36 characters"};
  return *uuid;
}

}  // namespace

bool queue_repair(pqxx::dbtransaction& tx, const Names& names, const Finding& finding, const std::string& who,
                  Settlement settlement) {
  detail::check_text("who queues a repair", who, 255);
  const auto as = repairable_as(finding, settlement);
  if (!as) throw InvalidArgument{"the finding cannot be repaired: a person has to look at it"};
  const OurSide& ours = *finding.ours;
  validate(ours.key);
  std::optional<std::int64_t> amount;
  std::optional<std::string> reference;
  std::optional<TimePoint> at;
  if (finding.entry) {
    validate(*finding.entry);
    amount = finding.entry->amount;
    reference = finding.entry->reference;
    at = finding.entry->at;
  }
  const pqxx::result rows =
      run(tx, filled(RepairStatements{names}.queue,
                     {Literal{uuid_from(repair_key(finding, *as))}, Literal{tx, ours.key.principal},
                      Literal{tx, ours.key.operation}, Literal{tx, ours.key.value},
                      Literal{ours.holder.fence}, Literal{ours.holder.attempt}, Literal{ours.generation},
                      Literal{uuid_from(ours.downstream_key)}, Literal{static_cast<std::int64_t>(*as)},
                      Literal{amount}, Literal{tx, reference}, Literal{at}, Literal{tx, who}}));
  return !rows.empty();
}

std::vector<Repair> list_repairs(pqxx::dbtransaction& tx, const Names& names, const RepairFilter& filter) {
  check_limit(filter.limit, 1'000'000);
  if (filter.operation) detail::check_text("the operation", *filter.operation, max_key_part_bytes);
  const auto after_time = filter.after ? std::optional{filter.after->queued_at} : std::nullopt;
  return read_repairs(
      run(tx, filled(RepairStatements{names}.list,
                     {Literal{tx, filter.operation}, Literal{filter.with_done}, Literal{after_time},
                      filter.after ? Literal{uuid_from(filter.after->repair_key)}
                                   : Literal{tx, std::optional<std::string>{}},
                      Literal{static_cast<std::int64_t>(filter.limit)}})));
}

std::vector<Repair> next_repairs(pqxx::dbtransaction& tx, const Names& names, const std::string& operation,
                                 std::size_t limit) {
  check_limit(limit, 10'000);
  detail::check_text("the operation", operation, max_key_part_bytes);
  return read_repairs(run(tx, filled(RepairStatements{names}.next,
                                     {Literal{tx, operation}, Literal{static_cast<std::int64_t>(limit)}})));
}

bool lock_repair(pqxx::dbtransaction& tx, const Names& names, const std::string& repair_key) {
  return !run(tx, filled(RepairStatements{names}.lock, {Literal{uuid_from(repair_key)}})).empty();
}

bool finish_repair(pqxx::dbtransaction& tx, const Names& names, const std::string& repair_key,
                   const std::string& note) {
  detail::check_text("a repair's note", note, 1000);
  const pqxx::result rows =
      run(tx, filled(RepairStatements{names}.finish, {Literal{uuid_from(repair_key)}, Literal{tx, note}}));
  return !rows.empty();
}

}  // namespace postgres
}  // namespace v0
}  // namespace idem
