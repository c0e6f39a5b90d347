// The bodies that clients get.
#pragma once

#include <string>
#include <string_view>

#include "idem/idem.hpp"
#include "payment.hpp"

namespace payments {

/// With that text as its body.
[[nodiscard]] idem::Response json_response(int status, std::string_view json,
                                           const char* media_type = "application/json");

/// 201, with the header Location.
[[nodiscard]] idem::Response authorized_response(const Payment& payment);
/// The id of the payment that an authorized_response tells of, also where that was stored and is replayed.
[[nodiscard]] std::string payment_id_in(const idem::Response& authorized);
/// 402.
[[nodiscard]] idem::Response declined_response(const Payment& payment);
/// 202.
[[nodiscard]] idem::Response unknown_response(const Payment& payment);
/// 200: the payment as it is now. Never stored.
[[nodiscard]] idem::Response payment_response(const Payment& payment);

/// `{"error":code,"detail":detail}`. Never stored.
[[nodiscard]] idem::Response error_response(int status, std::string_view code, std::string_view detail);
/// `application/problem+json` (RFC 9457) that says no more than the status does. Never stored.
[[nodiscard]] idem::Response status_problem(int status);

}  // namespace payments
