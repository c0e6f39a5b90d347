#include "interleavings/steps.hpp"

#include <chrono>
#include <utility>

#include "idem/request/fingerprint.hpp"

namespace idem::interleavings {
namespace {

Fingerprint fingerprint_of(const std::string& body) {
  return Fingerprinter{}({.method = "POST", .operation = "pay", .query = {}, .body = body});
}

bool holds(const Session& session) {
  return session.holds();
}

Step with_lease(std::string name, const std::function<void(Session&, Event&, const Lease&)>& run) {
  return {std::move(name), [run](Session& session, Event& event) { run(session, event, *session.lease); },
          holds};
}

std::string name_of(How how) {
  switch (how) {
    case How::fresh:
      return "Acquired fresh";
    case How::again:
      return "Acquired again";
    case How::took_over:
      return "Acquired took_over";
  }
  return "?";
}

std::string name_of(const Reservation& reservation) {
  if (const auto* acquired = std::get_if<Acquired>(&reservation)) return name_of(acquired->how);
  if (const auto* replay = std::get_if<Replay>(&reservation))
    return "Replay of " + std::string{body_text(replay->response)};
  if (std::holds_alternative<InProgress>(reservation)) return "InProgress";
  if (std::holds_alternative<Mismatch>(reservation)) return "Mismatch";
  return "Unknown";
}

void reserve_in(Session& session, Event& event, const ReserveOptions& options, const std::string& body) {
  Reservation reservation = session.store()->reserve(session.key(), fingerprint_of(body), options);
  event.answer = name_of(reservation);
  session.lease.reset();
  if (const auto* acquired = std::get_if<Acquired>(&reservation)) session.lease = acquired->lease;
  event.reservation = std::move(reservation);
}

bool usable(const Session& session) {
  return !session.doomed();
}

void complete_in(Session& session, Event& event, const Lease& lease) {
  const Response response = answer_of(session, lease.generation);
  session.store()->complete(lease, response);
  event.settled = {lease.generation, State::completed, response};
}

std::string with_key(std::string statement, Session& session) {
  const std::string mark = "{key}";
  const std::string key = session.transaction().quote(session.key().value);
  for (std::size_t at = statement.find(mark); at != std::string::npos;
       at = statement.find(mark, at + key.size())) {
    statement.replace(at, mark.size(), key);
  }
  return statement;
}

}  // namespace

Response answer_of(const Session& session, std::int64_t generation) {
  Response response = text_response(201, "session " + std::to_string(session.number() + 1));
  response.headers.push_back({"generation", std::to_string(generation)});
  return response;
}

void write_effect(Session& session, Event& event, std::int64_t generation) {
  pqxx::dbtransaction& tx = session.transaction();
  tx.exec("INSERT INTO effect VALUES (" + tx.quote(session.key().value) + ", " +
          std::to_string(session.number()) + ", " + std::to_string(session.transaction_number()) + ", " +
          std::to_string(generation) + ")");
  event.paid = generation;
}

Step reserve(const ReserveOptions& options, const std::string& body) {
  return {"reserve",
          [options, body](Session& session, Event& event) { reserve_in(session, event, options, body); },
          usable};
}

Step reserve_under_one_attempt() {
  return {"reserve",
          [](Session& session, Event& event) {
            reserve_in(session, event, {.attempt = deterministic_uuid(session.key(), "attempt")}, "{}");
          },
          usable};
}

Step pay() {
  return with_lease("pay", [](Session& session, Event& event, const Lease& lease) {
    write_effect(session, event, lease.generation);
  });
}

Step complete() {
  return with_lease("complete", complete_in);
}

Step fail() {
  return with_lease("fail", [](Session& session, Event& event, const Lease& lease) {
    const Response response = answer_of(session, lease.generation);
    session.store()->fail(lease, response);
    event.settled = {lease.generation, State::failed, response};
  });
}

Step pay_and_complete() {
  return with_lease("pay+complete", [](Session& session, Event& event, const Lease& lease) {
    write_effect(session, event, lease.generation);
    complete_in(session, event, lease);
  });
}

Step mark_sent() {
  return with_lease("mark_sent",
                    [](Session& session, Event&, const Lease& lease) { session.store()->mark_sent(lease); });
}

Step mark_unknown() {
  return with_lease("mark_unknown", [](Session& session, Event&, const Lease& lease) {
    session.store()->mark_unknown(lease, text_response(202, "not known yet"));
  });
}

Step renew() {
  return with_lease("renew", [](Session& session, Event&, const Lease& lease) {
    session.lease = session.store()->renew(lease, std::chrono::seconds{30});
  });
}

Step lapse() {
  return with_lease("lapse",
                    [](Session& session, Event&, const Lease& lease) { session.store()->lapse(lease); });
}

Step release() {
  return with_lease("release", [](Session& session, Event&, const Lease& lease) {
    session.transaction().exec(with_key("DELETE FROM effect WHERE key = {key} AND generation = ", session) +
                               std::to_string(lease.generation));
    session.store()->release(lease);
    session.lease.reset();
  });
}

Step find() {
  return {"find",
          [](Session& session, Event& event) {
            session.found = session.store()->find(session.key());
            if (!session.found) {
              event.answer = "absent";
            } else if (session.found->expires_at) {
              event.reservation =
                  Replay{session.found->state, *session.found->response, *session.found->expires_at};
              event.answer = name_of(*event.reservation);
            } else {
              event.answer = session.found->state == State::unknown ? "UNKNOWN" : "IN_PROGRESS";
            }
          },
          usable};
}

Step resolve(State state) {
  return {"resolve",
          [state](Session& session, Event& event) {
            const Record& record = *session.found;
            Resolution resolution{.who = "operator", .why = "the acquirer's books"};
            if (state == State::completed) {
              write_effect(session, event, record.generation);
              resolution.generation = record.generation;
            } else {
              resolution.no_effect = NoEffect::operator_decision;
            }
            const Response response = answer_of(session, record.generation);
            session.store()->resolve(session.key(), record.holder, state, response, resolution);
            event.settled = {record.generation, state, response};
          },
          [](const Session& session) {
            return !session.doomed() && session.found && session.found->state == State::unknown;
          }};
}

Step commit() {
  return {"commit", [](Session& session, Event& event) { session.commit(event); },
          [](const Session& session) { return session.in_transaction(); }};
}

Step commit_and_call() {
  return {"commit+call",
          [](Session& session, Event& event) {
            session.commit(event);
            event.called = event.committed && session.lease.has_value();
          },
          [](const Session& session) { return session.in_transaction(); }};
}

Step rollback() {
  return {"rollback", [](Session& session, Event&) { session.rollback(); },
          [](const Session& session) { return session.in_transaction(); }};
}

Step expire() {
  return {"expire",
          [](Session& session, Event& event) {
            const pqxx::result rows = session.transaction().exec(
                with_key("UPDATE idem_record SET expires_at = least(expires_at, clock_timestamp()) "
                         "WHERE idempotency_key = {key} AND state IN (2, 3) RETURNING 1",
                         session));
            session.commit(event);
            event.expired = event.committed && !rows.empty();
            event.answer = event.expired ? "expired" : "nothing to expire";
          },
          usable};
}

Step sql(const std::string& name, const std::string& statement) {
  return {name,
          [statement](Session& session, Event& event) {
            const pqxx::result rows = session.transaction().exec(with_key(statement, session));
            event.answer = std::to_string(rows.affected_rows()) + " rows";
          },
          usable};
}

Step purge() {
  return {"purge",
          [](Session& session, Event& event) {
            const PurgedBatch purged = session.backend().purge_records(
                session.transaction(), {.most_rows = 1'000'000, .places = 1'000'000});
            event.answer = std::to_string(purged.rows) + " rows";
          },
          usable};
}

}  // namespace idem::interleavings
