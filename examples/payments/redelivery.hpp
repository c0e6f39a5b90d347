// The event of a payment, and the one that a broker delivers once more.
#pragma once

#include <optional>

#include "answer.hpp"
#include "enrolment.hpp"
#include "request_line.hpp"

namespace payments {

/// The event of the payment that this answer tells of, where that is authorised; of a replayed one too. Empty otherwise.
[[nodiscard]] std::optional<PaymentAuthorized> event_of(const PaymentRequest& request, const Answer& answer);

/// The event of the payment that this answer tells of, where the request wants it delivered again and the payment is
/// authorised; of a replayed one too. Empty otherwise.
[[nodiscard]] std::optional<PaymentAuthorized> event_to_redeliver(const PaymentRequest& request,
                                                                  const Answer& answer);

}  // namespace payments
