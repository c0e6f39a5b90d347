#include "idem/postgres/listing.hpp"

#include <algorithm>

#include "../text_limits.hpp"
#include "../time_limit.hpp"
#include "idem/error.hpp"
#include "row.hpp"
#include "sql.hpp"
#include "statements.hpp"

namespace idem::inline v0::postgres {
namespace {

void check(const RecordFilter& filter) {
  constexpr std::size_t most_records = 1'000'000;
  if (filter.limit < 1 || filter.limit > most_records) {
    throw InvalidArgument{"a list's limit must be 1 to " + std::to_string(most_records) + " records"};
  }
  if (filter.principal) detail::check_text("the principal", *filter.principal, max_key_part_bytes);
  if (filter.operation) detail::check_text("the operation", *filter.operation, max_key_part_bytes);
  if (filter.older_than && (filter.older_than->count() < 0 || *filter.older_than > detail::longest_time)) {
    throw InvalidArgument{"older_than must not be negative, and not longer than ten years"};
  }
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

}  // namespace idem::inline v0::postgres
