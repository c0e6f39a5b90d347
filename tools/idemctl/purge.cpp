#include <cstdint>
#include <memory>
#include <string>

#include "arguments.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "idem/command/purge.hpp"
#include "idem/postgres/backend.hpp"
#include "idem/postgres/listing.hpp"
#include "values.hpp"

namespace idemctl {
namespace {

std::string counted(std::int64_t number, const std::string& one) {
  return std::to_string(number) + ' ' + one + (number == 1 ? "" : "s");
}

std::string counted(const idem::PurgeReport& report, const std::string& row) {
  return counted(static_cast<std::int64_t>(report.rows), row) + " in " +
         counted(static_cast<std::int64_t>(report.transactions), "transaction");
}

}  // namespace

Answer purge(Words words) {
  const Arguments arguments{words,
                            {{"database-url"},
                             {"older-than"},
                             {"batch"},
                             {"yes", Option::Takes::nothing},
                             {"schema"},
                             {"record-table"},
                             {"inbox-table"}}};
  idem::PurgeOptions options;
  options.older_than = duration_of("older-than", arguments.required("older-than"));
  if (const auto word = arguments.one("batch")) {
    options.batch_rows = static_cast<std::size_t>(number_of("batch", *word, 1, 100'000));
  }
  const idem::postgres::Names names = names_in(arguments);
  const idem::postgres::Backend backend{{.names = names}};
  Answer answer;
  with_connection(arguments.required("database-url"), [&](pqxx::connection& connection) {
    if (arguments.has("yes")) {
      const auto begin = [&] { return std::make_unique<pqxx::work>(connection); };
      const idem::PurgeReport records = idem::purge_records(backend, begin, options);
      const idem::PurgeReport events = idem::purge_inbox(backend, begin, options);
      answer.out =
          "deleted " + counted(records, "expired record") + ", and " + counted(events, "inbox row") + '\n';
    } else {
      pqxx::read_transaction tx{connection};
      const auto rows = idem::postgres::count_purgeable(tx, names, options.older_than);
      answer.out =
          "would delete " + counted(rows.records, "expired record") + " and " +
          counted(rows.events, "inbox row") +
          ", as they are at this moment\nnothing was changed. With --yes it is done; unsettled records stay "
          "as they are.\n";
      answer.exit_code = 3;
    }
  });
  return answer;
}

}  // namespace idemctl
