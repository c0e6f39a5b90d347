// Reads what clients send.
#pragma once

#include <stdexcept>
#include <string_view>

#include "charge.hpp"

namespace acquirer {

/// The request is refused (400). Says what is wrong with it, without any of its content.
class BadRequest : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws BadRequest where it is not 1 to 255 visible ASCII characters.
void check_key(std::string_view key);

/// Reads `{"amount_cents":N,"currency":C,"payment_method_token":T,"reference":R}`. Other members are ignored.
/// Throws BadRequest where it is not such an object, for a text that is not 1 to 255 bytes, and for an amount
/// that is no integer from 1 to 2^63 - 1.
[[nodiscard]] Charge read_charge(std::string_view body);

}  // namespace acquirer
