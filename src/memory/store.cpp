#include "idem/memory/store.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "idem/error.hpp"
#include "idem/memory/detail/shared.hpp"
#include "idem/state_table.hpp"

namespace idem::inline v0::memory {
namespace {

using detail::Work;
using RecordPtr = detail::Rows<Key, Record>::Version;

// One call on the records: the mutex is held while it lives.
class Call {
 public:
  explicit Call(const detail::WorkLevel& level)
      : work_{*level.work}, shared_{work_.shared()}, lock_{work_.enter(level.level)} {}

  [[nodiscard]] TimePoint now() const { return shared_.clock->now(); }
  [[nodiscard]] RecordPtr find(const Key& key) const { return shared_.records.seen_by(work_, key); }
  [[nodiscard]] Work* other_holder(const Key& key) const { return shared_.records.other_holder(work_, key); }

  // Did this very transaction reserve what it sees?
  [[nodiscard]] bool reserved_here(const Record& seen) const {
    const RecordPtr committed = shared_.records.committed(seen.key);
    return !committed || committed->holder != seen.holder;
  }

  [[nodiscard]] Holder next_holder(TimePoint now, const std::optional<Uuid>& attempt) {
    shared_.last_fence = std::max(shared_.last_fence + 1, now.time_since_epoch().count());
    return {shared_.last_fence, attempt ? *attempt : random_uuid_v4()};
  }

  void write(Record record) {
    const Key key = record.key;
    shared_.records.write(work_, key, std::make_shared<const Record>(std::move(record)));
  }
  void remove(const Key& key) { shared_.records.write(work_, key, nullptr); }
  void wait_for(const Work& other) { work_.wait_for(lock_, other); }

  // The record, if it is held under `holder` in one of `states`, once no other transaction holds its row. Otherwise the
  // transaction is spoiled, so that a caller who swallows the exception commits nothing.
  [[nodiscard]] Record held(const Key& key, const Holder& holder, std::initializer_list<State> states) {
    for (;;) {
      const RecordPtr record = find(key);
      const bool ours = record && record->holder == holder;
      if (!ours || std::find(states.begin(), states.end(), record->state) == states.end()) {
        const bool settled = ours && (record->state == State::completed || record->state == State::failed);
        work_.spoil();
        if (settled) throw AlreadySettled{"the record was already settled; roll back, then ask find"};
        throw LeaseLost{"the record is not held under this fence and attempt; roll back, then ask find"};
      }
      const Work* other = other_holder(key);
      if (other == nullptr) return *record;
      wait_for(*other);
    }
  }

