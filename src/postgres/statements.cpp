#include "postgres/statements.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "postgres/sql.hpp"

namespace idem {
inline namespace v0 {
namespace postgres {
namespace {

std::string replace_all(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// clock_timestamp(), never now(), which stands still in a transaction; read once a statement, as c.now. A subquery with
// a volatile function is never merged into its parent.
constexpr std::string_view clock = "(SELECT clock_timestamp() AS now) AS c";

constexpr std::string_view new_fence = "(extract(epoch FROM c.now) * 1000000)::bigint";

constexpr std::string_view insert = R"sql(
INSERT INTO {record} AS r
  (key_hash, principal, operation, idempotency_key, fingerprint, state, fence, attempt, generation, reserved_xact,
   resumable, downstream, window_until, call_deadline, lease_until, retention, created_at)
SELECT $1::uuid, $2, $3, $4, $5, 1, {new_fence}, $6::uuid, {new_fence}, pg_current_xact_id(),
       $7, $8, c.now + $9, $10, c.now + $11, $12, c.now
  FROM {clock}
 WHERE {gate}
ON CONFLICT (key_hash) DO NOTHING
RETURNING fence, {us:lease_until})sql";

// The lock is tried only where no row is seen, so that replays take none.
constexpr std::string_view insert_gate = R"sql(
CASE WHEN EXISTS (SELECT FROM {record} WHERE key_hash = $1::uuid) THEN false
     ELSE pg_try_advisory_xact_lock($13) END)sql";

constexpr std::string_view look = R"sql(
SELECT {us:c.now}, {gate}, r.key_hash IS NOT NULL,
       coalesce(r.reserved_xact = pg_current_xact_id_if_assigned(), false),
       r.principal, r.operation, r.idempotency_key, encode(r.fingerprint, 'hex'), r.state, r.fence, r.attempt,
       r.generation, r.resumable, r.downstream, {us:r.window_until}, {ms:r.call_deadline}, {us:r.sent_at},
       {us:r.lease_until}, {ms:r.retention}, r.response_status, encode(r.response_headers, 'hex'),
       encode(r.response_body, 'hex'), {us:r.created_at}, {us:r.finished_at}, {us:r.expires_at},
       r.resolved_by, r.resolved_note
  FROM {clock} LEFT JOIN {record} AS r ON r.key_hash = $1::uuid)sql";

constexpr std::string_view look_gate =
    "CASE WHEN r.key_hash IS NULL THEN pg_try_advisory_xact_lock($2) ELSE true END";

// The row as it was judged, locked. SKIP LOCKED: whoever holds it is settling it or taking it over right now.
constexpr std::string_view judged = R"sql(
(SELECT key_hash FROM {record}
  WHERE key_hash = $1::uuid AND fence = $2 AND attempt = $3::uuid AND {still}
    FOR UPDATE{skip_locked}))sql";

constexpr std::string_view lapsed = "state = 1 AND lease_until <= clock_timestamp()";
// mark_sent changes neither fence nor attempt, and forbids the takeover that was judged before it.
constexpr std::string_view resumable =
    "state = 1 AND lease_until <= clock_timestamp() AND (window_until IS NOT NULL OR sent_at IS NULL)";
constexpr std::string_view expired = "state IN (2, 3) AND expires_at <= clock_timestamp()";

constexpr std::string_view take_over = R"sql(
UPDATE {record} AS r
   SET fence = greatest(r.fence + 1, {new_fence}), attempt = $4::uuid, reserved_xact = pg_current_xact_id(),
       lease_until = c.now + $5
  FROM {clock}
 WHERE r.key_hash = {judged}
RETURNING r.fence, {us:r.lease_until})sql";

constexpr std::string_view replace = R"sql(
UPDATE {record} AS r
   SET fingerprint = $5, state = 1, fence = greatest(r.fence + 1, {new_fence}), attempt = $4::uuid,
       generation = greatest(r.fence + 1, {new_fence}), reserved_xact = pg_current_xact_id(),
       resumable = $6, downstream = $7, window_until = c.now + $8, call_deadline = $9, sent_at = NULL,
       lease_until = c.now + $10, retention = $11, response_status = NULL, response_headers = NULL,
       response_body = NULL, created_at = c.now, finished_at = NULL, expires_at = NULL, resolved_by = NULL,
       resolved_note = NULL
  FROM {clock}
 WHERE r.key_hash = {judged}
