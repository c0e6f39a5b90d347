// The bodies that clients get.
#pragma once

#include <string_view>

#include "idem/response.hpp"
#include "payment.hpp"

namespace payments {

/// 201. `seat_is_new` is false where the principal held a seat in the offering already.
[[nodiscard]] idem::Response authorized_response(const Payment& payment, bool seat_is_new);
/// 402.
[[nodiscard]] idem::Response declined_response(const Payment& payment);

/// `{"error":code,"detail":detail}`. Never stored.
[[nodiscard]] idem::Response error_response(int status, std::string_view code, std::string_view detail);

}  // namespace payments
