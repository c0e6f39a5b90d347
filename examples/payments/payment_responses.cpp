#include "payment_responses.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace payments {
namespace {

using nlohmann::ordered_json;

idem::Response json_response(int status, const ordered_json& body, const char* type = "application/json") {
  idem::Response response = idem::text_response(status, body.dump());
  response.headers.push_back({"Content-Type", type});
  return response;
}

ordered_json described(const Payment& payment, const char* state) {
  ordered_json body{{"payment_id", payment.id},
                    {"state", state},
                    {"amount_cents", payment.order.amount_cents},
                    {"currency", payment.order.currency},
                    {"offering_id", payment.order.offering_id}};
  if (!payment.charge_id.empty()) body["charge_id"] = payment.charge_id;
  return body;
}

}  // namespace

idem::Response authorized_response(const Payment& payment) {
  idem::Response response = json_response(201, described(payment, "authorized"));
  response.headers.push_back({"Location", "/payments/" + payment.id});
  return response;
}

std::string payment_id_in(const idem::Response& authorized) {
  return ordered_json::parse(idem::body_text(authorized)).at("payment_id").get<std::string>();
}

idem::Response declined_response(const Payment& payment) {
  return json_response(402, described(payment, "declined"));
}

idem::Response unknown_response(const Payment& payment) {
  return json_response(202, described(payment, "unknown"));
}

idem::Response payment_response(const Payment& payment) {
  switch (payment.state) {
    case PaymentState::pending:
      return json_response(200, described(payment, "pending"));
    case PaymentState::authorized:
      return json_response(200, described(payment, "authorized"));
    case PaymentState::declined:
      return json_response(200, described(payment, "declined"));
    case PaymentState::unknown:
      break;
  }
  return json_response(200, described(payment, "unknown"));
}

idem::Response error_response(int status, std::string_view code, std::string_view detail) {
  return json_response(status, {{"error", code}, {"detail", detail}});
}

idem::Response status_problem(int status) {
  return json_response(status, {{"type", "about:blank"}, {"status", status}}, "application/problem+json");
}

}  // namespace payments