RETURNING r.fence, {us:r.lease_until})sql";

constexpr std::string_view turn_unknown = R"sql(
UPDATE {record} SET state = 4 WHERE key_hash = {judged} RETURNING 1)sql";

constexpr std::string_view resume_own = R"sql(
UPDATE {record} AS r
   SET lease_until = c.now + $4, reserved_xact = pg_current_xact_id()
  FROM {clock}
 WHERE r.key_hash = $1::uuid AND r.fence = $2 AND r.attempt = $3::uuid AND r.state = 1
RETURNING r.fence, {us:r.lease_until})sql";

constexpr std::string_view settle = R"sql(
UPDATE {record} AS r
   SET state = $4, response_status = $5, response_headers = $6, response_body = $7,
       finished_at = c.now, expires_at = c.now + r.retention
  FROM {clock}
 WHERE r.key_hash = $1::uuid AND r.fence = $2 AND r.attempt = $3::uuid AND r.state IN (1, 4)
RETURNING {us:r.expires_at})sql";

constexpr std::string_view mark_unknown = R"sql(
UPDATE {record}
   SET state = 4, response_status = $4, response_headers = $5, response_body = $6
 WHERE key_hash = $1::uuid AND fence = $2 AND attempt = $3::uuid
   AND (state = 1 OR (state = 4 AND response_status IS NULL))
RETURNING 1)sql";

constexpr std::string_view hold = R"sql(
SELECT 1 FROM {record}
 WHERE key_hash = $1::uuid AND fence = $2 AND attempt = $3::uuid AND state IN (1, 4)
   FOR NO KEY UPDATE)sql";

constexpr std::string_view mark_sent = R"sql(
UPDATE {record}
   SET sent_at = clock_timestamp()
 WHERE key_hash = $1::uuid AND fence = $2 AND attempt = $3::uuid AND state = 1
RETURNING 1)sql";

constexpr std::string_view renew = R"sql(
UPDATE {record}
   SET lease_until = clock_timestamp() + $4
 WHERE key_hash = $1::uuid AND fence = $2 AND attempt = $3::uuid AND state = 1
RETURNING {us:lease_until})sql";

constexpr std::string_view lapse = R"sql(
UPDATE {record}
   SET lease_until = least(lease_until, clock_timestamp())
 WHERE key_hash = $1::uuid AND fence = $2 AND attempt = $3::uuid AND state = 1
RETURNING 1)sql";

constexpr std::string_view release = R"sql(
DELETE FROM {record}
 WHERE key_hash = $1::uuid AND fence = $2 AND attempt = $3::uuid AND state = 1
   AND NOT taken_over AND sent_at IS NULL
RETURNING 1)sql";

constexpr std::string_view resolve = R"sql(
UPDATE {record} AS r
   SET state = $4, response_status = $5, response_headers = $6, response_body = $7,
       finished_at = c.now, expires_at = c.now + r.retention, resolved_by = $8, resolved_note = $9
  FROM {clock}
 WHERE r.key_hash = $1::uuid AND r.fence = $2 AND r.attempt = $3::uuid AND r.state = 4
RETURNING {us:r.expires_at})sql";

// An event further in the future than the skew has a clock that cannot be believed. Added to the times, not subtracted
// from each other, so that no interval is compared.
constexpr std::string_view in_time = R"sql(
CASE WHEN e.made_at IS NULL OR e.made_at > c.now + $4 THEN $5 ELSE e.made_at + $3 >= c.now END)sql";

// Ordered, so that two batches take their rows in one order and never wait for each other in a circle.
constexpr std::string_view receive = R"sql(
INSERT INTO {inbox} (consumer, source, event_id, received_at, keep_until)
SELECT $1, e.source, e.event_id, c.now, greatest(c.now, e.made_at) + $3 + $4
  FROM {clock} CROSS JOIN ($2) AS e (source, event_id, made_at)
 WHERE {in_time}
 ORDER BY e.source COLLATE "C", e.event_id COLLATE "C"
ON CONFLICT (consumer, source, event_id) DO NOTHING
RETURNING source, event_id)sql";

