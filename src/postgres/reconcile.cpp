#include "idem/postgres/reconcile.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

void check(const ReconcileOptions& options) {
  detail::check_text("the downstream", options.downstream, 255);
  if (options.from && options.until && *options.from >= *options.until) {
    throw InvalidArgument{"the period must begin before it ends"};
  }
}

// Beforehand, so that the message is about the caller's relation and not about idem's tables.
void check_effects(pqxx::dbtransaction& tx, const Relation& effects) {
  constexpr int needed = 3;
  const pqxx::result rows = run(tx, filled(effects_columns_statement(), {Literal{tx, qualified(effects)}}));
  if (!rows[0][0].as<bool>()) throw InvalidArgument{"the relation of effects is not there"};
  if (rows[0][1].as<int>() != needed) {
    throw InvalidArgument{
        "the relation of effects must have the columns downstream_key, amount (smallint, integer or bigint) "
        "and reference"};
  }
}

// A UUID as settlements spell them: with or without hyphens, in braces, as a URN.
std::optional<Uuid> uuid_in(std::string_view text) {
  constexpr std::string_view urn = "urn:uuid:";
  const auto same = [](char a, char b) { return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b); };
  if (text.size() > urn.size() &&
      std::equal(urn.begin(), urn.end(), text.begin(),
                 [&](char expected, char given) { return same(given, expected); })) {
    text.remove_prefix(urn.size());
  } else if (text.size() > 2 && text.front() == '{' && text.back() == '}') {
    text = text.substr(1, text.size() - 2);
  }
  constexpr std::size_t digits = 32;
  if (text.size() != digits) return Uuid::parse(text);
  std::string spelled{text};
  for (const std::size_t hyphen : {8U, 13U, 18U, 23U}) spelled.insert(hyphen, 1, '-');
  return Uuid::parse(spelled);
}

std::vector<Literal> row_of(pqxx::dbtransaction& tx, std::int64_t line, const SettlementEntry& entry) {
  const auto uuid = uuid_in(entry.downstream_key);
  const auto no_text = std::optional<std::string>{};
  std::optional<std::int64_t> at;
  if (entry.at) at = entry.at->time_since_epoch().count();
  return {Literal{line},
          uuid ? Literal{*uuid} : Literal{tx, no_text},
          Literal{tx, uuid ? no_text : std::optional{entry.downstream_key}},
          Literal{static_cast<std::int64_t>(entry.outcome)},
          Literal{entry.amount},
          Literal{tx, entry.reference},
          Literal{at}};
}

void store(pqxx::dbtransaction& tx, const ReconcileStatements& statements, const SettlementSource& next) {
  constexpr std::size_t batch = 500;
  std::vector<std::vector<Literal>> rows;
  const auto send = [&] {
    if (!rows.empty()) run(tx, filled(statements.insert, {Literal::values(rows)}));
    rows.clear();
  };
  std::int64_t line = 0;
  for (auto entry = next(); entry; entry = next()) {
    validate(*entry);
    rows.push_back(row_of(tx, ++line, *entry));
    if (rows.size() == batch) send();
  }
  send();
}

}  // namespace

ReconcileSummary reconcile(pqxx::dbtransaction& tx, const Names& names, const ReconcileOptions& options,
                           const SettlementSource& next, const FindingSink& sink) {
  check(options);
  const ReconcileStatements statements{names, options.effects, random_uuid_v4().to_string()};
  if (options.effects) check_effects(tx, *options.effects);
  run(tx, statements.create);
  store(tx, statements, next);
  run(tx, filled(statements.open,
                 {Literal{tx, options.downstream}, Literal{options.from}, Literal{options.until}}));
  constexpr std::int64_t batch = 500;
  const std::string fetch = filled(statements.fetch, {Literal{batch}});
  ReconcileSummary summary;
  for (;;) {
    const pqxx::result rows = run(tx, fetch);
    if (rows.empty()) break;
    for (const Compared& each : read_compared(rows)) {
      const auto finding = compare(each.entry, each.ours, each.context);
      if (!finding) continue;
      summary.add(*finding);
      sink(*finding);
    }
  }
  run(tx, statements.close);
  run(tx, statements.drop);
  return summary;
}

}  // namespace postgres
}  // namespace v0
}  // namespace idem
