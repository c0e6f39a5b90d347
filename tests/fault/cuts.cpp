#include "fault/cuts.hpp"

#include <pqxx/pqxx>
#include <type_traits>

namespace idem::fault_test {
namespace {

// As libpqxx has it, by version: a pointer that may be null, or a view.
template <class Given>
std::string text(Given given) {
  if constexpr (std::is_pointer_v<Given>) {
    return given == nullptr ? "" : given;
  } else {
    return std::string{given};
  }
}

}  // namespace

ProxiedDatabase::ProxiedDatabase(const postgres_test::TestDatabase& database)
    : ProxiedDatabase{database, *database.connect()} {}

ProxiedDatabase::ProxiedDatabase(const postgres_test::TestDatabase& database, pqxx::connection& connection)
    : database_{database},
      proxy_{text(connection.hostname()), text(connection.port())},
      url_{"host=127.0.0.1 port=" + std::to_string(proxy_.port()) + " dbname='" + text(connection.dbname()) +
           "' user='" + text(connection.username()) + "' application_name='" + database.schema() +
           "' options='-csearch_path=\"" + database.schema() + "\"' sslmode=disable gssencmode=disable"} {}

void ProxiedDatabase::wait_for_the_server() const {
  postgres_test::wait_until(
      database_,
      "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = '" + database_.schema() + "'");
}

}  // namespace idem::fault_test
