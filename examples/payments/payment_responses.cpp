#include "payment_responses.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace payments {
namespace {

using nlohmann::ordered_json;

std::string described(const Payment& payment, const char* state) {
  ordered_json body{{"payment_id", payment.id},
                    {"state", state},
                    {"amount_cents", payment.order.amount_cents},
                    {"currency", payment.order.currency},
                    {"offering_id", payment.order.offering_id}};
  if (!payment.charge_id.empty()) body["charge_id"] = payment.charge_id;
  return body.dump();
}

// RFC 9110, 15; empty for one that this service does not send.
const char* phrase(int status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 500:
      return "Internal Server Error";
    default:
      return "";
  }
}

}  // namespace

idem::Response json_response(int status, std::string_view json, const char* media_type) {
  idem::Response response = idem::text_response(status, json);
  response.headers.push_back({"Content-Type", media_type});
  return response;
}

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
  return json_response(status, ordered_json{{"error", code}, {"detail", detail}}.dump());
}

idem::Response status_problem(int status) {
  ordered_json problem{{"type", "about:blank"}};
  if (const std::string_view title = phrase(status); !title.empty()) problem["title"] = title;
  problem["status"] = status;
  return json_response(status, problem.dump(), "application/problem+json");
}

}  // namespace payments