constexpr std::string_view seen = R"sql(
SELECT e.source, e.event_id, i.consumer IS NOT NULL, {in_time}
  FROM {clock} CROSS JOIN ($2) AS e (source, event_id, made_at)
       LEFT JOIN {inbox} AS i ON i.consumer = $1 AND i.source = e.source AND i.event_id = e.event_id)sql";

constexpr std::string_view advance = R"sql(
INSERT INTO {version_guard} AS g (consumer, entity, version, updated_at)
VALUES ($1, $2, $3, clock_timestamp())
ON CONFLICT (consumer, entity) DO UPDATE
   SET version = excluded.version, updated_at = excluded.updated_at
 WHERE g.version < excluded.version
RETURNING 1)sql";

// Read once over what created_since leaves of the table. The page's first row tells of all.
constexpr std::string_view lapsed_records = R"sql(
WITH c AS MATERIALIZED (SELECT clock_timestamp() AS now),
open AS MATERIALIZED (
  SELECT principal, idempotency_key, fingerprint, created_at, key_hash, lease_until
    FROM {record}
   WHERE state = 1 AND downstream IS NOT NULL AND operation = $1
     AND created_at >= $2)
SELECT {us:c.now}, {us:(SELECT min(created_at) FROM open)},
       l.principal, l.idempotency_key, encode(l.fingerprint, 'hex'), {us:l.created_at}, {us:l.lease_until}
  FROM c LEFT JOIN LATERAL (
         SELECT * FROM open
          WHERE lease_until <= c.now AND (created_at, key_hash) > ($3, $4::uuid)
          ORDER BY created_at, key_hash LIMIT $5) AS l ON true
 ORDER BY l.created_at, l.key_hash)sql";

// The identity column is counted in the order of the rows. Returns the time in their ids.
constexpr std::string_view append = R"sql(
WITH t AS MATERIALIZED (
  SELECT c.now,
         overlay(lpad(to_hex(floor(extract(epoch FROM c.now) * 1000)::bigint), 12, '0') PLACING '-' FROM 9 FOR 0) AS id_time
    FROM {clock}),
appended AS (
  INSERT INTO {outbox}
    (event_id, shard, aggregate_type, aggregate_id, event_type, payload, headers, created_at)
  SELECT (t.id_time || m.id_rest)::uuid, m.shard, m.aggregate_type, m.aggregate_id, m.event_type, m.payload, m.headers,
         t.now
    FROM t CROSS JOIN ($1) AS m (place, id_rest, shard, aggregate_type, aggregate_id, event_type, payload, headers)
   ORDER BY m.place)
SELECT id_time FROM t)sql";

// A part of the table, by its blocks: no index is needed, and however many rows were deleted before, no batch looks at
// them again. SKIP LOCKED: a row that somebody is using is not waited for, and several purgers pass each other.
// {useless} is asked again of the row that is deleted.
constexpr std::string_view purge = R"sql(
WITH gone AS (
  DELETE FROM {purged}
   WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM {purged}
            WHERE ctid >= format('(%s,0)', $2)::tid AND ctid < format('(%s,0)', $3)::tid AND {useless}
            LIMIT $4 FOR UPDATE SKIP LOCKED))
     AND {useless}
  RETURNING 1)
SELECT (SELECT count(*) FROM gone),
       $3 >= pg_relation_size($5::regclass) / current_setting('block_size')::bigint)sql";

// now(), which stands still in the transaction, is never later than the clock.
constexpr std::string_view useless_record =
    "state IN (2, 3) AND expires_at <= now() AND created_at <= now() - $1";
constexpr std::string_view useless_event = "keep_until <= now() AND received_at <= now() - $1";

constexpr std::string_view count_purgeable = R"sql(
SELECT (SELECT count(*) FROM {record} WHERE {useless_record}), (SELECT count(*) FROM {inbox} WHERE {useless_event}))sql";

constexpr std::string_view find_event = R"sql(
SELECT {us:received_at}, {us:keep_until} FROM {inbox} WHERE consumer = $1 AND source = $2 AND event_id = $3)sql";

