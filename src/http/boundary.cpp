#include "idem/http/boundary.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>

#include "http/header_name.hpp"
#include "idem/response/rules.hpp"

namespace idem {
inline namespace v0 {
namespace http {
namespace {

constexpr std::chrono::milliseconds soon{1000};

void check_status(std::string_view option, int status, std::initializer_list<int> legal) {
  if (std::find(legal.begin(), legal.end(), status) != legal.end()) return;
  std::string names;
  for (const int one : legal) names += (names.empty() ? "" : ", ") + std::to_string(one);
  throw InvalidArgument{std::string{option} + " must be one of " + names};
}

void set_header(Response& response, std::string name, std::string value) {
  std::erase_if(response.headers, [&](const Header& header) { return detail::same_name(header.name, name); });
  response.headers.push_back({std::move(name), std::move(value)});
}

void come_back_with(Response& response, const Key& key) {
  set_header(response, "Idempotency-Key", serialize_idempotency_key(key.value));
}

// Does the header say something of the body that it came with, and of no other?
bool is_about_the_body(const Header& header) {
  constexpr std::string_view content = "content-";
  if (detail::same_name(std::string_view{header.name}.substr(0, content.size()), content)) return true;
  constexpr std::array<std::string_view, 4> others{"digest", "etag", "last-modified", "repr-digest"};
  return std::any_of(others.begin(), others.end(),
                     [&](std::string_view name) { return detail::same_name(header.name, name); });
}

// RFC 9110, 6.4.1 and 15.3.6: it would be taken for the next answer.
bool cannot_have_a_body(int status) {
  return status == 204 || status == 205 || status == 304;
}

// In whole seconds (RFC 9110, 10.2.3), and never "at once".
void retry_after(Response& response, std::chrono::milliseconds after) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(after);
  set_header(response, "Retry-After", std::to_string(std::max(seconds, std::chrono::seconds{1}).count()));
}

std::string detail_of(KeyRefusal refusal, const KeyHeaderOptions& options) {
  switch (refusal) {
    case KeyRefusal::repeated:
      return "There is more than one Idempotency-Key.";
    case KeyRefusal::empty:
      return "The Idempotency-Key is empty.";
    case KeyRefusal::too_long:
      return "The Idempotency-Key is longer than " + std::to_string(options.max_bytes) + " bytes.";
    case KeyRefusal::malformed:
      return options.syntax == KeySyntax::strict
                 ? "The Idempotency-Key must be a String of RFC 9651, in quotation marks."
                 : "The Idempotency-Key must be a String of RFC 9651, or visible ASCII without spaces, "
                   "commas and quotation marks.";
    case KeyRefusal::missing:
      break;
  }
  return {};
}

}  // namespace

Decision Answer::decide(Response response) {
  if (response.status < 200 || response.status > 599)
    throw InvalidArgument{"an answer's status must be 200 to 599"};
  whole_ = response;
  if (disposition_of(policy_, response.status) == Disposition::roll_back) throw NotStored{};
  Response kept = storable(policy_, std::move(response));
  return kept.status < 400 ? completed(std::move(kept)) : failed(std::move(kept));
}

Response Answer::in_place_of(Response stored) && {
  const bool same = whole_ && whole_->status == stored.status && whole_->body == stored.body &&
                    storable(policy_, {whole_->status, whole_->headers, {}}).headers == stored.headers;
  return same ? *std::move(whole_) : std::move(stored);
}

Boundary::Boundary(BoundaryOptions options)
    : options_{std::move(options)}, fingerprinter_{options_.fingerprint} {
  validate(options_.store);
  check_status("in_progress_status", options_.in_progress_status, {409, 202, 423, 425});
  check_status("mismatch_status", options_.mismatch_status, {422, 409, 400});
  check_status("unknown_status", options_.unknown_status, {503, 202});
  if (options_.unknown_retry_after < std::chrono::seconds{1} ||
      options_.unknown_retry_after > std::chrono::hours{24}) {
    throw InvalidArgument{"unknown_retry_after must be 1 s to 24 h"};
  }
  // Says whether the options are legal.
  (void)parse_idempotency_key({}, options_.key);
}

std::variant<Request, Response> Boundary::read(std::string_view principal, const RequestView& request) const {
  if (principal.empty()) return problem(Problem::unauthenticated, 401);
  auto key = parse_idempotency_key(request.idempotency_key, options_.key);
  if (const auto* refusal = std::get_if<KeyRefusal>(&key)) {
    if (*refusal == KeyRefusal::missing) return problem(Problem::key_missing, 400);
    return problem(Problem::key_refused, 400, detail_of(*refusal, options_.key));
  }
  Key whole{std::string{principal}, std::string{request.operation}, std::move(std::get<std::string>(key))};
  validate(whole);
  try {
    return Request{std::move(whole), fingerprinter_({.method = request.method,
                                                     .operation = request.operation,
                                                     .query = request.query,
                                                     .content_type = request.content_type,
                                                     .body = request.body})};
  } catch (const InvalidArgument& refused) {
    return problem(Problem::request_refused, 400, refused.what());
  }
}

Response Boundary::respond(const Request& command, Outcome outcome) const {
  return respond(command, std::move(outcome), Answer{options_.store});
}

Response Boundary::respond(const Request& command, Outcome outcome, Answer&& answer) const {
  struct Responding {
    Response operator()(Executed&& executed) const {
      return std::move(answer).in_place_of(std::move(executed.response));
    }
    Response operator()(Replay&& replay) const { return boundary.replayed(std::move(replay.response)); }
    Response operator()(InProgress&& in_progress) const {
      Response response = boundary.problem(Problem::in_progress, boundary.options_.in_progress_status);
      // Who does not read problems takes any other 202 for done.
      if (response.status == 202) come_back_with(response, command.key);
      retry_after(response, in_progress.retry_after);
      return response;
    }
    Response operator()(Mismatch&&) const {
      return boundary.problem(Problem::key_reused, boundary.options_.mismatch_status);
    }
    Response operator()(Unknown&& unknown) const {
      return boundary.not_known(command, std::move(unknown.response));
    }

    const Boundary& boundary;
    const Request& command;
    Answer& answer;
  };
  return std::visit(Responding{*this, command, answer}, std::move(outcome));
}

Response Boundary::problem(Problem problem, int status, std::string detail) const {
  return problem_response(problem,
                          {.status = status, .detail = std::move(detail), .types = options_.problem_types});
}

Response Boundary::unavailable() const {
  Response response = problem(Problem::unavailable, 503);
  retry_after(response, soon);
  return response;
}

Response Boundary::replayed(Response stored) const {
  const bool whole = !withheld(stored);
  // Here too: decide() has not seen every answer that is stored, and an outside call's is none of those.
  Response response = storable(options_.store, std::move(stored));
  if (!whole) response = without_its_body(std::move(response));
  if (!options_.replayed.name.empty()) set_header(response, options_.replayed.name, options_.replayed.value);
  return response;
}

Response Boundary::without_its_body(Response kept) const {
  std::erase_if(kept.headers, is_about_the_body);
  if (cannot_have_a_body(kept.status)) return kept;
  Response told = problem(Problem::answer_withheld, kept.status);
  std::move(kept.headers.begin(), kept.headers.end(), std::back_inserter(told.headers));
  return told;
}

Response Boundary::not_known(const Request& command, std::optional<Response> told) const {
  // An answer whose body was not kept tells nothing; and `answer-withheld` would say that it is done.
  if (told && withheld(*told)) told.reset();
  Response response = told ? storable(options_.store, *std::move(told))
                           : problem_response(Problem::unknown, {.status = options_.unknown_status,
                                                                 .key = command.key.value,
                                                                 .types = options_.problem_types});
  come_back_with(response, command.key);
  retry_after(response, options_.unknown_retry_after);
  return response;
}

}  // namespace http
}  // namespace v0
}  // namespace idem
