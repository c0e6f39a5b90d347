// The service's database, ready for use.
#pragma once

#include <string>

#include "session.hpp"

namespace payments {

/// Connects, and creates the tables where they are missing. Throws what the database throws.
[[nodiscard]] examples::Session open_database(const std::string& database_url);

}  // namespace payments
