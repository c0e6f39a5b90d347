#include "idem/http/problem.hpp"

#include <array>
#include <nlohmann/json.hpp>

namespace idem {
inline namespace v0 {
namespace http {
namespace {

struct Words {
  Problem problem;
  std::string_view name;
  std::string_view title;
  std::string_view detail;
};

constexpr std::array<Words, 9> all_words{{
    {Problem::key_missing, "key-missing", "Idempotency-Key is missing",
     "This operation needs the header Idempotency-Key: one key for each intent, the same on every retry."},
    {Problem::key_refused, "key-refused", "Idempotency-Key cannot be read",
     "Send one Idempotency-Key with one key in it."},
    {Problem::unauthenticated, "unauthenticated", "The caller is not known",
     "An idempotency key belongs to an authenticated caller."},
    {Problem::request_refused, "request-refused", "The request cannot be read",
     "The body must be valid for its media type, with one meaning."},
    {Problem::key_reused, "key-reused", "Idempotency-Key was used for another request",
     "The key belongs to a request with another payload. Nothing was done. Retrying does not help; a new "
     "intent needs a "
     "new key."},
    {Problem::in_progress, "in-progress", "The request is being carried out",
     "A request with this key is outstanding. Come back with the same key."},
    {Problem::unknown, "unknown", "The result is not known yet",
     "The request was passed on and its result is not known. It is being settled. Come back with the same "
     "key, and use "
     "no other."},
    {Problem::unavailable, "unavailable", "The result cannot be told now",
     "Come back with the same key: it was done once or not at all."},
    {Problem::answer_withheld, "answer-withheld", "Done; the answer's body was not kept",
     "The request was carried out with this status, once. Its body could not be stored, so it cannot be sent "
     "again."},
}};

const Words& words_of(Problem problem) {
  for (const Words& words : all_words) {
    if (words.problem == problem) return words;
  }
  return all_words.back();
}

}  // namespace

std::string_view to_string(Problem problem) noexcept {
  return words_of(problem).name;
}

std::optional<Problem> problem_of_type(std::string_view type) noexcept {
  const auto end = type.find_last_of(":/#");
  const std::string_view name = end == std::string_view::npos ? type : type.substr(end + 1);
  for (const Words& words : all_words) {
    if (words.name == name) return words.problem;
  }
  return std::nullopt;
}

Response problem_response(Problem problem, const ProblemDetails& details) {
  const Words& words = words_of(problem);
  nlohmann::ordered_json json;
  json["type"] = std::string{details.types}.append(words.name);
  json["title"] = words.title;
  json["status"] = details.status;
  json["detail"] = details.detail.empty() ? std::string{words.detail} : details.detail;
  if (details.key) json["idempotency_key"] = *details.key;
  Response response =
      text_response(details.status, json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  response.headers.push_back({"Content-Type", "application/problem+json"});
  return response;
}

}  // namespace http
}  // namespace v0
}  // namespace idem
