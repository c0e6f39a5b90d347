#include "http_services.hpp"

#include <nlohmann/json.hpp>

namespace refund_saga {

using nlohmann::json;

std::string body_of(const Refund& refund) {
  return json{{"refund", refund.id}, {"payment", refund.payment}, {"amount_cents", refund.amount_cents}}
      .dump();
}

idem::CallResult<Answer> HttpServices::command(std::string_view path, const Refund& refund,
                                               const std::string& idempotency_key,
                                               std::chrono::milliseconds deadline) const {
  try {
    const examples::Received received =
        post_.send(std::string{path}, idempotency_key, body_of(refund), deadline);
    // 409 too, "still in progress" or "this key with another command": neither is a decision.
    if (received.status != 201 && received.status != 402) {
      return idem::ResultUnknown{"the service answered with status " + std::to_string(received.status)};
    }
    const json answer = json::parse(received.body);
    const bool accepted = received.status == 201;
    if (answer.at("key") != idempotency_key || answer.at("outcome") != (accepted ? "done" : "refused")) {
      return idem::ResultUnknown{"the service's answer is about another command, or contradicts itself"};
    }
    return Answer{accepted, answer.at("id").get<std::string>()};
  } catch (const examples::NotKnown& unknown) {
    return idem::ResultUnknown{unknown.what()};
  } catch (const json::exception&) {  // Whose message would tell the body.
    return idem::ResultUnknown{"the service's answer cannot be read"};
  }
}

}  // namespace refund_saga
