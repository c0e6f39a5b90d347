#include <optional>

#include "arguments.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "failure.hpp"
#include "idem/postgres/listing.hpp"
#include "text.hpp"

namespace idemctl {

std::string inbox_show(Words words) {
  const Arguments arguments{
      words, {{"database-url"}, {"consumer"}, {"source"}, {"event"}, {"schema"}, {"inbox-table"}}};
  const std::string consumer = arguments.required("consumer");
  const idem::EventIdentity event{arguments.required("source"), arguments.required("event")};
  std::optional<idem::postgres::SeenEvent> seen;
  with_connection(arguments.required("database-url"), [&](pqxx::connection& connection) {
    pqxx::read_transaction tx{connection};
    seen = idem::postgres::find_event(tx, names_in(arguments), consumer, event);
  });
  if (!seen) throw NotFound{"this consumer has not seen that event, or the row was purged"};
  return "consumer     " + printable(consumer) + "\nsource       " + printable(event.source) +
         "\nevent id     " + printable(event.id) + "\nreceived at  " + printable(seen->received_at) +
         "\nkeep until   " + printable(seen->keep_until) + '\n';
}

}  // namespace idemctl
