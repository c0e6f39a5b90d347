#include "idem/record/store.hpp"

#include <string>
#include <variant>

#include "base/text_limits.hpp"
#include "base/time_limit.hpp"
#include "idem/base/error.hpp"
#include "record/observed.hpp"
#include "response/stored_form.hpp"

namespace idem {
inline namespace v0 {
namespace {

// A response as it is to be stored. It refers to the one that was given, where that is the same.
class Storable {
 public:
  Storable(const Key& key, const Response& given, std::size_t max_bytes, const ResponseRules* rules)
      : given_{given}, changed_{detail::as_stored(key, given, max_bytes, rules)} {}
  [[nodiscard]] const Response& response() const { return changed_ ? *changed_ : given_; }

 private:
  const Response& given_;
  std::optional<Response> changed_;
};

void restore(const Key& key, Reservation& reservation, const ResponseRules* rules) {
  if (auto* replay = std::get_if<Replay>(&reservation)) detail::restore(key, replay->response, rules);
  if (auto* unknown = std::get_if<Unknown>(&reservation); unknown && unknown->response) {
    detail::restore(key, *unknown->response, rules);
  }
}

Observed observed_as(const Reservation& reservation) {
  struct Name {
    Observed operator()(const Acquired& acquired) const {
      switch (acquired.how) {
        case How::fresh:
          return Observed::acquired;
        case How::again:
          return Observed::acquired_again;
        case How::took_over:
          return Observed::took_over;
      }
      return Observed::acquired;
    }
    Observed operator()(const Replay&) const { return Observed::replayed; }
    Observed operator()(const InProgress&) const { return Observed::in_progress; }
    Observed operator()(const Mismatch&) const { return Observed::mismatch; }
    Observed operator()(const Unknown&) const { return Observed::unknown; }
  };
  return std::visit(Name{}, reservation);
}

Observed found_or_not(const std::optional<Record>& record) {
  return record ? Observed::found : Observed::not_found;
}

}  // namespace

Reservation IdempotencyStore::reserve(const Key& key, const Fingerprint& fingerprint,
                                      const ReserveOptions& options) {
  return detail::observed(
      observer_, key,
      [&] {
        validate(key);
        validate(options);
        Reservation reservation = do_reserve(key, fingerprint, options);
        restore(key, reservation, rules_);
        return reservation;
      },
      [](const Reservation& reservation) { return observed_as(reservation); });
}

TimePoint IdempotencyStore::complete(const Lease& lease, const Response& response) {
  return detail::observed(
      observer_, lease.key,
      [&] {
        const Storable storable{lease.key, response, max_response_bytes_, rules_};
        return do_settle(lease, State::completed, storable.response());
      },
      Observed::completed);
}

TimePoint IdempotencyStore::fail(const Lease& lease, const Response& response) {
  return detail::observed(
      observer_, lease.key,
      [&] {
        const Storable storable{lease.key, response, max_response_bytes_, rules_};
        return do_settle(lease, State::failed, storable.response());
      },
      Observed::failed);
}

void IdempotencyStore::mark_unknown(const Lease& lease, const Response& response) {
  detail::observed(
      observer_, lease.key,
      [&] {
        const Storable storable{lease.key, response, max_response_bytes_, rules_};
        do_mark_unknown(lease, storable.response());
      },
      Observed::marked_unknown);
}

void IdempotencyStore::hold(const Lease& lease) {
  detail::observed(
      observer_, lease.key, [&] { do_hold(lease); }, Observed::held);
}

void IdempotencyStore::mark_sent(const Lease& lease) {
  detail::observed(
      observer_, lease.key, [&] { do_mark_sent(lease); }, Observed::marked_sent);
}

Lease IdempotencyStore::renew(const Lease& held, std::chrono::milliseconds lease) {
  return detail::observed(
      observer_, held.key,
      [&] {
        if (lease <= std::chrono::milliseconds{0}) throw InvalidArgument{"lease must be more than 0"};
        if (lease > detail::longest_time) throw InvalidArgument{"lease must not be longer than ten years"};
        Lease renewed = held;
        renewed.lease_until = do_renew(held, lease);
        return renewed;
      },
      Observed::renewed);
}

void IdempotencyStore::lapse(const Lease& lease) {
  detail::observed(
      observer_, lease.key, [&] { do_lapse(lease); }, Observed::lapsed);
}

void IdempotencyStore::release(const Lease& lease) {
  detail::observed(
      observer_, lease.key, [&] { do_release(lease); }, Observed::released);
}

TimePoint IdempotencyStore::resolve(const Key& key, const Holder& holder, State state,
                                    const Response& response, const Resolution& resolution) {
  return detail::observed(
      observer_, key,
      [&] {
        validate(key);
        if (state != State::completed && state != State::failed) {
          throw InvalidArgument{"resolve settles as COMPLETED or FAILED, as nothing else"};
        }
        detail::check_text("resolution's who", resolution.who, 255);
        detail::check_text("resolution's why", resolution.why, 1000);
        const Storable storable{key, response, max_response_bytes_, rules_};
        return do_resolve(key, holder, state, storable.response(), resolution);
      },
      Observed::resolved);
}

std::optional<Record> IdempotencyStore::read(const Key& key) {
  validate(key);
  return do_find(key);
}

std::optional<Record> IdempotencyStore::find(const Key& key) {
  return detail::observed(
      observer_, key,
      [&] {
        std::optional<Record> record = read(key);
        if (record) record = decoded(*std::move(record));
        return record;
      },
      found_or_not);
}

std::optional<Record> IdempotencyStore::find_stored(const Key& key) {
  return detail::observed(
      observer_, key, [&] { return read(key); }, found_or_not);
}

Record IdempotencyStore::decoded(Record stored) const {
  if (stored.response) detail::restore(stored.key, *stored.response, rules_);
  return stored;
}

}  // namespace v0
}  // namespace idem
