// One payment through the example acquirer: the operation that crashes and lost connections are tried on.
#pragma once

#include <chrono>
#include <functional>
#include <ostream>
#include <pqxx/pqxx>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "acquirer_client.hpp"
#include "idem/call/external_call.hpp"
#include "idem/event/outbox.hpp"
#include "idem/postgres/backend.hpp"
#include "idem/request/fingerprint.hpp"
#include "idem/settlement/repair.hpp"

namespace idem::fault_test {

inline constexpr std::string_view charge_operation = "POST /payments";
/// Nothing lapses by itself while a test runs: time is moved.
inline constexpr std::chrono::milliseconds charge_lease = std::chrono::hours{1};
inline constexpr std::chrono::milliseconds charge_deadline = std::chrono::minutes{10};
inline constexpr std::chrono::milliseconds charge_window = std::chrono::hours{24};

/// What the acquirer does with a key that it knows.
enum class Acquirer { deduplicates, cannot_deduplicate };

inline std::string_view to_string(Acquirer acquirer) {
  return acquirer == Acquirer::deduplicates ? "deduplicates" : "cannot_deduplicate";
}

/// For the tests' names.
inline std::ostream& operator<<(std::ostream& out, Acquirer acquirer) {
  return out << to_string(acquirer);
}

/// Reconciliation's word that there was no charge and never will be.
struct NotCharged {};
using ChargeDecision = std::variant<payments::Approved, payments::Declined, NotCharged>;

/// The amount is one that the acquirer approves of.
inline payments::Charge charge_of(const std::string& key) {
  return {1290, "EUR", "tok_1", key};
}

inline Request charge_request(const std::string& key) {
  const std::string body = R"({"amount_cents":1290,"reference":")" + key + "\"}";
  return {{"alice", std::string{charge_operation}, key},
          Fingerprinter{}({.method = "POST", .operation = charge_operation, .query = {}, .body = body})};
}

inline CallOptions charge_options() {
  CallOptions options;
  options.reserve.lease = charge_lease;
  options.reserve.call_deadline = charge_deadline;
  options.retry.pause = [](std::chrono::milliseconds) {};
  return options;
}

/// What the client is told: of every decision other bytes.
inline Response charge_response(const std::string& key, const ChargeDecision& decision) {
  const auto* const approved = std::get_if<payments::Approved>(&decision);
  Response response =
      approved != nullptr
          ? text_response(201, R"({"state":"AUTHORIZED","charge_id":")" + approved->charge_id + "\"}")
          : text_response(402, R"({"state":"DECLINED"})");
  response.headers.push_back({"Location", "/payments/" + key});
  return response;
}
inline Response charge_not_known() {
  return text_response(202, R"({"state":"UNKNOWN"})");
}

/// No unique key that could hide a second row.
inline const std::string charge_tables =
    "CREATE TABLE payment (id text NOT NULL, state text NOT NULL, charge_id text)";

/// An ExternalOperation. Its rows: PENDING; then AUTHORIZED with the charge's id, or DECLINED; UNKNOWN in
/// between where nobody knows. Each decision leaves an event; no charge at all is a decline.
class Charge {
 public:
  /// `point` is called on each side of the request. `backend` and `client` must outlive it.
  Charge(
      const postgres::Backend& backend, std::string schema, const payments::AcquirerClient& client,
      Acquirer acquirer, std::function<void()> point = [] {})
      : backend_{backend},
        table_{"\"" + std::move(schema) + "\".payment"},
        client_{client},
        acquirer_{acquirer},
        point_{std::move(point)} {}

  [[nodiscard]] Downstream downstream() const {
    return acquirer_ == Acquirer::deduplicates ? deduplicates_for("acquirer", charge_window)
                                               : cannot_deduplicate("acquirer");
  }

  void prepare(pqxx::dbtransaction& tx, const CallContext& context) {
    tx.exec("INSERT INTO " + table_ + " VALUES (" + tx.quote(context.lease.key.value) + ", 'PENDING')");
  }

  CallResult<ChargeDecision> call(const CallContext& context) {
    point_();
    try {
      payments::ChargeAnswer answer =
          client_.charge(context.downstream_key, charge_of(context.lease.key.value), patience);
      point_();
      return std::visit([](auto&& given) -> ChargeDecision { return std::forward<decltype(given)>(given); },
                        std::move(answer));
    } catch (const payments::AcquirerUnknown& unknown) {
      return ResultUnknown{unknown.what()};
    }
  }

  Decision finish(pqxx::dbtransaction& tx, const CallContext& context, const ChargeDecision& decision) {
    const std::string& id = context.lease.key.value;
    const auto* const approved = std::get_if<payments::Approved>(&decision);
    const std::string charge_id = approved != nullptr ? approved->charge_id : "";
    const std::string set = approved != nullptr ? "state = 'AUTHORIZED', charge_id = " + tx.quote(charge_id)
                                                : std::string{"state = 'DECLINED', charge_id = NULL"};
    tx.exec("UPDATE " + table_ + " SET " + set + " WHERE id = " + tx.quote(id));
    Outbox{backend_}.append(tx, {"payment", id, approved != nullptr ? "PaymentAuthorized" : "PaymentDeclined",
                                 text_payload(charge_id)});
    Response response = charge_response(id, decision);
    return approved != nullptr ? completed(std::move(response)) : failed(std::move(response));
  }

  [[nodiscard]] static ChargeDecision answer_of(const Repair& repair) {
    if (repair.as == RepairAs::charged) return payments::Approved{repair.entry->reference, {}};
    if (repair.as == RepairAs::declined) return payments::Declined{repair.entry->reference, {}};
    return NotCharged{};
  }

  Response unknown(pqxx::dbtransaction& tx, const CallContext& context) {
    tx.exec("UPDATE " + table_ + " SET state = 'UNKNOWN' WHERE id = " + tx.quote(context.lease.key.value));
    return charge_not_known();
  }

 private:
  // Ample: only an acquirer that hangs meets it.
  static constexpr std::chrono::milliseconds patience = std::chrono::minutes{1};

  const postgres::Backend& backend_;
  std::string table_;
  const payments::AcquirerClient& client_;
  Acquirer acquirer_;
  std::function<void()> point_;
};

}  // namespace idem::fault_test
