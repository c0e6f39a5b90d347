#include "sweep.hpp"

#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "database.hpp"
#include "first_line.hpp"
#include "idem/postgres.hpp"
#include "outbox_delivery.hpp"
#include "payment_service.hpp"
#include "postgres_repository.hpp"

namespace payments {

bool sweep(const std::string& database_url, const Charging& charging, std::ostream& answers,
           std::ostream& errors) {
  examples::Session session = open_database(database_url);
  const auto begin = [&session] { return session.begin(); };
  const idem::postgres::Backend backend;
  PostgresRepository repository;
  const PaymentService service{backend, repository};

  const idem::SweepPass passed =
      service.sweep(begin, charging, [&](const idem::LapsedRecord&, const std::exception_ptr& failure) {
        errors << "payments: a payment was left as it was: " << first_line(failure) << '\n';
      });
  deliver_outbox(session);
  answers << nlohmann::ordered_json{{"sweep",
                                     {{"lapsed", passed.lapsed},
                                      {"settled", passed.settled},
                                      {"unknown", passed.unknown},
                                      {"passed_over", passed.passed_over},
                                      {"failed", passed.failed}}}}
                 .dump()
          << '\n'
          << std::flush;
  if (!answers) throw std::runtime_error{"the answers cannot be written"};
  return passed.failed == 0;
}

}  // namespace payments
