// A handler that returns a response has not said whether it is a success or a decline.
// expect: handler\(tx, lease\)
#include <idem/command/execute.hpp>
#include <idem/postgres/backend.hpp>
#include <pqxx/pqxx>

idem::Outcome pay(const idem::postgres::Backend& backend, pqxx::work& tx, const idem::Request& request) {
  return idem::execute(backend, tx, request, [](pqxx::work&, const idem::Lease&) {
#ifdef MUST_NOT_COMPILE
    return idem::text_response(201, "");
#else
    return idem::completed(idem::text_response(201, ""));
#endif
  });
}
