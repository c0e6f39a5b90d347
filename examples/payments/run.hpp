// `payments run`: answers a file of requests.
#pragma once

#include <istream>
#include <ostream>
#include <string>

#include "charge_operation.hpp"

namespace payments {

/// Reads one request a line from `requests`, and writes for each its answer as one line of JSON, when that is
/// durable; at the end the summary, read back from the database. Creates the tables where they are missing.
///
/// Every line is answered, an empty one too (it is not JSON, so 400). A final line feed ends the last line
/// and begins no other. May be run again with the same requests, and beside another run: each has its effect
/// once.
///
/// Throws pqxx exceptions and idem::Error where the database fails: every answer written is true, and the
/// rest can be had by running again. Throws std::ios_base::failure where the requests cannot be read or the
/// answers not written.
///
/// `charging` is null, and payments are decided by a rule of their own; or they are charged through its acquirer, and the
/// summary tells more. Then what is thrown may leave a payment pending, for the next who comes with its key, or for a
/// sweep.
void run(const std::string& database_url, std::istream& requests, std::ostream& answers,
         const Charging* charging = nullptr);

}  // namespace payments
