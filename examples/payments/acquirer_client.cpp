#include "acquirer_client.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace payments {
namespace {

using examples::Received;
using nlohmann::json;

std::string body_of(const Charge& charge) {
  try {
    return json{{"amount_cents", charge.amount_cents},
                {"currency", charge.currency},
                {"payment_method_token", charge.payment_method_token},
                {"reference", charge.reference}}
        .dump();
  } catch (const json::exception&) {  // Whose message would tell the bytes.
    throw std::invalid_argument{"the charge is not UTF-8"};
  }
}

// A text that a database can keep.
std::string text(const json& answer, const char* name) {
  auto value = answer.at(name).get<std::string>();
  if (value.empty() || value.size() > 255 || value.find('\0') != std::string::npos) {
    throw AcquirerUnknown{"the acquirer's answer cannot be read"};
  }
  return value;
}

ChargeAnswer read(const Received& received, const std::string& key, const Charge& charge) {
  if (received.status != 201 && received.status != 402) {
    throw AcquirerUnknown{"the acquirer answered with status " + std::to_string(received.status)};
  }
  try {
    const json answer = json::parse(received.body);
    if (answer.at("outcome") != (received.status == 201 ? "approved" : "declined")) {
      throw AcquirerUnknown{"the acquirer's answer contradicts itself"};
    }
    if (answer.at("key") != key || answer.at("amount_cents") != charge.amount_cents ||
        answer.at("currency") != charge.currency || answer.at("reference") != charge.reference) {
      throw AcquirerUnknown{"the acquirer's answer is about another charge"};
    }
    std::string charge_id = text(answer, "charge_id");
    std::string at = text(answer, "at");
    if (received.status == 201) return Approved{std::move(charge_id), std::move(at)};
    return Declined{std::move(charge_id), std::move(at)};
  } catch (const json::exception&) {  // Whose message would tell the body.
    throw AcquirerUnknown{"the acquirer's answer cannot be read"};
  }
}

}  // namespace

AcquirerClient::AcquirerClient(std::string_view url) : post_{"the acquirer", url} {}

ChargeAnswer AcquirerClient::charge(const std::string& idempotency_key, const Charge& charge,
                                    std::chrono::milliseconds deadline) const {
  return read(post_.send("/charges", idempotency_key, body_of(charge), deadline), idempotency_key, charge);
}

}  // namespace payments