// A filter that is not set is folded away by the planner. The time is not joined as elsewhere: as a value, it is compared
// while the table is scanned, so that no more rows than the limit are kept, and it can be an index condition.
constexpr std::string_view list = R"sql(
WITH c AS MATERIALIZED (SELECT clock_timestamp() AS now)
SELECT {us:(SELECT now FROM c)}, principal, operation, idempotency_key, state, fence, attempt, generation, downstream,
       {us:created_at}, {us:lease_until}, {us:expires_at}
  FROM {record}
 WHERE CASE state WHEN 1 THEN $1 WHEN 2 THEN $2 WHEN 3 THEN $3 ELSE $4 END
   AND (expires_at IS NULL OR expires_at > (SELECT now FROM c))
   AND ($5::text IS NULL OR principal = $5)
   AND ($6::text IS NULL OR operation = $6)
   AND ($7::interval IS NULL OR created_at <= (SELECT now FROM c) - $7)
 ORDER BY created_at, key_hash
 LIMIT $8)sql";

// Which entries of one key are charges, so that the second one is known as such wherever the two are in the file. `key` is
// a UUID, as all of ours are; another text is never joined.
constexpr std::string_view create_settlement = R"sql(
CREATE TEMPORARY TABLE {settlement} (line bigint NOT NULL, key uuid, other_key text, outcome smallint NOT NULL,
  amount bigint NOT NULL, reference text NOT NULL, at_us bigint) ON COMMIT DROP)sql";

constexpr std::string_view insert_settlement = R"sql(
INSERT INTO {settlement} (line, key, other_key, outcome, amount, reference, at_us)
SELECT line, key::uuid, other_key::text, outcome, amount, reference, at_us::bigint
  FROM ($1) AS v (line, key, other_key, outcome, amount, reference, at_us))sql";

// FULL JOIN needs a condition that is one equality, so the period, which an entry overrules, is asked for afterwards.
constexpr std::string_view open_findings = R"sql(
DECLARE {cursor} NO SCROLL CURSOR FOR
SELECT coalesce(e.key::text, e.other_key), e.outcome, e.amount, e.reference, e.at_us, e.charged_before, e.charged_at_all,
       r.downstream_key, r.principal, r.operation, r.idempotency_key, r.state, r.fence, r.attempt, r.generation,
       {us:r.created_at}, r.lease_is_live, {effect}
  FROM (SELECT line, key, other_key, outcome, amount, reference, at_us,
               outcome = 1 AND row_number() OVER (PARTITION BY key, other_key, outcome ORDER BY line) > 1
                 AS charged_before,
               bool_or(outcome = 1) OVER (PARTITION BY key, other_key) AS charged_at_all
          FROM {settlement}) AS e
       FULL JOIN
       (SELECT CASE WHEN $1 LIKE '%#generation'
                    THEN {downstream_key}(principal, operation, idempotency_key, fingerprint, generation)
                    ELSE {downstream_key}(principal, operation, idempotency_key, fingerprint)
               END AS downstream_key,
               principal, operation, idempotency_key, state, fence, attempt, generation, created_at,
               state = 1 AND lease_until > c.now AS lease_is_live
          FROM {clock} CROSS JOIN {record}
         WHERE downstream = $1) AS r
       ON e.key = r.downstream_key{join_effects}
 WHERE e.line IS NOT NULL
    OR (($2 IS NULL OR r.created_at >= $2) AND ($3 IS NULL OR r.created_at < $3))
 ORDER BY e.line, r.created_at, r.downstream_key)sql";

constexpr std::string_view no_effect = "NULL::bigint, NULL::text, NULL::bigint";
constexpr std::string_view effect = "f.amount, f.reference, coalesce(f.rows, 0)";
// Grouped, so that a key with two rows is seen as that and not as two findings.
constexpr std::string_view join_effects = R"sql(
       LEFT JOIN
       (SELECT lower(downstream_key::text) AS downstream_key, min(amount)::bigint AS amount, min(reference::text) AS reference,
               count(*) AS rows
          FROM {effects}
         GROUP BY 1) AS f
       ON f.downstream_key = r.downstream_key::text)sql";

constexpr std::string_view effects_columns = R"sql(
SELECT to_regclass($1) IS NOT NULL,
       (SELECT count(*) FROM pg_attribute
         WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped
           AND (attname IN ('downstream_key', 'reference')
                OR (attname = 'amount' AND atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype)))))sql";