 private:
  Work& work_;
  detail::Shared& shared_;
  Work::Lock lock_;
};

bool writes(Verdict verdict) {
  return verdict == Verdict::replace || verdict == Verdict::resume_own || verdict == Verdict::take_over ||
         verdict == Verdict::turn_unknown;
}

Acquired acquired(const Record& record, How how) {
  return {{record.key, record.fingerprint, record.holder, record.generation, record.lease_until}, how};
}

Reservation reserve_new(Call& call, const Key& key, const Fingerprint& fingerprint, const ReserveOptions& options,
                        TimePoint now) {
  const Holder holder = call.next_holder(now, options.attempt);
  // A stored fingerprint is its bytes, as on a server; what the asker could compare it with is not kept.
  Record record{key, Fingerprint::from_bytes(fingerprint.bytes())};
  record.holder = holder;
  record.generation = holder.fence;
  record.resumable = options.resumable;
  if (options.downstream) {
    record.downstream = options.downstream->name;
    if (options.downstream->window) record.window_until = now + *options.downstream->window;
  }
  record.call_deadline = options.call_deadline;
  record.lease_until = now + options.lease;
  record.retention = options.retention;
  record.created_at = now;
  Acquired answer = acquired(record, How::fresh);
  call.write(std::move(record));
  return answer;
}

Reservation reserve_again(Call& call, Record record, How how, const ReserveOptions& options, TimePoint now) {
  if (how == How::took_over) record.holder = call.next_holder(now, options.attempt);
  record.lease_until = now + options.lease;
  Acquired answer = acquired(record, how);
  call.write(std::move(record));
  return answer;
}

Reservation turn_unknown(Call& call, Record record) {
  record.state = State::unknown;
  Unknown answer{record.response};
  call.write(std::move(record));
  return answer;
}

TimePoint settle(Call& call, Record record, State state, const Response& response) {
  const TimePoint now = call.now();
  const TimePoint expires_at = now + record.retention;
  record.state = state;
  record.response = response;
  record.finished_at = now;
  record.expires_at = expires_at;
  call.write(std::move(record));
  return expires_at;
}

}  // namespace

Reservation Store::do_reserve(const Key& key, const Fingerprint& fingerprint, const ReserveOptions& options) {
  Call call{level_};
  for (;;) {
    const TimePoint now = call.now();
    const RecordPtr found = call.find(key);
    const Work* other = call.other_holder(key);
    if (!found && other == nullptr) return reserve_new(call, key, fingerprint, options, now);
    if (found) {
      const Verdict verdict = judge(*found, call.reserved_here(*found), now, fingerprint, options);
      if (other == nullptr || !writes(verdict)) {
        switch (verdict) {
          case Verdict::replace: return reserve_new(call, key, fingerprint, options, now);
          case Verdict::replay: return Replay{found->state, found->response.value(), found->expires_at.value()};
          case Verdict::mismatch: return Mismatch{};
          case Verdict::in_progress: return InProgress{retry_after(found->lease_until - now)};
          case Verdict::resume_own: return reserve_again(call, *found, How::again, options, now);
          case Verdict::take_over: return reserve_again(call, *found, How::took_over, options, now);
          case Verdict::turn_unknown: return turn_unknown(call, *found);
          case Verdict::leave_unknown:
          case Verdict::unknown: return Unknown{found->response};
          case Verdict::already_reserved:
            throw AlreadyReserved{"this transaction holds the key already, under another attempt"};
        }
      }
    }
    // Another open transaction made the record, or is changing what would be written here.
    if (!options.attempt) return InProgress{retry_after(options.lease)};
    call.wait_for(*other);
  }
}

TimePoint Store::do_settle(const Lease& lease, State state, const Response& response) {
  Call call{level_};
  return settle(call, call.held(lease.key, lease.holder, {State::in_progress, State::unknown}), state, response);
}

void Store::do_mark_unknown(const Lease& lease, const Response& response) {
  Call call{level_};
  Record record = call.held(lease.key, lease.holder, {State::in_progress});
  record.state = State::unknown;
  record.response = response;
  call.write(std::move(record));
}

void Store::do_mark_sent(const Lease& lease) {
  Call call{level_};
  Record record = call.held(lease.key, lease.holder, {State::in_progress});
  record.sent_at = call.now();
  call.write(std::move(record));
}

TimePoint Store::do_renew(const Lease& held, std::chrono::milliseconds lease) {
  Call call{level_};
  Record record = call.held(held.key, held.holder, {State::in_progress});
  const TimePoint lease_until = call.now() + lease;
  record.lease_until = lease_until;
  call.write(std::move(record));
  return lease_until;
}

void Store::do_lapse(const Lease& lease) {
  Call call{level_};
  Record record = call.held(lease.key, lease.holder, {State::in_progress});
  record.lease_until = std::min(record.lease_until, call.now());
  call.write(std::move(record));
}

void Store::do_release(const Lease& lease) {
  Call call{level_};
  const Record record = call.held(lease.key, lease.holder, {State::in_progress});
  if (record.taken_over() || record.sent_at) {
    throw InvalidArgument{"release: the record was taken over or marked sent, so something may have been called"};
  }
  call.remove(lease.key);
}

TimePoint Store::do_resolve(const Key& key, const Holder& holder, State state, const Response& response,
                            const Resolution& resolution) {
  Call call{level_};
  Record record = call.held(key, holder, {State::unknown});
  check_resolution(record, state, resolution, call.now());
  record.resolved_by = resolution.who;
  record.resolved_note = resolution.why;
  return settle(call, std::move(record), state, response);
}

std::optional<Record> Store::do_find(const Key& key) {
  const Call call{level_};
  const RecordPtr record = call.find(key);
  if (!record || (record->expires_at && *record->expires_at <= call.now())) return std::nullopt;
  return *record;
}

}  // namespace idem::inline v0::memory
