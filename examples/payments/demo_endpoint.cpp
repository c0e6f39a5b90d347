#include "demo_endpoint.hpp"

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "bearer.hpp"
#include "idem/idem.hpp"
#include "idem/postgres.hpp"
#include "payment_responses.hpp"
#include "payment_service.hpp"
#include "postgres_repository.hpp"

namespace payments {
namespace {

using nlohmann::json;

constexpr std::size_t most_shown = 100;

// The page asks each second: it must not wait long for one that hangs.
constexpr std::chrono::seconds ledger_patience{2};

const char* name_of(idem::State state) {
  switch (state) {
    case idem::State::in_progress:
      return "IN_PROGRESS";
    case idem::State::completed:
      return "COMPLETED";
    case idem::State::failed:
      return "FAILED";
    case idem::State::unknown:
      break;
  }
  return "UNKNOWN";
}

// Until the lease's end, by the server's clock alone.
std::int64_t lease_left_ms(const idem::postgres::RecordSummary& record) {
  return std::chrono::floor<std::chrono::milliseconds>(record.lease_until - (record.created_at + record.age))
      .count();
}

json records_of(pqxx::dbtransaction& tx, const std::string& principal) {
  idem::postgres::RecordFilter filter;
  filter.principal = principal;
  // It lists the oldest, and the newest are wanted.
  filter.limit = 1'000'000;
  std::vector<idem::postgres::RecordSummary> records = idem::postgres::list_records(tx, {}, filter);
  std::ranges::reverse(records);
  records.resize(std::min(records.size(), most_shown));
  json told = json::array();
  for (const auto& record : records) {
    told.push_back({{"operation", record.key.operation},
                    {"key", record.key.value},
                    {"state", name_of(record.state)},
                    {"generation", record.generation},
                    {"fence", record.holder.fence},
                    {"attempt", record.holder.attempt.to_string()},
                    {"taken_over", record.taken_over()},
                    {"lapsed", record.lapsed},
                    {"lease_left_ms", lease_left_ms(record)}});
  }
  return told;
}

// What `query` selects, an object for each row.
json rows_of(pqxx::dbtransaction& tx, const std::string& query) {
  const pqxx::result rows = tx.exec("SELECT coalesce(json_agg(one), '[]') FROM (" + query + " LIMIT " +
                                    std::to_string(most_shown) + ") one");
  return json::parse(rows[0][0].as<std::string>());
}

// Those of the acquirer's charges whose reference is one of these; null where it does not answer.
json charges_for(const std::string& acquirer_url, const std::set<std::string>& references) {
  // As acquirer_at() takes it, with a slash at the end or without.
  httplib::Client client{acquirer_url.substr(0, acquirer_url.find_last_not_of('/') + 1)};
  client.set_connection_timeout(ledger_patience);
  client.set_read_timeout(ledger_patience);
  const httplib::Result answer = client.Get("/ledger");
  if (!answer || answer->status != 200) return nullptr;
  try {
    json told = json::array();
    const json ledger = json::parse(answer->body);
    for (auto charge = ledger.rbegin(); charge != ledger.rend() && told.size() < most_shown; ++charge) {
      if (!references.contains(charge->at("reference").get<std::string>())) continue;
      json one = json::object();
      for (const char* member :
           {"charge_id", "outcome", "amount_cents", "currency", "reference", "key", "at"}) {
        one[member] = charge->at(member);
      }
      told.push_back(std::move(one));
    }
    return told;
  } catch (const json::exception&) {
    return nullptr;
  }
}

const char* name_of(idem::Delivery delivery) {
  switch (delivery) {
    case idem::Delivery::applied:
      return "applied";
    case idem::Delivery::duplicate:
      return "duplicate";
    case idem::Delivery::beyond_horizon:
      break;
  }
  return "beyond_horizon";
}

}  // namespace

idem::Response DemoEndpoint::state(std::string_view principal) const {
  if (principal.empty()) return unauthenticated_response();
  const std::string name{principal};
  json told;
  std::set<std::string> references;
  {
    const auto unit = begin_();
    pqxx::work& tx = unit->transaction();
    const std::string own = " WHERE payment.principal = " + tx.quote(name);
    told["records"] = records_of(tx, name);
    told["payments"] =
        rows_of(tx, "SELECT payment_id, state, offering_id, amount_cents, currency, charge_id FROM payment" +
                        own + " ORDER BY created_at DESC, payment_id DESC");
    told["seats"] =
        rows_of(tx, "SELECT seat.offering_id, payment_id FROM seat JOIN payment USING (payment_id)" + own +
                        " ORDER BY created_at DESC, payment_id DESC");
    const std::string in_utc = R"(to_char(issued_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))";
    told["receipts"] = rows_of(tx, "SELECT payment_id, " + in_utc +
                                       " AS issued_at FROM receipt JOIN payment USING (payment_id)" + own +
                                       " ORDER BY receipt.issued_at DESC, payment_id DESC");
    const pqxx::result all = tx.exec("SELECT payment_id FROM payment" + own);
    for (const auto& row : all) references.insert(row[0].as<std::string>());
  }
  // With no transaction open.
  told["charges"] = charges_for(acquirer_url_, references);
  return json_response(200, told.dump());
}

idem::Response DemoEndpoint::redeliver(std::string_view principal, std::string_view id) const {
  if (principal.empty()) return unauthenticated_response();
  const auto uuid = idem::Uuid::parse(id);
  if (!uuid) return status_problem(404);
  const idem::postgres::Backend backend;
  PostgresRepository repository;
  const PaymentService service{backend, repository};
  const auto unit = begin_();
  pqxx::work& tx = unit->transaction();
  const auto payment = repository.find_payment(tx, uuid->to_string(), std::string{principal});
  if (!payment) return status_problem(404);
  if (payment->state != PaymentState::authorized) return status_problem(409);
  const idem::Delivery delivery =
      service.deliver(tx, payment_authorized(payment->id, payment->principal, payment->order.offering_id));
  unit->commit();
  return json_response(200, json{{"delivery", name_of(delivery)}}.dump());
}

}  // namespace payments
