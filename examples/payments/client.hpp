// `payments client`: one payment, asked for until it is decided.
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "payment_body.hpp"

namespace payments {

struct ClientOptions {
  std::string url;                       ///< `http://HOST:PORT`
  std::string principal;                 ///< NAME of the token `demo-NAME`.
  std::string intent;                    ///< The file.
  std::optional<PaymentBody> payment{};  ///< Where there is no file, and only there.
};

/// Takes the intent out of its file, or makes one and saves it before anything is sent; sends it as idem::http::ClientRule says;
/// writes `{"key":K,"status":S,"replayed":R,"tries":N,"body":B}`, S and B null where there was no answer, and removes the file
/// once the payment is decided. Each try that decides nothing is a line on `errors`.
///
/// Returns the exit status: 0 decided, a decline too; 1 not known, to be run again with the same file; 3 refused, or a bug.
/// Throws std::invalid_argument and idem::InvalidArgument for bad options, a file of another principal's, a payment beside a file or none without one, and for
/// any in a build without cpp-httplib; std::runtime_error where the file or the output fails.
[[nodiscard]] int client(const ClientOptions& options, std::ostream& answers, std::ostream& errors);

}  // namespace payments
