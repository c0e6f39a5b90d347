// Whoever ignores the outcome of execute answers a duplicate as if it had run.
// expect: (nodiscard|unused-result)
#include <idem/command/execute.hpp>
#include <idem/postgres/backend.hpp>
#include <pqxx/pqxx>

void pay(const idem::postgres::Backend& backend, pqxx::work& tx, const idem::Request& request) {
#ifndef MUST_NOT_COMPILE
  const idem::Outcome outcome =
#endif
      idem::execute(backend, tx, request, [](pqxx::work&, const idem::Lease&) {
        return idem::completed(idem::text_response(201, ""));
      });
#ifndef MUST_NOT_COMPILE
  static_cast<void>(outcome.index());
#endif
}
