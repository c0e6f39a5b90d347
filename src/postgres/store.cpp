#include "postgres/store.hpp"

#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "idem/base/error.hpp"
#include "idem/record/state_table.hpp"
#include "postgres/configuration.hpp"
#include "postgres/row.hpp"
#include "postgres/sql.hpp"
#include "record/in_flight_wait.hpp"
#include "request/key_hash.hpp"

namespace idem {
inline namespace v0 {
namespace postgres {
namespace {

bool settled(State state) {
  return state == State::completed || state == State::failed;
}

std::optional<std::string> name_of(const std::optional<Downstream>& downstream) {
  if (!downstream) return std::nullopt;
  return downstream->stored_name();
}

std::optional<std::chrono::milliseconds> window_of(const std::optional<Downstream>& downstream) {
  if (!downstream) return std::nullopt;
  return downstream->window;
}

/// One call of reserve: looks, judges and writes until one answer holds; waits, where that is asked for.
class Reserving {
 public:
  Reserving(const Configuration& configuration, pqxx::dbtransaction& tx, const Key& key,
            const Fingerprint& fingerprint, const ReserveOptions& options)
      : statements_{configuration.statements},
        tx_{tx},
        key_{key},
        hash_{hash_key(key)},
        lock_{hash_.lock ^ configuration.lock_salt},
        fingerprint_{fingerprint},
        options_{options},
        attempt_{options.attempt.value_or(random_uuid_v4())} {}

  Reservation run() {
    // A statement of its own, so that the reservation is counted from the end of the wait; and with the gate held, this
    // reservation's own duplicates are refused at once.
    if (waits() && !statements_.wait_for_gate.empty()) {
      postgres::run(tx_, filled(statements_.wait_for_gate, {Literal{lock_}}));
    }
    idem::detail::InFlightWait wait{options_.on_in_flight};
    for (;;) {
      Reservation answer = ask();
      if (!std::holds_alternative<InProgress>(answer)) return answer;
      const auto pause = wait.next();
      if (pause == std::chrono::nanoseconds{0}) return answer;
      if (seen_in_progress_ && keeps_its_snapshot()) return answer;
      std::this_thread::sleep_for(pause);
    }
  }

 private:
  Reservation ask() {
    seen_in_progress_ = false;
    // Each further round follows a change that somebody else committed meanwhile.
    constexpr int most_rounds = 100;
    for (int round = 0; round < most_rounds; ++round) {
      if (auto acquired = insert()) return *std::move(acquired);
      // A separate statement, for its own snapshot: the row that was in the way may be newer than the insert's.
      const Look look =
          read_look(postgres::run(tx_, filled(statements_.look, {Literal{hash_.id}, Literal{lock_}})), key_);
      if (!look.record) {
        if (!look.gate_open) return InProgress{retry_after(options_.lease)};
        continue;
      }
      if (auto answer = answer_for(look)) return *std::move(answer);
    }
    throw TransactionConflict{"the key's record changed under every try: run the whole transaction again"};
  }

  // Asked once: the level cannot change after a transaction's first statement.
  [[nodiscard]] bool keeps_its_snapshot() {
    if (!keeps_its_snapshot_) {
      const pqxx::result rows = postgres::run(tx_, "SELECT current_setting('transaction_isolation')");
      const auto level = rows[0][0].as<std::string>();
      keeps_its_snapshot_ = level == "repeatable read" || level == "serializable";
    }
    return *keeps_its_snapshot_;
  }

  // Settling an own lost COMMIT means waiting for the old transaction, which may still be committing.
  [[nodiscard]] bool waits() const { return options_.attempt.has_value(); }

  std::optional<Reservation> insert() {
    const pqxx::result rows = postgres::run(
        tx_, filled(waits() ? statements_.insert_waiting : statements_.insert,
                    {Literal{hash_.id}, Literal{tx_, key_.principal}, Literal{tx_, key_.operation},
                     Literal{tx_, key_.value}, Literal{fingerprint_.bytes()}, Literal{attempt_},
                     Literal{options_.resumable}, Literal{tx_, name_of(options_.downstream)},
                     Literal{window_of(options_.downstream)}, Literal{options_.call_deadline},
                     Literal{options_.lease}, Literal{options_.retention}, Literal{lock_}}));
    if (rows.empty()) return std::nullopt;
    return acquired_fresh(rows);
  }

  std::optional<Reservation> answer_for(const Look& look) {
    const Record& found = *look.record;
    switch (judge(found, look.own_transaction, look.now, fingerprint_, options_)) {
      case Verdict::replay:
        return Replay{found.state, *found.response, *found.expires_at};
      case Verdict::mismatch:
        return Mismatch{};
      case Verdict::in_progress:
        seen_in_progress_ = true;
        return InProgress{retry_after(found.lease_until - look.now)};
      case Verdict::leave_unknown:
      case Verdict::unknown:
        return Unknown{found.response};
      case Verdict::already_reserved:
        throw AlreadyReserved{"this transaction holds the key already, under another attempt"};
      case Verdict::replace:
        return written(found, replace(found));
      case Verdict::take_over:
        return written(found, take_over(found));
      case Verdict::resume_own:
        return written(found, resume_own(found));
      case Verdict::turn_unknown:
        return written(found, turn_unknown(found));
    }
    throw StoredDataError{"a record was judged in a way that this version does not know"};
  }

  // Where nothing was written, either the row has changed, and is judged anew, or another transaction holds it locked
  // and is about to change it.
  std::optional<Reservation> written(const Record& judged, std::optional<Reservation> answer) {
    if (answer) return answer;
    const bool unchanged = passed_over_ == judged.holder && passed_over_lease_ == judged.lease_until;
    if (unchanged) return InProgress{retry_after(options_.lease)};
    passed_over_ = judged.holder;
    passed_over_lease_ = judged.lease_until;
    return std::nullopt;
  }

  std::optional<Reservation> take_over(const Record& found) {
    const pqxx::result rows = postgres::run(
        tx_, filled(waits() ? statements_.take_over_waiting : statements_.take_over,
                    {Literal{hash_.id}, Literal{found.holder.fence}, Literal{found.holder.attempt},
                     Literal{attempt_}, Literal{options_.lease}}));
    if (rows.empty()) return std::nullopt;
    return acquired_again(rows, found, How::took_over);
  }

  std::optional<Reservation> replace(const Record& found) {
    const pqxx::result rows = postgres::run(
        tx_, filled(waits() ? statements_.replace_waiting : statements_.replace,
                    {Literal{hash_.id}, Literal{found.holder.fence}, Literal{found.holder.attempt},
                     Literal{attempt_}, Literal{fingerprint_.bytes()}, Literal{options_.resumable},
                     Literal{tx_, name_of(options_.downstream)}, Literal{window_of(options_.downstream)},
                     Literal{options_.call_deadline}, Literal{options_.lease}, Literal{options_.retention}}));
    if (rows.empty()) return std::nullopt;
    return acquired_fresh(rows);
  }

  std::optional<Reservation> resume_own(const Record& found) {
    const pqxx::result rows = postgres::run(
        tx_, filled(statements_.resume_own, {Literal{hash_.id}, Literal{found.holder.fence},
                                             Literal{found.holder.attempt}, Literal{options_.lease}}));
    if (rows.empty()) return std::nullopt;
    return acquired_again(rows, found, How::again);
  }

  std::optional<Reservation> turn_unknown(const Record& found) {
    const pqxx::result rows = postgres::run(
        tx_, filled(waits() ? statements_.turn_unknown_waiting : statements_.turn_unknown,
                    {Literal{hash_.id}, Literal{found.holder.fence}, Literal{found.holder.attempt}}));
    if (rows.empty()) return std::nullopt;
    return Unknown{std::nullopt, Lease{found.key, found.fingerprint, found.holder, found.generation,
                                       found.lease_until, found.window_until}};
  }

  // Of a record that begins anew; its window is counted from the same moment as its lease.
  [[nodiscard]] Reservation acquired_fresh(const pqxx::result& rows) const {
    const auto fence = rows[0][0].as<std::int64_t>();
    Lease lease{key_, fingerprint_, {fence, attempt_}, fence, read_time(rows[0][1])};
    if (const auto window = window_of(options_.downstream))
      lease.window_until = lease.lease_until - options_.lease + *window;
    return Acquired{std::move(lease), How::fresh};
  }

  [[nodiscard]] Reservation acquired_again(const pqxx::result& rows, const Record& found, How how) const {
    return Acquired{Lease{key_,
                          found.fingerprint,
                          {rows[0][0].as<std::int64_t>(), attempt_},
                          found.generation,
                          read_time(rows[0][1]),
                          found.window_until},
                    how};
  }

  const Statements& statements_;
  pqxx::dbtransaction& tx_;
  const Key& key_;
  KeyHash hash_;
  std::int64_t lock_;
  const Fingerprint& fingerprint_;
  const ReserveOptions& options_;
  Uuid attempt_;
  std::optional<Holder> passed_over_;
  TimePoint passed_over_lease_;
  std::optional<bool> keeps_its_snapshot_;
  bool seen_in_progress_ = false;  // a committed record, under a live lease
};

Look look_at(const Statements& statements, pqxx::dbtransaction& tx, const Key& key) {
  return read_look(run(tx, filled(statements.find, {Literal{hash_key(key).id}})), key);
}

// Tells how the record was lost, having made sure that nothing of the transaction can commit: a caller who swallows
// the exception must not commit business writes whose record belongs to another.
[[noreturn]] void lose(pqxx::dbtransaction& tx, const std::optional<Record>& found, const Holder& holder) {
  make_uncommittable(tx);
  if (found && found->holder == holder && settled(found->state)) {
    throw AlreadySettled{"the record is settled already: roll back, and answer with what find() shows"};
  }
  throw LeaseLost{
      "the record is not held under this fence and attempt any more: roll back, and answer with what "
      "find() shows"};
}

// What is to be seen of a record that a write has just missed.
std::optional<Record> look_at_missed(const Statements& statements, pqxx::dbtransaction& tx, const Key& key) {
  try {
    return look_at(statements, tx, key).record;
  } catch (...) {
    try {
      make_uncommittable(tx);
    } catch (...) {  // NOLINT(bugprone-empty-catch): it is over already, and the first failure says why
    }
    throw;
  }
}

// Sends a statement whose first three values say which record is held, and by whom; `more` are the others. The one row
// that it returns proves that the record was held: the transaction is lost without it.
pqxx::result run_held(const Statements& statements, pqxx::dbtransaction& tx, const std::string& statement,
                      const Key& key, const Holder& holder, const std::vector<Literal>& more = {}) {
  std::vector<Literal> values{Literal{hash_key(key).id}, Literal{holder.fence}, Literal{holder.attempt}};
  values.insert(values.end(), more.begin(), more.end());
  pqxx::result rows = run(tx, filled(statement, values));
  if (rows.empty()) lose(tx, look_at_missed(statements, tx, key), holder);
  return rows;
}

std::vector<Literal> values_of(const Response& response) {
  const std::string headers = encode_headers(response.headers);
  return {Literal{std::int64_t{response.status}},
          Literal{std::as_bytes(std::span{headers.data(), headers.size()})},
          Literal{std::span{response.body}}};
}

std::vector<Literal> values_of(State state, const Response& response) {
  std::vector<Literal> values = values_of(response);
  values.insert(values.begin(), Literal{static_cast<std::int64_t>(state)});
  return values;
}

}  // namespace

PostgresStore::PostgresStore(std::shared_ptr<const Configuration> configuration, pqxx::dbtransaction& tx)
    : IdempotencyStore{configuration->options.observer.get(), configuration->options.max_response_bytes,
                       &configuration->options.responses},
      configuration_{std::move(configuration)},
      tx_{&tx} {}

Reservation PostgresStore::do_reserve(const Key& key, const Fingerprint& fingerprint,
                                      const ReserveOptions& options) {
  return Reserving{*configuration_, *tx_, key, fingerprint, options}.run();
}

TimePoint PostgresStore::do_settle(const Lease& lease, State state, const Response& response) {
  const Statements& statements = configuration_->statements;
  const pqxx::result rows =
      run_held(statements, *tx_, statements.settle, lease.key, lease.holder, values_of(state, response));
  return read_time(rows[0][0]);
}

void PostgresStore::do_mark_unknown(const Lease& lease, const Response& response) {
  const Statements& statements = configuration_->statements;
  run_held(statements, *tx_, statements.mark_unknown, lease.key, lease.holder, values_of(response));
}

void PostgresStore::do_hold(const Lease& lease) {
  const Statements& statements = configuration_->statements;
  run_held(statements, *tx_, statements.hold, lease.key, lease.holder);
}

void PostgresStore::do_mark_sent(const Lease& lease) {
  const Statements& statements = configuration_->statements;
  run_held(statements, *tx_, statements.mark_sent, lease.key, lease.holder);
}

TimePoint PostgresStore::do_renew(const Lease& held, std::chrono::milliseconds lease) {
  const Statements& statements = configuration_->statements;
  const pqxx::result rows =
      run_held(statements, *tx_, statements.renew, held.key, held.holder, {Literal{lease}});
  return read_time(rows[0][0]);
}

void PostgresStore::do_lapse(const Lease& lease) {
  const Statements& statements = configuration_->statements;
  run_held(statements, *tx_, statements.lapse, lease.key, lease.holder);
}

void PostgresStore::do_release(const Lease& lease) {
  const Statements& statements = configuration_->statements;
  const pqxx::result rows =
      run(*tx_, filled(statements.release, {Literal{hash_key(lease.key).id}, Literal{lease.holder.fence},
                                            Literal{lease.holder.attempt}}));
  if (!rows.empty()) return;
  const std::optional<Record> found = look_at_missed(statements, *tx_, lease.key);
  if (found && found->holder == lease.holder && found->state == State::in_progress) {
    throw InvalidArgument{
        "release: the record was taken over or its call was marked as sent, so the command may have had an "
        "effect"};
  }
  lose(*tx_, found, lease.holder);
}

TimePoint PostgresStore::do_resolve(const Key& key, const Holder& holder, State state,
                                    const Response& response, const Resolution& resolution) {
  const Statements& statements = configuration_->statements;
  const Look look = look_at(statements, *tx_, key);
  if (!look.record || look.record->holder != holder || look.record->state != State::unknown) {
    lose(*tx_, look.record, holder);
  }
  check_resolution(*look.record, state, resolution, look.now);
  std::vector<Literal> values = values_of(state, response);
  values.emplace_back(*tx_, resolution.who);
  values.emplace_back(*tx_, resolution.why);
  const pqxx::result rows = run_held(statements, *tx_, statements.resolve, key, holder, values);
  return read_time(rows[0][0]);
}

std::optional<Record> PostgresStore::do_find(const Key& key) {
  Look look = look_at(configuration_->statements, *tx_, key);
  if (look.record && settled(look.record->state) && look.record->expires_at <= look.now) return std::nullopt;
  return std::move(look.record);
}

}  // namespace postgres
}  // namespace v0
}  // namespace idem
