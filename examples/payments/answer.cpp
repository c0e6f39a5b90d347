#include "answer.hpp"

#include <openssl/evp.h>

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <variant>

#include "payment_responses.hpp"

namespace payments {
namespace {

// One function for each outcome, and no other: with one forgotten, std::visit does not compile.
struct ToAnswer {
  Answer operator()(const idem::Executed& executed) const { return {"executed", executed.response}; }
  Answer operator()(const idem::Replay& replay) const { return {"replayed", replay.response}; }
  Answer operator()(const idem::InProgress& in_progress) const {
    return {"in_progress", error_response(409, "in_progress", "the first request is still being carried out"),
            in_progress.retry_after};
  }
  Answer operator()(const idem::Mismatch&) const {
    return {"mismatch", error_response(422, "key_reused", "this key was used for another request")};
  }
  Answer operator()(const idem::Unknown& unknown) const {
    if (unknown.response) return {"unknown", *unknown.response};
    return {"unknown", error_response(503, "unknown", "the result is not known yet")};
  }
};

}  // namespace

Answer answer_to(const idem::Outcome& outcome) {
  return std::visit(ToAnswer{}, outcome);
}

Answer refusal(std::string reason) {
  idem::Response response = error_response(400, "invalid_request", reason);
  return {"invalid", std::move(response), std::nullopt, std::move(reason)};
}

std::string body_sha256(const idem::Response& response) {
  std::array<unsigned char, 32> hash{};
  if (EVP_Digest(response.body.data(), response.body.size(), hash.data(), nullptr, EVP_sha256(), nullptr) !=
      1) {
    throw std::runtime_error{"SHA-256 is not available"};
  }
  std::string hex;
  for (const unsigned byte : hash) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 0xf];
  }
  return hex;
}

std::string to_json(std::size_t line, const Answer& answer) {
  nlohmann::ordered_json json{{"line", line},
                              {"outcome", answer.outcome},
                              {"status", answer.response.status},
                              {"body_sha256", body_sha256(answer.response)}};
  if (answer.retry_after) json["retry_after_ms"] = answer.retry_after->count();
  if (answer.reason) json["reason"] = *answer.reason;
  if (answer.redelivery) json["redelivery"] = idem::to_string(*answer.redelivery);
  return json.dump();
}

}  // namespace payments
