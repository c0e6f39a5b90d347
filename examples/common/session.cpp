#include "session.hpp"

#include <poll.h>

#include <exception>
#include <utility>

namespace examples {

std::unique_ptr<pqxx::connection> connect(const std::string& database_url) {
  try {
    return std::make_unique<pqxx::connection>(database_url);
  } catch (const std::exception&) {
    // libpq quotes what it took for a host or a user: in a mistyped URL that may be a part of the password.
    throw pqxx::broken_connection{"the database cannot be reached; check --database-url"};
  }
}

bool lost(const pqxx::connection& idle) {
  // Nobody has asked it for anything: what there is to read is its end.
  pollfd end{idle.sock(), POLLIN, 0};
  return !idle.is_open() || poll(&end, 1, 0) != 0;
}

Session::Session(std::string database_url)
    : database_url_{std::move(database_url)}, connection_{connect(database_url_)} {}

std::unique_ptr<pqxx::work> Session::begin() {
  if (lost(*connection_)) connection_ = connect(database_url_);
  return std::make_unique<pqxx::work>(*connection_);
}

}  // namespace examples
