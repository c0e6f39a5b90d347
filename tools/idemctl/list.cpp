#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "arguments.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "idem/postgres/listing.hpp"
#include "text.hpp"
#include "values.hpp"

namespace idemctl {
namespace {

using idem::postgres::RecordFilter;
using idem::postgres::RecordSummary;

RecordFilter filter_in(const Arguments& arguments) {
  RecordFilter filter;
  for (const std::string& word : arguments.all("state")) filter.states.push_back(state_of("state", word));
  filter.principal = arguments.one("principal");
  filter.operation = arguments.one("operation");
  if (const auto word = arguments.one("older-than")) filter.older_than = duration_of("older-than", *word);
  if (const auto word = arguments.one("limit")) {
    filter.limit = static_cast<std::size_t>(number_of("limit", *word, 1, 100'000));
  }
  return filter;
}

std::int64_t seconds_of(std::chrono::microseconds age) {
  return std::chrono::duration_cast<std::chrono::seconds>(age).count();
}

std::string line_of(const RecordSummary& record) {
  nlohmann::ordered_json line;
  line["state"] = name_of(record.state);
  line["lapsed"] = record.lapsed;
  line["age_seconds"] = seconds_of(record.age);
  line["principal"] = record.key.principal;
  line["operation"] = record.key.operation;
  line["key"] = record.key.value;
  line["created_at"] = printable(record.created_at);
  line["lease_until"] = printable(record.lease_until);
  line["expires_at"] = nullptr;
  if (record.expires_at) line["expires_at"] = printable(*record.expires_at);
  line["fence"] = record.holder.fence;
  line["attempt"] = record.holder.attempt.to_string();
  line["generation"] = record.generation;
  line["downstream"] = nullptr;
  if (record.downstream) line["downstream"] = *record.downstream;
  line["taken_over"] = record.taken_over();
  return json_line(line);
}

std::string json_lines(const std::vector<RecordSummary>& records) {
  std::string text;
  for (const RecordSummary& record : records) text += line_of(record);
  return text;
}

// The two greatest units: 3d 4h, 4h 5m, 5m 6s, 6s.
std::string readable(std::chrono::microseconds age) {
  struct Unit {
    std::int64_t seconds;
    char name;
  };
  constexpr std::array<Unit, 4> units{{{86'400, 'd'}, {3'600, 'h'}, {60, 'm'}, {1, 's'}}};
  const std::int64_t seconds = seconds_of(age);
  for (std::size_t at = 0; at + 1 < units.size(); ++at) {
    if (seconds < units[at].seconds) continue;
    return std::to_string(seconds / units[at].seconds) + units[at].name + ' ' +
           std::to_string(seconds % units[at].seconds / units[at + 1].seconds) + units[at + 1].name;
  }
  return std::to_string(seconds) + 's';
}

std::string table(const std::vector<RecordSummary>& records) {
  using Row = std::array<std::string, 5>;
  std::vector<Row> rows{{"STATE", "AGE", "PRINCIPAL", "OPERATION", "KEY"}};
  for (const RecordSummary& record : records) {
    rows.push_back({std::string{name_of(record.state)} + (record.lapsed ? " (lapsed)" : ""),
                    readable(record.age), printable(record.key.principal), printable(record.key.operation),
                    printable(record.key.value)});
  }
  std::array<std::size_t, 5> widths{};
  for (const Row& row : rows) {
    for (std::size_t at = 0; at < row.size(); ++at) {
      widths[at] = std::max(widths[at], characters_in(row[at]));
    }
  }
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t at = 0; at + 1 < row.size(); ++at) {
      text += row[at] + std::string(widths[at] - characters_in(row[at]) + 2, ' ');
    }
    text += row.back() + '\n';
  }
  return text;
}

}  // namespace

Answer list(Words words) {
  const Arguments arguments{words,
                            {{"database-url"},
                             {"state", Option::Takes::many_values},
                             {"principal"},
                             {"operation"},
                             {"older-than"},
                             {"limit"},
                             {"json", Option::Takes::nothing},
                             {"schema"},
                             {"record-table"}}};
  RecordFilter filter = filter_in(arguments);
  const std::size_t limit = filter.limit;
  // One more, which says that there are more.
  ++filter.limit;
  std::vector<RecordSummary> records;
  with_connection(arguments.required("database-url"), [&](pqxx::connection& connection) {
    pqxx::read_transaction tx{connection};
    records = idem::postgres::list_records(tx, names_in(arguments), filter);
  });
  std::string more;
  if (records.size() > limit) {
    records.resize(limit);
    more = "there are more; shown are the oldest " + std::to_string(limit) +
           ": narrow the list, or raise --limit";
  }
  if (arguments.has("json")) return {.out = json_lines(records), .note = more};
  return {.out = table(records) + (more.empty() ? "" : more + '\n')};
}

}  // namespace idemctl