constexpr std::string_view queue_repair = R"sql(
INSERT INTO {repair}
  (repair_key, principal, operation, idempotency_key, fence, attempt, generation, downstream_key, repair_as, amount,
   reference, entry_at, queued_at, queued_by)
VALUES ($1::uuid, $2, $3, $4, $5, $6::uuid, $7, $8::uuid, $9, $10::bigint, $11, $12, clock_timestamp(), $13)
ON CONFLICT (repair_key) DO NOTHING
RETURNING 1)sql";

constexpr std::string_view repairs = R"sql(
SELECT repair_key, principal, operation, idempotency_key, fence, attempt, generation, downstream_key, repair_as, amount,
       reference, {us:entry_at}, {us:queued_at}, queued_by, {us:done_at}, note
  FROM {repair})sql";

constexpr std::string_view list_repairs = R"sql({repairs}
 WHERE ($1::text IS NULL OR operation = $1) AND ($2 OR done_at IS NULL)
   AND ($3::timestamptz IS NULL OR (queued_at, repair_key) > ($3, $4::uuid))
 ORDER BY queued_at, repair_key
 LIMIT $5)sql";

constexpr std::string_view next_repairs = R"sql({repairs}
 WHERE operation = $1 AND done_at IS NULL
 ORDER BY queued_at, repair_key
 LIMIT $2
   FOR UPDATE SKIP LOCKED)sql";

constexpr std::string_view lock_repair = R"sql(
SELECT 1 FROM {repair} AS mine
 WHERE repair_key = $1::uuid AND done_at IS NULL
   AND (repair_as = 1 OR NOT EXISTS (
         SELECT FROM {repair} AS charge
          WHERE charge.done_at IS NULL AND charge.repair_as = 1 AND charge.operation = mine.operation
            AND charge.principal = mine.principal AND charge.idempotency_key = mine.idempotency_key
            AND charge.generation = mine.generation))
   FOR UPDATE SKIP LOCKED)sql";

constexpr std::string_view finish_repair = R"sql(
UPDATE {repair} SET done_at = clock_timestamp(), note = $2
 WHERE repair_key = $1::uuid AND done_at IS NULL
RETURNING 1)sql";

// {us:x}: x in microseconds since 1970. {ms:x}: the interval x in milliseconds.
std::string with_units(std::string text) {
  for (const auto& [mark, factor] : {std::pair{"{us:", "1000000"}, std::pair{"{ms:", "1000"}}) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
      const std::size_t end = text.find('}', at);
      const std::string inner = text.substr(at + 4, end - at - 4);
      text.replace(at, end - at + 1, "(extract(epoch FROM " + inner + ") * " + factor + ")::bigint");
    }
  }
  return text;
}

// In one pass: a configured name may hold what looks like a place for another one. `effects` is quoted already.
std::string with_names(std::string_view text, const Names& names, const std::string& effects = {}) {
  const std::pair<std::string_view, std::string> places[] = {
      {"{record}", qualified(names, names.record)},
      {"{inbox}", qualified(names, names.inbox)},
      {"{version_guard}", qualified(names, names.version_guard)},
      {"{outbox}", qualified(names, names.outbox)},
      {"{repair}", qualified(names, names.repair)},
      {"{downstream_key}", qualified(names, names.downstream_key)},
      {"{effects}", effects}};
  std::string named;
  while (!text.empty()) {
    const auto* const place = std::find_if(std::begin(places), std::end(places),
                                           [&](const auto& each) { return text.starts_with(each.first); });
    if (place == std::end(places)) {
      named += text.front();
      text.remove_prefix(1);
    } else {
      named += place->second;
      text.remove_prefix(place->first.size());
    }
  }
  return named;
}

std::string render(std::string_view statement, const Names& names, std::string_view gate = "true",
                   std::string_view still = {}, std::string_view skip_locked = {}) {
  std::string text = replace_all(std::string{statement}, "{judged}", judged);
  text = replace_all(std::move(text), "{gate}", gate);
  text = replace_all(std::move(text), "{still}", still);
  text = replace_all(std::move(text), "{skip_locked}", skip_locked);
  text = replace_all(std::move(text), "{in_time}", in_time);
  text = replace_all(std::move(text), "{clock}", clock);
  text = replace_all(std::move(text), "{new_fence}", new_fence);
  return with_names(with_units(std::move(text)), names);
}

