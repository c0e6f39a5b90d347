// What a payment's JSON asks for, wherever that stands.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "payment.hpp"

namespace payments {

struct PaymentBody {
  Order order;
  std::string payment_method_token;
};

/// The request is refused (400). Says what is wrong with it, without any of its content.
class BadRequest : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The names of the members that make the operation. A client's timestamp or trace id beside these would make each retry a
/// mismatch, so what is not listed does not count.
[[nodiscard]] const std::vector<std::string>& operation_members();

/// Reads `{"amount_cents":N,"currency":C,"offering_id":O,"payment_method_token":T}`; `where` begins the members' names in
/// messages. Throws BadRequest where one is missing or of the wrong type, for a text that is not 1 to 255 bytes without NUL,
/// and for an amount that is no integer from 1 to 2^63 - 1. Other members are ignored.
[[nodiscard]] PaymentBody payment_body_in(const nlohmann::json& object, const std::string& where);

/// Reads a text that is such an object. Throws BadRequest too where it is not JSON with one meaning.
[[nodiscard]] PaymentBody read_payment_body(std::string_view text);

}  // namespace payments
