#include "database.hpp"

#include "postgres_repository.hpp"

namespace payments {

examples::Session open_database(const std::string& database_url) {
  examples::Session session{database_url};
  const auto tx = session.begin();
  install_tables(*tx);
  tx->commit();
  return session;
}

}  // namespace payments
