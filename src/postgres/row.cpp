#include "row.hpp"

#include <algorithm>

#include "../hex.hpp"
#include "idem/error.hpp"

namespace idem::inline v0::postgres {
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

}  // namespace idem::inline v0::postgres
