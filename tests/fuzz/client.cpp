// The client's rule over any server's answers, and what was saved of an intent.
#include "idem/http/client.hpp"

#include <algorithm>
#include <optional>

#include "fuzz.hpp"
#include "idem/base/error.hpp"
#include "idem/base/uuid.hpp"

namespace idem::fuzz {
namespace {

using namespace std::chrono_literals;
using http::Advice;
using http::Done;
using http::Problem;
using http::ReplyView;
using http::RetryAfter;
using http::Stop;

constexpr http::ClientRuleOptions options{
    .max_tries = 3, .first_pause = 1s, .longest_pause = 3s, .longest_retry_after = 60s};

// The whole seconds of a Retry-After, at most a day; nothing where it is no delay.
std::optional<std::chrono::seconds> delay_in(std::string_view retry_after) {
  if (retry_after.empty()) return std::nullopt;
  std::int64_t seconds = 0;
  for (const char c : retry_after) {
    if (c < '0' || c > '9') return std::nullopt;
    seconds = std::min<std::int64_t>(seconds * 10 + (c - '0'), 86'400);
  }
  return std::chrono::seconds{seconds};
}

void check_pause(const Advice& advice, std::string_view retry_after, std::chrono::milliseconds bound) {
  const auto asked = delay_in(retry_after);
  if (asked > options.longest_retry_after) {
    expect(advice == Advice{Stop{Stop::Why::exhausted}}, "a server that asks for too much is not waited for");
    return;
  }
  const auto* retry = std::get_if<RetryAfter>(&advice);
  expect(retry != nullptr, "it is to be sent again");
  if (asked > 0s) {
    expect(retry->delay == *asked, "the server says when");
  } else {
    expect(retry->delay >= 0ms && retry->delay <= bound, "a pause is within its bound");
  }
}

bool is_one_of(int status, std::initializer_list<int> statuses) {
  return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

// The table in the header, for the answers that hold no problem.
void check_status(const Advice& advice, const ReplyView& reply) {
  const int status = reply.status;
  if (is_one_of(status, {408, 409, 423, 425, 429}) || status >= 500 ||
      (status == 202 && !reply.idempotency_key.empty())) {
    check_pause(advice, reply.retry_after, options.first_pause);
  } else if (is_one_of(status, {400, 405, 406, 411, 413, 414, 415, 416, 417, 421, 426, 431})) {
    expect(advice == Advice{Stop{Stop::Why::refused}}, "what HTTP has against the message is refused");
  } else if (is_one_of(status, {401, 403, 407})) {
    expect(advice == Advice{Stop{Stop::Why::forbidden}}, "401, 403 and 407 are forbidden");
  } else if (status == 422) {
    expect(advice == Advice{Stop{Stop::Why::mismatch}}, "422 is a mismatch");
  } else if ((status >= 200 && status < 300) || (status >= 400 && status < 500)) {
    expect(advice == Advice{Done{}}, "every other 2xx and 4xx is the answer");
  } else {
    expect(advice == Advice{Stop{Stop::Why::unexpected}}, "no such service sends another status");
  }
}

// What the boundary says, whatever it says of it, is understood; under a status that it never sends, the problem is another's.
void check_problem(std::uint8_t choice, const ReplyView& reply) {
  const auto problem = static_cast<Problem>(choice % 9);
  const Response response = http::problem_response(
      problem,
      {.status = reply.status, .detail = std::string{reply.body}, .key = std::string{reply.idempotency_key}});
  ReplyView sent = reply;
  sent.content_type = response.headers.front().value;
  sent.body = body_text(response);
  const Advice advice = http::ClientRule{options}.after(sent);
  if (problem != Problem::answer_withheld &&
      !is_one_of(reply.status, {202, 400, 401, 409, 422, 423, 425, 503})) {
    check_status(advice, sent);
    return;
  }
  switch (problem) {
    case Problem::in_progress:
    case Problem::unknown:
    case Problem::unavailable:
      check_pause(advice, reply.retry_after, options.first_pause);
      return;
    case Problem::key_reused:
      expect(advice == Advice{Stop{Stop::Why::mismatch}}, "a key that was used before is a mismatch");
      return;
    case Problem::unauthenticated:
      expect(advice == Advice{Stop{Stop::Why::forbidden}}, "nobody is forbidden");
      return;
    case Problem::answer_withheld:
      expect(advice == Advice{Done{.body_withheld = true}}, "a withheld answer is one");
      return;
    case Problem::key_missing:
    case Problem::key_refused:
    case Problem::request_refused:
      expect(advice == Advice{Stop{Stop::Why::refused}}, "what cannot be read is refused");
  }
}

void check_saved(std::string_view saved) {
  try {
    const auto intent = http::Intent::restore(saved);
    expect(Uuid::parse(intent.key()).has_value(), "an intent's key is a UUID");
    expect(intent.save() == saved, "an intent is saved as it was");
    expect(intent.header() == '"' + intent.key() + '"', "a key is sent in quotation marks");
  } catch (const InvalidArgument& refused) {
    expect(!quotes(refused.what(), saved), "a refusal holds nothing of an intent");
  }
}

}  // namespace

void one_input(Input input) {
  check_saved(input.rest());
  const std::uint8_t choice = input.byte();
  ReplyView reply;
  reply.status = input.byte() * 4 + choice % 4;  // 0 to 1023
  reply.retry_after = input.line();
  reply.content_type = input.line();
  reply.idempotency_key = input.line();
  reply.body = input.rest();

  http::ClientRule rule{options};
  const Advice advice = rule.after(reply);
  expect(rule.tries() == 1, "an answer is a try");
  if (reply.body.find("type") == std::string_view::npos && reply.body.find('\\') == std::string_view::npos) {
    check_status(advice, reply);
  } else if (std::holds_alternative<RetryAfter>(advice)) {
    check_pause(advice, reply.retry_after, options.first_pause);
  }
  check_problem(choice / 4U, reply);
  ReplyView again = reply;
  again.replayed = true;
  expect(std::holds_alternative<Done>(http::ClientRule{options}.after(again)), "a replay is the answer");

  // It comes to an end, whatever is answered.
  static_cast<void>(rule.after_no_answer());
  expect(!std::holds_alternative<RetryAfter>(rule.after(reply)),
         "there are no more tries than the rule allows");
  expect(rule.after_no_answer() == Advice{Stop{Stop::Why::exhausted}}, "nor after no answer");
  expect(http::ClientRule{options}.after(reply).index() == advice.index(),
         "the same answer has the same advice");

  const auto intent = http::Intent::mint(std::string{reply.body});
  expect(http::Intent::restore(intent.save()).save() == intent.save(), "an intent that was saved comes back");
}

}  // namespace idem::fuzz
