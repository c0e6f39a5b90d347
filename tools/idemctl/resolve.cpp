#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "arguments.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "failure.hpp"
#include "idem/base/error.hpp"
#include "idem/postgres/backend.hpp"
#include "idem/response/rules.hpp"
#include "input.hpp"
#include "text.hpp"
#include "values.hpp"

namespace idemctl {
namespace {

constexpr std::array<std::pair<std::string_view, idem::NoEffect>, 4> no_effect_words{{
    {"stored-decline", idem::NoEffect::stored_decline},
    {"void-refuses-later", idem::NoEffect::void_refuses_later},
    {"closed-settlement", idem::NoEffect::closed_settlement},
    {"operator-decision", idem::NoEffect::operator_decision},
}};

idem::NoEffect no_effect_of(const std::string& word) {
  for (const auto& [name, value] : no_effect_words) {
    if (word == name) return value;
  }
  throw Failure{
      "--no-effect must be one of stored-decline, void-refuses-later, closed-settlement, operator-decision"};
}

/// What is to be stored, and for which holder.
struct Asked {
  idem::Key key;
  idem::Holder holder;
  idem::State state = idem::State::completed;
  idem::Response response;
  idem::Resolution resolution;
};

idem::State settled_state_in(const Arguments& arguments) {
  const std::string word = arguments.required("state");
  if (word == "completed") return idem::State::completed;
  if (word == "failed") return idem::State::failed;
  throw Failure{"--state must be completed or failed"};
}

idem::Resolution resolution_in(const Arguments& arguments, idem::State state) {
  const auto generation = arguments.one("generation");
  const auto charged_at = arguments.one("charged-at");
  const auto no_effect = arguments.one("no-effect");
  if (state == idem::State::completed && (no_effect || generation.has_value() == charged_at.has_value())) {
    throw Failure{
        "--state completed needs either --generation or --charged-at, to tell whose charge it is, and no "
        "--no-effect"};
  }
  if (state == idem::State::failed && (!no_effect || generation || charged_at)) {
    throw Failure{
        "--state failed needs --no-effect, a definitive answer that nothing was charged, and neither "
        "--generation nor --charged-at"};
  }
  idem::Resolution resolution{.who = arguments.required("who"), .why = arguments.required("why")};
  if (generation) {
    resolution.generation = number_of("generation", *generation, 1, std::numeric_limits<std::int64_t>::max());
  }
  if (charged_at) resolution.effect_at = time_of("charged-at", *charged_at);
  if (no_effect) resolution.no_effect = no_effect_of(*no_effect);
  return resolution;
}

Asked asked_in(const Arguments& arguments) {
  Asked asked;
  asked.key = {arguments.required("principal"), arguments.required("operation"), arguments.required("key")};
  idem::validate(asked.key);
  asked.holder = {
      number_of("fence", arguments.required("fence"), 1, std::numeric_limits<std::int64_t>::max()),
      uuid_of("attempt", arguments.required("attempt"))};
  asked.state = settled_state_in(arguments);
  asked.response.status =
      static_cast<int>(number_of("status", arguments.required("status"), std::numeric_limits<int>::min(),
                                 std::numeric_limits<int>::max()));
  for (const std::string& word : arguments.all("header")) {
    asked.response.headers.push_back(header_of("header", word));
  }
  asked.resolution = resolution_in(arguments, asked.state);
  return asked;
}

void read_body(idem::Response& response, std::size_t limit) {
  const std::string body = read_input(limit);
  if (body.size() > limit) {
    throw Failure{"standard input is longer than the limit of " + std::to_string(limit) + " bytes"};
  }
  const auto bytes = std::as_bytes(std::span{body});
  response.body.assign(bytes.begin(), bytes.end());
}

// The answer's size and hash, never its content.
std::string described(const idem::Response& response) {
  const std::size_t headers = response.headers.size();
  return "status " + std::to_string(response.status) + ", " + std::to_string(headers) +
         (headers == 1 ? " header" : " headers") + ", a body of " + size_and_hash(response.body);
}

std::string evidence_of(const Arguments& arguments) {
  for (const std::string name : {"generation", "charged-at", "no-effect"}) {
    if (const auto word = arguments.one(name)) return name + ' ' + *word;
  }
  return {};
}

std::string what_would_be_done(const Asked& asked, const std::string& evidence) {
  return "would settle as " + std::string{name_of(asked.state)} + " the UNKNOWN record of fence " +
         std::to_string(asked.holder.fence) + " and attempt " + asked.holder.attempt.to_string() +
         "\n  principal    " + printable(asked.key.principal) + "\n  operation    " +
         printable(asked.key.operation) + "\n  answer       " + described(asked.response) +
         "\n  evidence     " + printable(evidence) + "\n  resolved by  " + printable(asked.resolution.who) +
         "\n  because      " + printable(asked.resolution.why) +
         "\nnothing was changed. With --yes it is done; business rows stay as they are.\n";
}

// What the record says of itself, where it could not be resolved. Throws where this very resolution is not in it.
std::string already_done(const std::optional<idem::Record>& record, const Asked& asked) {
  if (!record) throw NotFound{"no record of that principal, operation and key, or it has expired"};
  if (record->holder != asked.holder) {
    throw Failure{
        "the record is not held under this fence and attempt: nothing was changed; look with idemctl show"};
  }
  if (record->state == idem::State::in_progress) {
    throw Failure{"the record is IN_PROGRESS: nothing was changed; only an UNKNOWN record is resolved"};
  }
  if (record->state == idem::State::unknown) {
    throw Failure{"the record became UNKNOWN just now: nothing was changed; run this again"};
  }
  const std::string settled = "the record is settled already, as " + std::string{name_of(record->state)};
  if (!record->resolved_by) throw Failure{settled + " by its own holder: nothing was changed"};
  if (const auto codec = idem::encoded_by(record->response.value())) {
    throw Failure{settled + " by " + printable(*record->resolved_by) + ", with a body encoded by " +
                  printable(*codec) + ", which idemctl cannot compare: nothing was changed"};
  }
  if (record->state != asked.state || record->response != asked.response) {
    throw Failure{settled + (record->state == asked.state ? " with another answer" : "") + " by " +
                  *record->resolved_by + ": nothing was changed"};
  }
  return "already settled as " + std::string{name_of(record->state)} + " with this answer by " +
         printable(*record->resolved_by) + ": nothing to do\n";
}

}  // namespace

Answer resolve(Words words) {
  const Arguments arguments{words,
                            {{"database-url"},
                             {"principal"},
                             {"operation"},
                             {"key"},
                             {"fence"},
                             {"attempt"},
                             {"state"},
                             {"status"},
                             {"header", Option::Takes::many_values},
                             {"who"},
                             {"why"},
                             {"generation"},
                             {"charged-at"},
                             {"no-effect"},
                             {"yes", Option::Takes::nothing},
                             {"schema"},
                             {"record-table"}}};
  // Before anything is read: a wrong word is told also where nobody ends the input.
  Asked asked = asked_in(arguments);
  const std::string url = arguments.required("database-url");
  const idem::postgres::BackendOptions options{.names = names_in(arguments)};
  const idem::postgres::Backend backend{options};
  read_body(asked.response, options.max_response_bytes);

  const bool yes = arguments.has("yes");
  std::optional<idem::TimePoint> expires_at;
  std::optional<idem::Record> found;
  with_connection(url, [&](pqxx::connection& connection) {
    try {
      // Without --yes the same is done and rolled back, so that whatever would refuse it is told.
      pqxx::work tx{connection};
      const idem::TimePoint until =
          backend.store(tx)->resolve(asked.key, asked.holder, asked.state, asked.response, asked.resolution);
      if (yes) tx.commit();
      expires_at = until;
    } catch (const idem::LeaseLost&) {
      // The one who got there first may have done the same. It is seen in a new transaction only.
      pqxx::read_transaction tx{connection};
      found = backend.store(tx)->find_stored(asked.key);
    }
  });
  if (!expires_at) return {.out = already_done(found, asked)};
  if (!yes) return {.out = what_would_be_done(asked, evidence_of(arguments)), .exit_code = 3};
  return {.out = "settled as " + std::string{name_of(asked.state)} + " with " + described(asked.response) +
                 ": expires at " + printable(*expires_at) + ". Business rows stay as they are.\n"};
}

}  // namespace idemctl
