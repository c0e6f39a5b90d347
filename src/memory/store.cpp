#include "memory/store.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <thread>

#include "idem/base/error.hpp"
#include "idem/memory/detail/shared.hpp"
#include "idem/record/state_table.hpp"
#include "record/in_flight_wait.hpp"

namespace idem {
inline namespace v0 {
namespace memory {
namespace {

using detail::Work;
using Stored = detail::Rows<Key, detail::StoredRecord>::Version;

// One call on the records: the mutex is held while it lives.
class Call {
 public:
  explicit Call(const detail::WorkLevel& level)
      : work_{*level.work}, shared_{work_.shared()}, lock_{work_.enter(level.level)} {}

  [[nodiscard]] TimePoint now() const { return shared_.clock->now(); }
  [[nodiscard]] Stored find(const Key& key) const { return shared_.records.seen_by(work_, key); }
  [[nodiscard]] bool reserved_here(const detail::StoredRecord& found) const {
    return found.reserved_in == work_.number();
  }
  [[nodiscard]] Work* other_holder(const Key& key) const { return shared_.records.other_holder(work_, key); }

  [[nodiscard]] Holder next_holder(TimePoint now, const std::optional<Uuid>& attempt) {
    shared_.last_fence = std::max(shared_.last_fence + 1, now.time_since_epoch().count());
    return {shared_.last_fence, attempt ? *attempt : random_uuid_v4()};
  }

  void write(detail::StoredRecord stored) {
    const Key key = stored.record.key;
    shared_.records.write(work_, key, std::make_shared<const detail::StoredRecord>(std::move(stored)));
  }
  void write_reserved(Record record) { write({std::move(record), work_.number()}); }
  void remove(const Key& key) { shared_.records.write(work_, key, nullptr); }
  void wait_for(const Work& other) { work_.wait_for(lock_, other); }
  void pause(std::chrono::nanoseconds duration) {
    lock_.unlock();
    std::this_thread::sleep_for(duration);
    lock_.lock();
  }

  // The record, if it is held under `holder` in one of `states`, or in a state that `usable` accepts, once no other
  // transaction holds its row. Otherwise the transaction is spoiled, so that a caller who swallows the exception commits
  // nothing.
  [[nodiscard]] detail::StoredRecord held(const Key& key, const Holder& holder,
                                          std::initializer_list<State> states) {
    return held(key, holder, [states](const Record& record) {
      return std::find(states.begin(), states.end(), record.state) != states.end();
    });
  }
  template <class Usable>
  [[nodiscard]] detail::StoredRecord held(const Key& key, const Holder& holder, const Usable& usable) {
    for (;;) {
      const Stored found = find(key);
      const bool ours = found && found->record.holder == holder;
      if (!ours || !usable(found->record)) {
        const bool settled =
            ours && (found->record.state == State::completed || found->record.state == State::failed);
        work_.spoil();
        if (settled) throw AlreadySettled{"the record was already settled; roll back, then ask find"};
        throw LeaseLost{"the record is not held under this fence and attempt; roll back, then ask find"};
      }
      const Work* other = other_holder(key);
      if (other == nullptr) return *found;
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

Lease lease_of(const Record& record) {
  return {record.key,        record.fingerprint, record.holder,
          record.generation, record.lease_until, record.window_until};
}

Acquired acquired(const Record& record, How how) {
  return {lease_of(record), how};
}

Reservation reserve_new(Call& call, const Key& key, const Fingerprint& fingerprint,
                        const ReserveOptions& options, TimePoint now) {
  const Holder holder = call.next_holder(now, options.attempt);
  // A stored fingerprint is its bytes, as on a server; what the asker could compare it with is not kept.
  Record record{key, Fingerprint::from_bytes(fingerprint.bytes())};
  record.holder = holder;
  record.generation = holder.fence;
  record.resumable = options.resumable;
  if (options.downstream) {
    record.downstream = options.downstream->stored_name();
    if (options.downstream->window) record.window_until = now + *options.downstream->window;
  }
  record.call_deadline = options.call_deadline;
  record.lease_until = now + options.lease;
  record.retention = options.retention;
  record.created_at = now;
  Acquired answer = acquired(record, How::fresh);
  call.write_reserved(std::move(record));
  return answer;
}

Reservation reserve_again(Call& call, Record record, How how, const ReserveOptions& options, TimePoint now) {
  if (how == How::took_over) record.holder = call.next_holder(now, options.attempt);
  record.lease_until = now + options.lease;
  Acquired answer = acquired(record, how);
  call.write_reserved(std::move(record));
  return answer;
}

Reservation turn_unknown(Call& call, detail::StoredRecord stored) {
  stored.record.state = State::unknown;
  Unknown answer{std::nullopt, lease_of(stored.record)};
  call.write(std::move(stored));
  return answer;
}

TimePoint settle(Call& call, detail::StoredRecord stored, State state, const Response& response) {
  const TimePoint now = call.now();
  Record& record = stored.record;
  const TimePoint expires_at = now + record.retention;
  record.state = state;
  record.response = response;
  record.finished_at = now;
  record.expires_at = expires_at;
  call.write(std::move(stored));
  return expires_at;
}

}  // namespace

Reservation MemoryStore::do_reserve(const Key& key, const Fingerprint& fingerprint,
                                    const ReserveOptions& options) {
  Call call{level_};
  idem::detail::InFlightWait wait{options.on_in_flight};
  // Whether to look again, after a while.
  const auto waited = [&] {
    const auto pause = wait.next();
    if (pause == std::chrono::nanoseconds{0}) return false;
    call.pause(pause);
    return true;
  };
  for (;;) {
    const TimePoint now = call.now();
    const Stored stored = call.find(key);
    const Work* other = call.other_holder(key);
    if (!stored && other == nullptr) return reserve_new(call, key, fingerprint, options, now);
    if (stored) {
      const Record& found = stored->record;
      const Verdict verdict = judge(found, call.reserved_here(*stored), now, fingerprint, options);
      if (other == nullptr || (!options.attempt && !writes(verdict))) {
        switch (verdict) {
          case Verdict::replace:
            return reserve_new(call, key, fingerprint, options, now);
          case Verdict::replay:
            return Replay{found.state, found.response.value(), found.expires_at.value()};
          case Verdict::mismatch:
            return Mismatch{};
          case Verdict::in_progress:
            if (waited()) continue;
            return InProgress{retry_after(found.lease_until - now)};
          case Verdict::resume_own:
            return reserve_again(call, found, How::again, options, now);
          case Verdict::take_over:
            return reserve_again(call, found, How::took_over, options, now);
          case Verdict::turn_unknown:
            return turn_unknown(call, *stored);
          case Verdict::leave_unknown:
          case Verdict::unknown:
            return Unknown{found.response};
          case Verdict::already_reserved:
            throw AlreadyReserved{"this transaction holds the key already, under another attempt"};
        }
      }
    }
    // Another open transaction made the record, or is changing what would be written here.
    if (options.attempt) {
      call.wait_for(*other);
    } else if (!waited()) {
      return InProgress{retry_after(options.lease)};
    }
  }
}

TimePoint MemoryStore::do_settle(const Lease& lease, State state, const Response& response) {
  Call call{level_};
  return settle(call, call.held(lease.key, lease.holder, {State::in_progress, State::unknown}), state,
                response);
}

void MemoryStore::do_mark_unknown(const Lease& lease, const Response& response) {
  Call call{level_};
  detail::StoredRecord stored = call.held(lease.key, lease.holder, [](const Record& record) {
    return record.state == State::in_progress || (record.state == State::unknown && !record.response);
  });
  stored.record.state = State::unknown;
  stored.record.response = response;
  call.write(std::move(stored));
}

void MemoryStore::do_hold(const Lease& lease) {
  Call call{level_};
  call.write(call.held(lease.key, lease.holder, {State::in_progress, State::unknown}));
}

void MemoryStore::do_mark_sent(const Lease& lease) {
  Call call{level_};
  detail::StoredRecord stored = call.held(lease.key, lease.holder, {State::in_progress});
  stored.record.sent_at = call.now();
  call.write(std::move(stored));
}

TimePoint MemoryStore::do_renew(const Lease& held, std::chrono::milliseconds lease) {
  Call call{level_};
  detail::StoredRecord stored = call.held(held.key, held.holder, {State::in_progress});
  const TimePoint lease_until = call.now() + lease;
  stored.record.lease_until = lease_until;
  call.write(std::move(stored));
  return lease_until;
}

void MemoryStore::do_lapse(const Lease& lease) {
  Call call{level_};
  detail::StoredRecord stored = call.held(lease.key, lease.holder, {State::in_progress});
  stored.record.lease_until = std::min(stored.record.lease_until, call.now());
  call.write(std::move(stored));
}

void MemoryStore::do_release(const Lease& lease) {
  Call call{level_};
  const detail::StoredRecord stored = call.held(lease.key, lease.holder, {State::in_progress});
  if (stored.record.taken_over() || stored.record.sent_at) {
    throw InvalidArgument{
        "release: the record was taken over or marked sent, so something may have been called"};
  }
  call.remove(lease.key);
}

TimePoint MemoryStore::do_resolve(const Key& key, const Holder& holder, State state, const Response& response,
                                  const Resolution& resolution) {
  Call call{level_};
  detail::StoredRecord stored = call.held(key, holder, {State::unknown});
  check_resolution(stored.record, state, resolution, call.now());
  stored.record.resolved_by = resolution.who;
  stored.record.resolved_note = resolution.why;
  return settle(call, std::move(stored), state, response);
}

std::optional<Record> MemoryStore::do_find(const Key& key) {
  const Call call{level_};
  const Stored stored = call.find(key);
  if (!stored || (stored->record.expires_at && *stored->record.expires_at <= call.now())) return std::nullopt;
  return stored->record;
}

}  // namespace memory
}  // namespace v0
}  // namespace idem
