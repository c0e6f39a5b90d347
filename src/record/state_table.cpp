#include "idem/record/state_table.hpp"

#include <algorithm>
#include <string>

#include "idem/base/error.hpp"

namespace idem {
inline namespace v0 {
namespace {

bool settled(State state) {
  return state == State::completed || state == State::failed;
}

// The same name with another promise is another downstream: resuming on a promise that the first attempt did not rely
// on could send twice.
bool same_downstream(const Record& record, const ReserveOptions& options) {
  return options.downstream && record.downstream == options.downstream->stored_name() &&
         record.window_until.has_value() == options.downstream->window.has_value();
}

// Of the asker's own kind, under a promise that is not made any more: nobody else comes for it.
bool of_another_promise(const Record& record, const ReserveOptions& options) {
  if (!options.resumable || !options.downstream || !record.downstream) return false;
  Downstream other = *options.downstream;
  other.key_per_generation = !other.key_per_generation;
  return record.downstream == options.downstream->stored_name() || record.downstream == other.stored_name();
}

bool may_be_resumed(const Record& record, TimePoint now, std::chrono::milliseconds margin) {
  if (!record.resumable) return false;
  if (record.window_until) return now < *record.window_until - margin;
  return !record.sent_at;
}

Verdict judge_lapsed(const Record& record, TimePoint now, const ReserveOptions& options) {
  const bool ours = same_downstream(record, options);
  const auto margin = ours ? options.downstream->margin : std::chrono::milliseconds{0};
  if (!may_be_resumed(record, now, margin)) return Verdict::turn_unknown;
  if (ours && options.resumable) return Verdict::take_over;
  return of_another_promise(record, options) ? Verdict::turn_unknown : Verdict::leave_unknown;
}

}  // namespace

Verdict judge(const Record& record, bool own_transaction, TimePoint now, const Fingerprint& asked,
              const ReserveOptions& options) {
  if (settled(record.state) && record.expires_at && *record.expires_at <= now) return Verdict::replace;
  const bool own_attempt = options.attempt == record.holder.attempt;
  if (record.state == State::in_progress && own_transaction && !own_attempt) return Verdict::already_reserved;
  if (!asked.matches(record.fingerprint)) return Verdict::mismatch;
  if (settled(record.state)) return Verdict::replay;
  if (record.state == State::unknown) return Verdict::unknown;
  if (own_attempt) return Verdict::resume_own;
  if (now < record.lease_until) return Verdict::in_progress;
  return judge_lapsed(record, now, options);
}

std::chrono::milliseconds retry_after(std::chrono::microseconds lease_left) noexcept {
  using std::chrono::milliseconds;
  return std::clamp(std::chrono::ceil<milliseconds>(lease_left), milliseconds{1}, milliseconds{1000});
}

void check_resolution(const Record& record, State state, const Resolution& resolution, TimePoint now) {
  if (state == State::completed) {
    if (!resolution.effect_at && !resolution.generation) {
      throw InvalidArgument{"resolve to COMPLETED needs effect_at or generation, to tell whose charge it is"};
    }
    if (resolution.generation && *resolution.generation != record.generation) {
      throw InvalidArgument{"resolve to COMPLETED: the charge carries another generation than the record"};
    }
    if (resolution.effect_at && *resolution.effect_at < record.created_at) {
      throw InvalidArgument{
          "resolve to COMPLETED: the charge was made before the record, so it is an older one's"};
    }
    return;
  }
  if (!resolution.no_effect) {
    throw InvalidArgument{"resolve to FAILED needs no_effect: a definitive answer that nothing was charged"};
  }
  const auto earliest = record.lease_until + record.call_deadline;
  if (now < earliest) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(earliest - now);
    throw TooEarly{"resolve to FAILED: a call that was sent may still arrive; call again after " +
                   std::to_string(left.count()) + " ms"};
  }
}

}  // namespace v0
}  // namespace idem
