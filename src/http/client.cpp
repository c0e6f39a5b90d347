#include "idem/http/client.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "http/header_name.hpp"
#include "idem/base/error.hpp"
#include "idem/base/uuid.hpp"
#include "idem/http/idempotency_key.hpp"

namespace idem {
inline namespace v0 {
namespace http {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view saved_head = "idem intent 1\n";

// May a boundary send the problem under that status? Others' types may end in the same word.
bool is_sent_with(Problem problem, int status) {
  constexpr std::array statuses{202, 400, 401, 409, 422, 423, 425, 503};
  return problem == Problem::answer_withheld ||
         std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

// Of a problem that the boundary made; empty for every other body.
std::optional<Problem> problem_in(const ReplyView& reply) {
  constexpr std::string_view media_type = "application/problem+json";
  const std::string_view given =
      detail::without_space(reply.content_type.substr(0, reply.content_type.find(';')));
  constexpr std::size_t most_bytes = 65536;  // the boundary's have a few hundred
  if (!detail::same_name(given, media_type) || reply.body.size() > most_bytes) return std::nullopt;
  const auto json = nlohmann::json::parse(reply.body, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto type = json.find("type");
  if (type == json.end() || !type->is_string()) return std::nullopt;
  const auto problem = problem_of_type(type->get_ref<const std::string&>());
  if (!problem || !is_sent_with(*problem, reply.status)) return std::nullopt;
  return problem;
}

// Delay-seconds: digits only, however many. A date is for clients with a clock like the server's: it is taken for none.
std::optional<milliseconds> delay_in(std::string_view retry_after) {
  constexpr std::int64_t most_seconds = std::int64_t{1} << 32;
  if (retry_after.empty()) return std::nullopt;
  std::int64_t seconds = 0;
  for (const char c : retry_after) {
    if (c < '0' || c > '9') return std::nullopt;
    seconds = std::min(seconds * 10 + (c - '0'), most_seconds);
  }
  return std::chrono::seconds{seconds};
}

// A random share of the bound, so that clients that failed together do not come back together.
milliseconds random_up_to(milliseconds bound) {
  std::random_device seed;
  return milliseconds{std::uniform_int_distribution<milliseconds::rep>{0, bound.count()}(seed)};
}

}  // namespace

Intent Intent::mint(std::string body) {
  const auto now = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
  return {random_uuid_v7(now).to_string(), std::move(body)};
}

Intent Intent::restore(std::string_view saved) {
  const auto refuse = [] { throw InvalidArgument{"this is no saved intent"}; };
  if (!saved.starts_with(saved_head)) refuse();
  saved.remove_prefix(saved_head.size());
  const auto end = saved.find('\n');
  if (end == std::string_view::npos) refuse();
  std::string key{saved.substr(0, end)};
  if (!Uuid::parse(key)) refuse();
  return {std::move(key), std::string{saved.substr(end + 1)}};
}

std::string Intent::save() const {
  return std::string{saved_head} + key_ + '\n' + body_;
}

std::string Intent::header() const {
  return serialize_idempotency_key(key_);
}

ClientRule::ClientRule(ClientRuleOptions options) : options_{options}, bound_{options.first_pause} {
  if (options_.max_tries < 1) throw InvalidArgument{"max_tries must be at least 1"};
  if (options_.longest_retry_after < milliseconds{0}) {
    throw InvalidArgument{"longest_retry_after must be at least 0"};
  }
  if (options_.first_pause < milliseconds{0} || options_.longest_pause < options_.first_pause) {
    throw InvalidArgument{"first_pause must be at least 0 and not longer than longest_pause"};
  }
}

Advice ClientRule::after(const ReplyView& reply) {
  ++tries_;
  const auto problem = problem_in(reply);
  // What is stored is final, whatever its status means elsewhere.
  if (reply.replayed) return Done{.body_withheld = problem == Problem::answer_withheld};
  if (problem) {
    switch (*problem) {
      case Problem::in_progress:
      case Problem::unknown:
      case Problem::unavailable:
        return again(reply.retry_after);
      case Problem::key_reused:
        return Stop{Stop::Why::mismatch};
      case Problem::unauthenticated:
        return Stop{Stop::Why::forbidden};
      case Problem::answer_withheld:
        return Done{.body_withheld = true};
      case Problem::key_missing:
      case Problem::key_refused:
      case Problem::request_refused:
        return Stop{Stop::Why::refused};
    }
  }
  switch (reply.status) {
    case 202:
      if (!reply.idempotency_key.empty()) return again(reply.retry_after);
      return Done{};
    case 400:
    // What HTTP itself has against the message (RFC 9110, 15.5): the command was not asked, and an earlier attempt's
    // answer is not this one.
    case 405:
    case 406:
    case 411:
    case 413:
    case 414:
    case 415:
    case 416:
    case 417:
    case 421:
    case 426:
    case 431:
      return Stop{Stop::Why::refused};
    case 401:
    case 403:
    case 407:
      return Stop{Stop::Why::forbidden};
    case 402:
      return Done{};
    case 408:
    case 409:
    case 423:
    case 425:
    case 429:
      return again(reply.retry_after);
    case 422:
      return Stop{Stop::Why::mismatch};
    default:
      break;
  }
  if (reply.status >= 500) return again(reply.retry_after);
  if (reply.status >= 400 && (tries_ > 1 || options_.restored)) {
    if (std::exchange(doubted_, true)) return Stop{Stop::Why::unexpected};
    return again(reply.retry_after);
  }
  if (reply.status < 200 || (reply.status >= 300 && reply.status < 400)) return Stop{Stop::Why::unexpected};
  return Done{};
}

Advice ClientRule::after_no_answer() {
  ++tries_;
  return again({});
}

Advice ClientRule::again(std::string_view retry_after) {
  if (tries_ >= options_.max_tries) return Stop{Stop::Why::exhausted};
  const auto delay = delay_in(retry_after);
  if (delay > options_.longest_retry_after) return Stop{Stop::Why::exhausted};
  if (delay > milliseconds{0}) return RetryAfter{*delay};
  // "At once", again and again, would be over before anything has changed.
  if (delay) return RetryAfter{random_up_to(options_.first_pause)};
  const milliseconds pause = random_up_to(bound_);
  bound_ = bound_ > options_.longest_pause / 2 ? options_.longest_pause : bound_ * 2;
  return RetryAfter{pause};
}

}  // namespace http
}  // namespace v0
}  // namespace idem
