// What the world is told of a decided payment.
#pragma once

#include "idem/idem.hpp"
#include "payment.hpp"

namespace payments {

/// PaymentAuthorized or PaymentDeclined, with everything that a consumer needs. Throws std::logic_error for a payment that
/// is not decided: there is nothing to tell.
[[nodiscard]] idem::OutboxMessage payment_event(const Payment& payment);

}  // namespace payments
