#include "postgres/row.hpp"

#include <algorithm>

#include "base/hex.hpp"
#include "idem/base/error.hpp"

namespace idem {
inline namespace v0 {
namespace postgres {
namespace {

std::vector<std::byte> read_bytes(const auto& field) {
  auto bytes = from_hex({field.c_str(), field.size()});
  if (!bytes) throw StoredDataError{"a stored value did not arrive as hexadecimal digits"};
  return *std::move(bytes);
}

Uuid read_uuid(const auto& field) {
  const auto uuid = Uuid::parse(field.c_str());
  if (!uuid) throw StoredDataError{"a stored attempt is not a UUID"};
  return *uuid;
}

State read_state(const auto& field) {
  switch (const auto number = field.template as<std::int64_t>()) {
    case 1:
      return State::in_progress;
    case 2:
      return State::completed;
    case 3:
      return State::failed;
    case 4:
      return State::unknown;
    default:
      throw StoredDataError{"a record has state " + std::to_string(number) + ", which no version writes"};
  }
}

std::optional<std::string> read_text(const auto& field) {
  if (field.is_null()) return std::nullopt;
  return std::string{field.c_str(), field.size()};
}

std::optional<TimePoint> read_optional_time(const auto& field) {
  if (field.is_null()) return std::nullopt;
  return read_time(field);
}

std::chrono::milliseconds read_milliseconds(const auto& field) {
  return std::chrono::milliseconds{field.template as<std::int64_t>()};
}

// The columns of the look statement, in its order.
enum Column : int {
  now,
  gate_open,
  found,
  own_transaction,
  principal,
  operation,
  idempotency_key,
  fingerprint,
  state,
  fence,
  attempt,
  generation,
  resumable,
  downstream,
  window_until,
  call_deadline,
  sent_at,
  lease_until,
  retention,
  response_status,
  response_headers,
  response_body,
  created_at,
  finished_at,
  expires_at,
  resolved_by,
  resolved_note,
};

// The columns of the list statement, in its order.
namespace listed {
enum Column : int {
  now,
  principal,
  operation,
  idempotency_key,
  state,
  fence,
  attempt,
  generation,
  downstream,
  created_at,
  lease_until,
  expires_at,
};
}  // namespace listed

// The columns of the findings' cursor, in its order.
namespace compared {
enum Column : int {
  entry_key,
  outcome,
  amount,
  reference,
  at,
  charged_before,
  charged_at_all,
  downstream_key,
  principal,
  operation,
  idempotency_key,
  state,
  fence,
  attempt,
  generation,
  created_at,
  lease_is_live,
  our_amount,
  our_reference,
  effect_rows,
};
}  // namespace compared

// The columns of the statements that read repairs, in their order.
namespace repaired {
enum Column : int {
  repair_key,
  principal,
  operation,
  idempotency_key,
  fence,
  attempt,
  generation,
  downstream_key,
  repair_as,
  amount,
  reference,
  entry_at,
  queued_at,
  queued_by,
  done_at,
  note,
};
}  // namespace repaired

SettlementEntry read_entry(const auto& row) {
  using compared::Column;
  return {.downstream_key = read_text(row[Column::entry_key]).value(),
          .outcome = static_cast<SettlementOutcome>(row[Column::outcome].template as<std::int16_t>()),
          .amount = row[Column::amount].template as<std::int64_t>(),
          .reference = read_text(row[Column::reference]).value(),
          .at = read_optional_time(row[Column::at])};
}

OurSide read_ours(const auto& row) {
  using compared::Column;
  OurSide ours{.key = {row[Column::principal].c_str(), row[Column::operation].c_str(),
                       row[Column::idempotency_key].c_str()},
               .state = read_state(row[Column::state]),
               .holder = {row[Column::fence].template as<std::int64_t>(), read_uuid(row[Column::attempt])},
               .generation = row[Column::generation].template as<std::int64_t>(),
               .created_at = read_time(row[Column::created_at]),
               .lease_is_live = row[Column::lease_is_live].template as<bool>(),
               .downstream_key = row[Column::downstream_key].c_str()};
  if (row[Column::effect_rows].is_null()) return ours;
  const auto rows = row[Column::effect_rows].template as<std::int64_t>();
  if (rows > 1) {
    throw InvalidArgument{"the relation of effects has two rows for one downstream key: " +
                          ours.downstream_key};
  }
  ours.effect_is_missing = rows == 0;
  if (!row[Column::our_amount].is_null()) ours.amount = row[Column::our_amount].template as<std::int64_t>();
  ours.reference = read_text(row[Column::our_reference]);
  return ours;
}

RepairAs read_repair_as(const auto& field) {
  const auto number = field.template as<std::int16_t>();
  if (number < 1 || number > 3) {
    throw StoredDataError{"a repair is of kind " + std::to_string(number) + ", which no version writes"};
  }
  return static_cast<RepairAs>(number);
}

Repair read_repair(const auto& row) {
  using repaired::Column;
  Repair repair{.repair_key = row[Column::repair_key].c_str(),
                .key = {row[Column::principal].c_str(), row[Column::operation].c_str(),
                        row[Column::idempotency_key].c_str()},
                .holder = {row[Column::fence].template as<std::int64_t>(), read_uuid(row[Column::attempt])},
                .generation = row[Column::generation].template as<std::int64_t>(),
                .as = read_repair_as(row[Column::repair_as]),
                .downstream_key = row[Column::downstream_key].c_str(),
                .queued_at = read_time(row[Column::queued_at]),
                .queued_by = row[Column::queued_by].c_str(),
                .done_at = read_optional_time(row[Column::done_at]),
                .note = read_text(row[Column::note])};
  if (repair.as != RepairAs::not_charged) {
    repair.entry = {
        .downstream_key = repair.downstream_key,
        .outcome = repair.as == RepairAs::charged ? SettlementOutcome::charged : SettlementOutcome::declined,
        .amount = row[Column::amount].template as<std::int64_t>(),
        .reference = read_text(row[Column::reference]).value(),
        .at = read_optional_time(row[Column::entry_at])};
  }
  return repair;
}

}  // namespace

Look read_look(const pqxx::result& result, const Key& key) {
  const auto row = result[0];
  Look look;
  look.now = read_time(row[Column::now]);
  look.gate_open = row[Column::gate_open].as<bool>();
  if (!row[Column::found].as<bool>()) return look;
  look.own_transaction = row[Column::own_transaction].as<bool>();

  Record record{.key = {row[Column::principal].c_str(), row[Column::operation].c_str(),
                        row[Column::idempotency_key].c_str()},
                .fingerprint = Fingerprint::from_bytes(read_bytes(row[Column::fingerprint]))};
  if (record.key != key) throw StoredDataError{"another key's record stands under this key's hash"};
  record.state = read_state(row[Column::state]);
  record.holder = {row[Column::fence].as<std::int64_t>(), read_uuid(row[Column::attempt])};
  record.generation = row[Column::generation].as<std::int64_t>();
  record.resumable = row[Column::resumable].as<bool>();
  record.downstream = read_text(row[Column::downstream]);
  record.window_until = read_optional_time(row[Column::window_until]);
  record.call_deadline = read_milliseconds(row[Column::call_deadline]);
  record.sent_at = read_optional_time(row[Column::sent_at]);
  record.lease_until = read_time(row[Column::lease_until]);
  record.retention = read_milliseconds(row[Column::retention]);
  if (!row[Column::response_status].is_null()) {
    const auto headers = read_bytes(row[Column::response_headers]);
    record.response =
        Response{row[Column::response_status].as<int>(),
                 decode_headers({reinterpret_cast<const char*>(headers.data()), headers.size()}),
                 read_bytes(row[Column::response_body])};
  }
  record.created_at = read_time(row[Column::created_at]);
  record.finished_at = read_optional_time(row[Column::finished_at]);
  record.expires_at = read_optional_time(row[Column::expires_at]);
  record.resolved_by = read_text(row[Column::resolved_by]);
  record.resolved_note = read_text(row[Column::resolved_note]);
  look.record = std::move(record);
  return look;
}

std::vector<RecordSummary> read_summaries(const pqxx::result& result) {
  using listed::Column;
  std::vector<RecordSummary> summaries;
  summaries.reserve(static_cast<std::size_t>(result.size()));
  for (const auto& row : result) {
    const TimePoint now = read_time(row[Column::now]);
    RecordSummary summary{.key = {row[Column::principal].c_str(), row[Column::operation].c_str(),
                                  row[Column::idempotency_key].c_str()},
                          .state = read_state(row[Column::state]),
                          .holder = {row[Column::fence].as<std::int64_t>(), read_uuid(row[Column::attempt])},
                          .generation = row[Column::generation].as<std::int64_t>(),
                          .downstream = read_text(row[Column::downstream]),
                          .created_at = read_time(row[Column::created_at]),
                          .lease_until = read_time(row[Column::lease_until]),
                          .expires_at = read_optional_time(row[Column::expires_at])};
    summary.age = std::max(now - summary.created_at, std::chrono::microseconds{0});
    summary.lapsed = summary.state == State::in_progress && summary.lease_until <= now;
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

LapsedPage read_lapsed(const pqxx::result& result, const std::string& operation) {
  LapsedPage page;
  for (const auto& row : result) {
    page.now = read_time(row[0]);
    page.oldest_open = read_optional_time(row[1]);
    if (row[2].is_null()) continue;
    page.records.push_back({{row[2].c_str(), operation, row[3].c_str()},
                            Fingerprint::from_bytes(read_bytes(row[4])),
                            read_time(row[5]),
                            read_time(row[6])});
  }
  return page;
}

std::vector<Compared> read_compared(const pqxx::result& result) {
  using compared::Column;
  std::vector<Compared> all;
  all.reserve(static_cast<std::size_t>(result.size()));
  for (const auto& row : result) {
    Compared each;
    if (!row[Column::entry_key].is_null()) {
      each.entry = read_entry(row);
      each.context = {.charged_before = row[Column::charged_before].as<bool>(),
                      .charged_at_all = row[Column::charged_at_all].as<bool>()};
    }
    if (!row[Column::principal].is_null()) each.ours = read_ours(row);
    all.push_back(std::move(each));
  }
  return all;
}

std::vector<Repair> read_repairs(const pqxx::result& result) {
  std::vector<Repair> repairs;
  repairs.reserve(static_cast<std::size_t>(result.size()));
  for (const auto& row : result) repairs.push_back(read_repair(row));
  return repairs;
}

std::string encode_headers(const std::vector<Header>& headers) {
  std::string text;
  for (const Header& header : headers) text += header.name + ':' + header.value + '\n';
  return text;
}

std::vector<Header> decode_headers(std::string_view text) {
  std::vector<Header> headers;
  while (!text.empty()) {
    const std::size_t colon = text.find(':');
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos || colon >= end) {
      throw StoredDataError{"a record's response_headers are not \"name:value\" lines"};
    }
    headers.push_back(
        {std::string{text.substr(0, colon)}, std::string{text.substr(colon + 1, end - colon - 1)}});
    text.remove_prefix(end + 1);
  }
  return headers;
}

}  // namespace postgres
}  // namespace v0
}  // namespace idem
