#include "idem/postgres/schema.hpp"

#include "arguments.hpp"
#include "commands.hpp"
#include "database.hpp"

namespace idemctl {

std::string schema_print(Words words) {
  const Arguments arguments{words,
                            {{"schema"},
                             {"record-table"},
                             {"inbox-table"},
                             {"version-guard-table"},
                             {"outbox-table"},
                             {"version-table"},
                             {"repair-table"},
                             {"downstream-key-function"},
                             {"key-hash-function"}}};
  return idem::postgres::schema_sql(names_in(arguments));
}

std::string schema_apply(Words words) {
  const Arguments arguments{words,
                            {{"database-url"},
                             {"schema"},
                             {"record-table"},
                             {"inbox-table"},
                             {"version-guard-table"},
                             {"outbox-table"},
                             {"version-table"},
                             {"repair-table"},
                             {"downstream-key-function"},
                             {"key-hash-function"}}};
  const auto names = names_in(arguments);
  int found = 0;
  with_connection(arguments.required("database-url"), [&](pqxx::connection& connection) {
    pqxx::work tx{connection};
    found = idem::postgres::install_schema(tx, names);
    tx.commit();
  });
  const std::string wanted = std::to_string(idem::postgres::schema_version);
  if (found == idem::postgres::schema_version) return "found version " + wanted + ": nothing to do\n";
  return (found == 0 ? "found none" : "found version " + std::to_string(found)) + ": installed version " +
         wanted + '\n';
}

}  // namespace idemctl
