// `payments serve`: payments over HTTP.
#pragma once

#include <string>

#include "charge_operation.hpp"

namespace payments {

struct ServeOptions {
  std::string listen;  ///< HOST:PORT; port 0 takes a free one.
  std::string database_url;
  int mismatch_status = 422;  ///< Of a key that was used for another request: 422, 409 or 400.
  Charging charging{};
  std::string acquirer_url{};  ///< Whose ledger the page shows.
  bool page = true;            ///< The page on `/`, and the faults that it asks for.
};

/// Throws idem::InvalidArgument or std::invalid_argument for bad options, and for any in a build without cpp-httplib.
void validate(const ServeOptions& options);

/// Answers until SIGTERM or SIGINT, and returns when the requests under way are answered. Creates the tables where they are
/// missing. Writes `listening on http://HOST:PORT` on stdout when it takes connections. To be called before any thread is
/// started.
///
/// Throws what validate() throws, std::runtime_error where it cannot listen, and what the database throws.
void serve(const ServeOptions& options);

}  // namespace payments
