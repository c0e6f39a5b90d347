// Reads one request from its line of JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "idem/idem.hpp"
#include "payment_body.hpp"

namespace payments {

/// The command's name in each payment's key.
inline constexpr std::string_view operation_name = "POST /payments";

/// Is the payment's event to be delivered once more, as a broker may do at any time?
enum class Redelivery {
  none,
  same_event,  ///< Under its own id.
  new_id,      ///< The same fact under a new one: its maker has told it twice.
};

/// A payment as it was asked for, and what makes a second asking the same one.
struct PaymentRequest {
  idem::Request command;
  Order order;
  std::string payment_method_token;
  Redelivery redelivery = Redelivery::none;  ///< Not a part of the command.
};

/// Reads
/// `{"principal":P,"key":K,"body":{"amount_cents":N,"currency":C,"offering_id":O,"payment_method_token":T}}`, where
/// `"redeliver_event":true` or `"new_id"` may stand beside the body.
/// Over HTTP (payment_endpoint.hpp) the principal comes from the authentication, the key from the Idempotency-Key header.
/// Immutable; safe to share between threads.
class RequestLineReader {
 public:
  RequestLineReader();

  /// Throws BadRequest where the line is not JSON with one meaning (a member given twice, invalid UTF-8, …),
  /// where one of the six members is missing or of the wrong type, for a principal or key that idem refuses,
  /// for a text that is not 1 to 255 bytes without NUL, for an amount that is no integer from 1 to 2^63
  /// - 1, and for a redeliver_event other than true, false and "new_id". Other members are ignored.
  [[nodiscard]] PaymentRequest read(std::string_view line) const;

  /// Longer lines are refused, in bytes.
  [[nodiscard]] std::size_t max_line_bytes() const noexcept {
    return fingerprinter_.json_options().max_bytes;
  }

 private:
  idem::Fingerprinter fingerprinter_;
  idem::JsonProjection used_members_;
};

}  // namespace payments