std::string render_purge(const Names& names, std::string_view purged, std::string_view useless) {
  return render(replace_all(replace_all(std::string{purge}, "{useless}", useless), "{purged}", purged),
                names);
}

constexpr std::string_view skip_locked = " SKIP LOCKED";

}  // namespace

Statements::Statements(const Names& names, Gate gate)
    : insert{render(postgres::insert, names, gate == Gate::advisory_lock ? insert_gate : "true")},
      wait_for_gate{gate == Gate::advisory_lock ? "SELECT pg_advisory_xact_lock($1)" : ""},
      insert_waiting{render(postgres::insert, names)},
      look{render(postgres::look, names, gate == Gate::advisory_lock ? look_gate : "true")},
      find{render(postgres::look, names)},
      take_over{render(postgres::take_over, names, {}, resumable, skip_locked)},
      take_over_waiting{render(postgres::take_over, names, {}, resumable)},
      replace{render(postgres::replace, names, {}, expired, skip_locked)},
      replace_waiting{render(postgres::replace, names, {}, expired)},
      turn_unknown{render(postgres::turn_unknown, names, {}, lapsed, skip_locked)},
      turn_unknown_waiting{render(postgres::turn_unknown, names, {}, lapsed)},
      resume_own{render(postgres::resume_own, names)},
      settle{render(postgres::settle, names)},
      mark_unknown{render(postgres::mark_unknown, names)},
      hold{render(postgres::hold, names)},
      mark_sent{render(postgres::mark_sent, names)},
      renew{render(postgres::renew, names)},
      lapse{render(postgres::lapse, names)},
      release{render(postgres::release, names)},
      resolve{render(postgres::resolve, names)},
      receive{render(postgres::receive, names)},
      seen{render(postgres::seen, names)},
      advance{render(postgres::advance, names)},
      lapsed_records{render(postgres::lapsed_records, names)},
      append{render(postgres::append, names)},
      purge_records{render_purge(names, "{record}", useless_record)},
      purge_inbox{render_purge(names, "{inbox}", useless_event)} {}

std::string list_statement(const Names& names) {
  return render(list, names);
}

std::string find_event_statement(const Names& names) {
  return render(find_event, names);
}

std::string count_purgeable_statement(const Names& names) {
  return render(replace_all(replace_all(std::string{count_purgeable}, "{useless_record}", useless_record),
                            "{useless_event}", useless_event),
                names);
}

ReconcileStatements::ReconcileStatements(const Names& names, const std::optional<Relation>& effects,
                                         const std::string& unique)
    : fetch{"FETCH FORWARD $1 FROM {cursor}"}, close{"CLOSE {cursor}"}, drop{"DROP TABLE {settlement}"} {
  const std::string settlement = quote_identifier("idem_settlement_" + unique);
  const std::string cursor = quote_identifier("idem_findings_" + unique);
  const auto rendered = [&](std::string_view statement, const std::string& table) {
    return replace_all(replace_all(std::string{statement}, "{settlement}", table), "{cursor}", cursor);
  };
  create = rendered(create_settlement, settlement);
  insert = rendered(insert_settlement, "pg_temp." + settlement);
  fetch = rendered(fetch, {});
  close = rendered(close, {});
  drop = rendered(drop, "pg_temp." + settlement);
  std::string text = rendered(open_findings, "pg_temp." + settlement);
  text = replace_all(std::move(text), "{effect}", effects ? effect : no_effect);
  text = replace_all(std::move(text), "{join_effects}", effects ? join_effects : "");
  text = replace_all(std::move(text), "{clock}", clock);
  open = with_names(with_units(std::move(text)), names, effects ? qualified(*effects) : std::string{});
}

std::string effects_columns_statement() {
  return std::string{effects_columns};
}

RepairStatements::RepairStatements(const Names& names)
    : queue{render(queue_repair, names)},
      list{render(replace_all(std::string{list_repairs}, "{repairs}", repairs), names)},
      next{render(replace_all(std::string{next_repairs}, "{repairs}", repairs), names)},
      lock{render(lock_repair, names)},
      finish{render(finish_repair, names)} {}

}  // namespace postgres
}  // namespace v0
}  // namespace idem
