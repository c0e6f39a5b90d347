#include "repair.hpp"

#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "charge_operation.hpp"
#include "database.hpp"
#include "first_line.hpp"
#include "idem/postgres.hpp"
#include "outbox_delivery.hpp"
#include "postgres_repository.hpp"

namespace payments {

bool repair(const std::string& database_url, std::ostream& answers, std::ostream& errors) {
  examples::Session session = open_database(database_url);
  const auto begin = [&session] { return session.begin(); };
  const idem::postgres::Backend backend;
  PostgresRepository repository;
  // Nobody is asked: the settlement has said it.
  const Charging charging;

  const idem::postgres::RepairPass passed = idem::postgres::apply_repairs(
      backend, begin,
      [&](pqxx::dbtransaction&, const idem::LapsedRecord&) {
        return ChargeOperation{backend, begin, repository, charging, nullptr};
      },
      {.operation = std::string{operation_name},
       .on_error = [&](const idem::Repair&, const std::exception_ptr& failure) {
         errors << "payments: a payment was left as it was: " << first_line(failure) << '\n';
       }});
  deliver_outbox(session);
  answers << nlohmann::ordered_json{{"repair",
                                     {{"queued", passed.queued},
                                      {"applied", passed.applied},
                                      {"settled_already", passed.settled_already},
                                      {"passed_over", passed.passed_over},
                                      {"failed", passed.failed}}}}
                 .dump()
          << '\n'
          << std::flush;
  if (!answers) throw std::runtime_error{"the answers cannot be written"};
  return passed.failed == 0;
}

}  // namespace payments
