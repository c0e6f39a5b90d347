#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "arguments.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "failure.hpp"
#include "idem/postgres/repair.hpp"
#include "text.hpp"
#include "values.hpp"

namespace idemctl {
namespace {

std::string line_of(const idem::Repair& repair) {
  nlohmann::ordered_json line;
  line["repair_key"] = repair.repair_key;
  line["as"] = to_string(repair.as);
  line["principal"] = repair.key.principal;
  line["operation"] = repair.key.operation;
  line["key"] = repair.key.value;
  line["generation"] = repair.generation;
  line["downstream_key"] = repair.downstream_key;
  line["amount"] = nullptr;
  line["reference"] = nullptr;
  line["at"] = nullptr;
  if (repair.entry) {
    line["amount"] = repair.entry->amount;
    line["reference"] = repair.entry->reference;
    if (repair.entry->at) line["at"] = printable(*repair.entry->at);
  }
  line["queued_at"] = printable(repair.queued_at);
  line["queued_by"] = repair.queued_by;
  line["done_at"] = nullptr;
  if (repair.done_at) line["done_at"] = printable(*repair.done_at);
  line["note"] = nullptr;
  if (repair.note) line["note"] = *repair.note;
  return json_line(line);
}

}  // namespace

Answer repairs(Words words) {
  const Arguments arguments{words,
                            {{"database-url"},
                             {"operation"},
                             {"done", Option::Takes::nothing},
                             {"limit"},
                             {"schema"},
                             {"repair-table"}}};
  idem::postgres::RepairFilter filter{.operation = arguments.one("operation"),
                                      .with_done = arguments.has("done")};
  if (const auto word = arguments.one("limit")) {
    filter.limit = static_cast<std::size_t>(number_of("limit", *word, 1, 100'000));
  }
  const std::size_t limit = filter.limit;
  // One more, which says that there are more.
  ++filter.limit;
  std::vector<idem::Repair> found;
  with_connection(arguments.required("database-url"), [&](pqxx::connection& connection) {
    pqxx::read_transaction tx{connection};
    found = idem::postgres::list_repairs(tx, names_in(arguments), filter);
  });
  Answer answer;
  if (found.size() > limit) {
    found.resize(limit);
    answer.note = "there are more; shown are the first " + std::to_string(limit) +
                  ": narrow the list, or raise --limit";
  }
  for (const idem::Repair& repair : found) answer.out += line_of(repair);
  return answer;
}

Answer repairs_cancel(Words words) {
  const Arguments arguments{words,
                            {{"database-url"},
                             {"repair-key"},
                             {"who"},
                             {"why"},
                             {"yes", Option::Takes::nothing},
                             {"schema"},
                             {"repair-table"}}};
  const std::string key = uuid_of("repair-key", arguments.required("repair-key")).to_string();
  const std::string note = "cancelled by " + arguments.required("who") + ": " + arguments.required("why");
  const bool yes = arguments.has("yes");
  bool cancelled = false;
  with_connection(arguments.required("database-url"), [&](pqxx::connection& connection) {
    pqxx::work tx{connection};
    // Waits for a service that is applying it at this moment.
    cancelled = idem::postgres::finish_repair(tx, names_in(arguments), key, note);
    if (yes) tx.commit();
  });
  if (!cancelled)
    throw NotFound{"no such repair is in the queue: it was done or cancelled before, or never queued"};
  if (yes) return {.out = "cancelled; it is not queued again by the same words of a settlement\n"};
  return {.out = "would cancel it; nothing was changed. With --yes it is done\n", .exit_code = 3};
}

}  // namespace idemctl
