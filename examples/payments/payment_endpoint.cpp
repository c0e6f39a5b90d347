#include "payment_endpoint.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "bearer.hpp"
#include "idem/http.hpp"
#include "idem/idem.hpp"
#include "payment_body.hpp"
#include "payment_responses.hpp"
#include "request_line.hpp"

namespace payments {

idem::http::BoundaryOptions payment_boundary(int mismatch_status) {
  idem::http::BoundaryOptions options;
  options.mismatch_status = mismatch_status;
  // For who looks on. A service says minutes: a settlement has to decide it.
  options.unknown_retry_after = std::chrono::seconds{1};
  for (const std::string& member : operation_members()) options.fingerprint.include.push_back("/" + member);
  return options;
}

idem::Response PaymentEndpoint::pay(std::string_view principal,
                                    std::span<const std::string_view> idempotency_key,
                                    std::string_view content_type, std::string_view body) const {
  const idem::http::RequestView view{.method = "POST",
                                     .operation = operation_name,
                                     .content_type = content_type,
                                     .body = body,
                                     .idempotency_key = idempotency_key};
  try {
    return boundary_.handle(principal, view, [&](const idem::Request& command) {
      PaymentBody read = read_payment_body(body);
      return service_.charge(begin_, {command, std::move(read.order), std::move(read.payment_method_token)},
                             charging_);
    });
  } catch (const BadRequest& refused) {
    // As the boundary tells of a body that it cannot read: nothing was looked up.
    return idem::http::problem_response(idem::http::Problem::request_refused,
                                        {.status = 400, .detail = refused.what()});
  }
}

idem::Response PaymentEndpoint::get(std::string_view principal, std::string_view id) const {
  if (principal.empty()) return unauthenticated_response();
  const auto uuid = idem::Uuid::parse(id);
  if (!uuid) return status_problem(404);
  const auto unit = begin_();
  // Nobody is told whether somebody else has such a payment.
  const auto payment =
      repository_.find_payment(unit->transaction(), uuid->to_string(), std::string{principal});
  return payment ? payment_response(*payment) : status_problem(404);
}

}  // namespace payments
