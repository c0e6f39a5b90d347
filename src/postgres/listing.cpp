#include "idem/postgres/listing.hpp"

#include <algorithm>

#include "base/text_limits.hpp"
#include "base/time_limit.hpp"
#include "idem/base/error.hpp"
#include "postgres/row.hpp"
#include "postgres/sql.hpp"
#include "postgres/statements.hpp"

namespace idem {
inline namespace v0 {
namespace postgres {
namespace {

void check_age(const std::optional<std::chrono::milliseconds>& older_than) {
  if (older_than && (older_than->count() < 0 || *older_than > detail::longest_time)) {
    throw InvalidArgument{"older_than must not be negative, and not longer than ten years"};
  }
}

void check(const RecordFilter& filter) {
  constexpr std::size_t most_records = 1'000'000;
  if (filter.limit < 1 || filter.limit > most_records) {
    throw InvalidArgument{"a list's limit must be 1 to " + std::to_string(most_records) + " records"};
  }
  if (filter.principal) detail::check_text("the principal", *filter.principal, max_key_part_bytes);
  if (filter.operation) detail::check_text("the operation", *filter.operation, max_key_part_bytes);
  check_age(filter.older_than);
}

}  // namespace

std::vector<RecordSummary> list_records(pqxx::dbtransaction& tx, const Names& names,
                                        const RecordFilter& filter) {
  check(filter);
  const auto asked = [&](State state) {
    return Literal{filter.states.empty() ||
                   std::find(filter.states.begin(), filter.states.end(), state) != filter.states.end()};
  };
  return read_summaries(
      run(tx, filled(list_statement(names),
                     {asked(State::in_progress), asked(State::completed), asked(State::failed),
                      asked(State::unknown), Literal{tx, filter.principal}, Literal{tx, filter.operation},
                      Literal{filter.older_than}, Literal{static_cast<std::int64_t>(filter.limit)}})));
}

std::optional<SeenEvent> find_event(pqxx::dbtransaction& tx, const Names& names, const std::string& consumer,
                                    const EventIdentity& event) {
  detail::check_text("a consumer's name", consumer, 255);
  validate(event);
  const pqxx::result rows =
      run(tx, filled(find_event_statement(names),
                     {Literal{tx, consumer}, Literal{tx, event.source}, Literal{tx, event.id}}));
  if (rows.empty()) return std::nullopt;
  return SeenEvent{read_time(rows[0][0]), read_time(rows[0][1])};
}

PurgeableRows count_purgeable(pqxx::dbtransaction& tx, const Names& names,
                              std::chrono::milliseconds older_than) {
  check_age(older_than);
  const pqxx::result rows = run(tx, filled(count_purgeable_statement(names), {Literal{older_than}}));
  return {rows[0][0].as<std::int64_t>(), rows[0][1].as<std::int64_t>()};
}

}  // namespace postgres
}  // namespace v0
}  // namespace idem
