#include "idem/store.hpp"

#include <string>
#include <variant>

#include "headers.hpp"
#include "idem/error.hpp"
#include "observed.hpp"
#include "text_limits.hpp"
#include "time_limit.hpp"

namespace idem::inline v0 {
namespace {

void check_response(const Response& response, std::size_t max_bytes) {
  const std::size_t bytes = response.body.size() + detail::check_headers("a response", response.headers);
  if (bytes > max_bytes) {
    throw InvalidArgument{"a response of " + std::to_string(bytes) + " bytes is over the limit of " +
                          std::to_string(max_bytes) + "; settle with one that can be replayed"};
  }
}

Event event_of(const Reservation& reservation) {
  struct Name {
    Event operator()(const Acquired& acquired) const {
      switch (acquired.how) {
        case How::fresh:
          return Event::acquired;
        case How::again:
          return Event::acquired_again;
        case How::took_over:
          return Event::took_over;
      }
      return Event::acquired;
    }
    Event operator()(const Replay&) const { return Event::replayed; }
    Event operator()(const InProgress&) const { return Event::in_progress; }
    Event operator()(const Mismatch&) const { return Event::mismatch; }
    Event operator()(const Unknown&) const { return Event::unknown; }
  };
  return std::visit(Name{}, reservation);
}

}  // namespace

Reservation IdempotencyStore::reserve(const Key& key, const Fingerprint& fingerprint,
                                      const ReserveOptions& options) {
  return detail::observed(
      observer_, key,
      [&] {
        validate(key);
        validate(options);
        return do_reserve(key, fingerprint, options);
      },
      [](const Reservation& reservation) { return event_of(reservation); });
}

TimePoint IdempotencyStore::complete(const Lease& lease, const Response& response) {
  return detail::observed(
      observer_, lease.key,
      [&] {
        check_response(response, max_response_bytes_);
        return do_settle(lease, State::completed, response);
      },
      Event::completed);
}

TimePoint IdempotencyStore::fail(const Lease& lease, const Response& response) {
  return detail::observed(
      observer_, lease.key,
      [&] {
        check_response(response, max_response_bytes_);
        return do_settle(lease, State::failed, response);
      },
      Event::failed);
}

void IdempotencyStore::mark_unknown(const Lease& lease, const Response& response) {
  detail::observed(
      observer_, lease.key,
      [&] {
        check_response(response, max_response_bytes_);
        do_mark_unknown(lease, response);
      },
      Event::marked_unknown);
}

void IdempotencyStore::hold(const Lease& lease) {
  detail::observed(
      observer_, lease.key, [&] { do_hold(lease); }, Event::held);
}

void IdempotencyStore::mark_sent(const Lease& lease) {
  detail::observed(
      observer_, lease.key, [&] { do_mark_sent(lease); }, Event::marked_sent);
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
      Event::renewed);
}

void IdempotencyStore::lapse(const Lease& lease) {
  detail::observed(
      observer_, lease.key, [&] { do_lapse(lease); }, Event::lapsed);
}

void IdempotencyStore::release(const Lease& lease) {
  detail::observed(
      observer_, lease.key, [&] { do_release(lease); }, Event::released);
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
        check_response(response, max_response_bytes_);
        return do_resolve(key, holder, state, response, resolution);
      },
      Event::resolved);
}

std::optional<Record> IdempotencyStore::find(const Key& key) {
  return detail::observed(
      observer_, key,
      [&] {
        validate(key);
        return do_find(key);
      },
      [](const std::optional<Record>& record) { return record ? Event::found : Event::not_found; });
}

}  // namespace idem::inline v0
