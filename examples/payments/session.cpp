#include "session.hpp"

#include <utility>

namespace payments {

Session::Session(std::string database_url)
    : database_url_{std::move(database_url)},
      connection_{std::make_unique<pqxx::connection>(database_url_)} {}

std::unique_ptr<pqxx::work> Session::begin() {
  if (!connection_->is_open()) connection_ = std::make_unique<pqxx::connection>(database_url_);
  return std::make_unique<pqxx::work>(*connection_);
}

}  // namespace payments
