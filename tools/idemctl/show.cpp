#include "arguments.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "failure.hpp"
#include "idem/postgres/backend.hpp"
#include "idem/record/record.hpp"
#include "idem/response/rules.hpp"
#include "request/key_hash.hpp"
#include "text.hpp"

namespace idemctl {
namespace {

std::string yes_or_no(bool value) {
  return value ? "yes" : "no";
}

std::string milliseconds(std::chrono::milliseconds value) {
  return std::to_string(value.count()) + " ms";
}

template <class Value>
std::string or_dash(const std::optional<Value>& value) {
  return value ? printable(*value) : "-";
}

// Of a response as it is stored.
std::string body_of(const idem::Response& response) {
  if (idem::withheld(response)) {
    return "withheld: " + std::string{*idem::withheld(response) == idem::Withheld::too_large
                                          ? idem::withheld_too_large
                                          : idem::withheld_card_data};
  }
  if (const auto codec = idem::encoded_by(response)) {
    return "body encoded by " + printable(*codec) + ", " + std::to_string(response.body.size()) +
           " bytes as stored";
  }
  return size_and_hash(response.body);
}

std::string describe(const idem::Record& record) {
  std::string text;
  const auto add = [&text](std::string name, const std::string& value) {
    name.resize(17, ' ');
    text += name + value + '\n';
  };
  add("principal", printable(record.key.principal));
  add("operation", printable(record.key.operation));
  add("key", printable(record.key.value));
  add("key hash", idem::hash_key(record.key).id.to_string());
  add("fingerprint", record.fingerprint.hex());
  add("state", std::string{name_of(record.state)});
  add("fence", std::to_string(record.holder.fence));
  add("attempt", record.holder.attempt.to_string());
  add("generation", std::to_string(record.generation));
  add("taken over", yes_or_no(record.taken_over()));
  add("resumable", yes_or_no(record.resumable));
  add("downstream", or_dash(record.downstream));
  add("window until", or_dash(record.window_until));
  add("call deadline", milliseconds(record.call_deadline));
  add("sent at", or_dash(record.sent_at));
  add("lease until", printable(record.lease_until));
  add("retention", milliseconds(record.retention));
  add("response status", record.response ? std::to_string(record.response->status) : "-");
  if (record.response) {
    for (const idem::Header& header : record.response->headers) {
      add("response header", printable(header.name + ": " + header.value));
    }
    add("response body", body_of(*record.response));
  }
  add("created at", printable(record.created_at));
  add("finished at", or_dash(record.finished_at));
  add("expires at", or_dash(record.expires_at));
  add("resolved by", or_dash(record.resolved_by));
  add("resolved note", or_dash(record.resolved_note));
  return text;
}

}  // namespace

std::string show(Words words) {
  const Arguments arguments{words,
                            {{"database-url"},
                             {"principal"},
                             {"operation"},
                             {"key"},
                             {"body", Option::Takes::nothing},
                             {"schema"},
                             {"record-table"}}};
  const idem::Key key{arguments.required("principal"), arguments.required("operation"),
                      arguments.required("key")};
  const idem::postgres::Backend backend{{.names = names_in(arguments)}};
  std::optional<idem::Record> record;
  with_connection(arguments.required("database-url"), [&](pqxx::connection& connection) {
    pqxx::read_transaction tx{connection};
    record = backend.store(tx)->find_stored(key);
  });
  if (!record) throw NotFound{"no record of that principal, operation and key, or it has expired"};
  if (!arguments.has("body")) return describe(*record);
  if (!record->response) throw NotFound{"the record has no response"};
  if (const auto codec = idem::encoded_by(*record->response)) {
    throw Failure{"the body is encoded by " + printable(*codec) + ", which idemctl does not decode"};
  }
  if (idem::withheld(*record->response)) throw NotFound{"the response's body was withheld: there is none"};
  return std::string{idem::body_text(*record->response)};
}

}  // namespace idemctl
