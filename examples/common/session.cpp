#include "session.hpp"

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

Session::Session(std::string database_url)
    : database_url_{std::move(database_url)}, connection_{connect(database_url_)} {}

std::unique_ptr<pqxx::work> Session::begin() {
  if (!connection_->is_open()) connection_ = connect(database_url_);
  return std::make_unique<pqxx::work>(*connection_);
}

}  // namespace examples
