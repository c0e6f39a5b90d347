#include "postgres/inbox_store.hpp"

#include <string>
#include <unordered_map>
#include <utility>

#include "idem/base/error.hpp"
#include "postgres/configuration.hpp"
#include "postgres/sql.hpp"

namespace idem {
inline namespace v0 {
namespace postgres {
namespace {

// An event's place in the list, by its two texts. The first one's length keeps ("a", "bc") and ("ab", "c") apart.
class Places {
 public:
  explicit Places(std::span<const EventIdentity> events) {
    for (std::size_t at = 0; at < events.size(); ++at)
      places_.emplace(name(events[at].source, events[at].id), at);
  }
  [[nodiscard]] std::size_t of(const std::string& source, const std::string& id) const {
    return places_.at(name(source, id));
  }

 private:
  static std::string name(const std::string& source, const std::string& id) {
    return std::to_string(source.size()) + ':' + source + id;
  }
  std::unordered_map<std::string, std::size_t> places_;
};

// The rows for VALUES of the events that are not answered yet.
Literal listed(pqxx::dbtransaction& tx, std::span<const EventIdentity> events,
               const std::vector<std::optional<Delivery>>& answers) {
  std::vector<std::vector<Literal>> rows;
  for (std::size_t at = 0; at < events.size(); ++at) {
    if (answers[at]) continue;
    rows.push_back({Literal{tx, events[at].source}, Literal{tx, events[at].id}, Literal{events[at].time}});
  }
  return Literal::values(rows);
}

}  // namespace

PostgresInboxStore::PostgresInboxStore(std::shared_ptr<const Configuration> configuration,
                                       pqxx::dbtransaction& tx)
    : InboxStore{configuration->options.observer.get()}, configuration_{std::move(configuration)}, tx_{&tx} {}

std::vector<Delivery> PostgresInboxStore::do_receive(std::string_view consumer,
                                                     std::span<const EventIdentity> events,
                                                     const InboxOptions& options) {
  const Statements& statements = configuration_->statements;
  const Places places{events};
  std::vector<std::optional<Delivery>> answers(events.size());
  std::size_t open = events.size();
  const auto answer = [&](const auto& row, Delivery delivery) {
    answers[places.of(row[0].template as<std::string>(), row[1].template as<std::string>())] = delivery;
    --open;
  };
  // Each further round follows the purge of a row that was in the way.
  constexpr int most_rounds = 100;
  for (int round = 0; open > 0; ++round) {
    if (round == most_rounds) {
      throw TransactionConflict{"the events' rows changed under every try: run the whole transaction again"};
    }
    const auto values = [&] {
      return std::vector<Literal>{Literal{*tx_, std::string{consumer}}, listed(*tx_, events, answers),
                                  Literal{options.horizon}, Literal{options.skew},
                                  Literal{options.unknown_age == UnknownAge::apply}};
    };
    const pqxx::result marked = run(*tx_, filled(statements.receive, values()));
    for (const auto& row : marked) answer(row, Delivery::applied);
    if (open == 0) break;
    // A separate statement, for its own snapshot, and to take note under SERIALIZABLE of the row that was in the way.
    const pqxx::result known = run(*tx_, filled(statements.seen, values()));
    for (const auto& row : known) {
      const auto is_seen = row[2].template as<bool>();
      const auto is_in_time = row[3].template as<bool>();
      if (is_seen) answer(row, Delivery::duplicate);
      if (!is_seen && !is_in_time) answer(row, Delivery::beyond_horizon);
    }
  }
  std::vector<Delivery> deliveries;
  deliveries.reserve(answers.size());
  for (const std::optional<Delivery>& each : answers) deliveries.push_back(each.value());
  return deliveries;
}

Versioned PostgresInboxStore::do_advance(std::string_view consumer, std::string_view entity,
                                         std::int64_t version) {
  const pqxx::result rows = run(*tx_, filled(configuration_->statements.advance,
                                             {Literal{*tx_, std::string{consumer}},
                                              Literal{*tx_, std::string{entity}}, Literal{version}}));
  return rows.empty() ? Versioned::not_newer : Versioned::applied;
}

}  // namespace postgres
}  // namespace v0
}  // namespace idem
