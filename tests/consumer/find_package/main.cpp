// A small user of both libraries. It is run without a server, so its transaction is only compiled and linked.
#include <idem/command/execute.hpp>
#include <idem/postgres/backend.hpp>
#include <idem/postgres/schema.hpp>
#include <iostream>
#include <pqxx/pqxx>

namespace {

idem::Outcome pay(const idem::postgres::Backend& backend, pqxx::work& tx, const idem::Request& request) {
  return idem::execute(backend, tx, request, [](pqxx::work& payment, const idem::Lease&) {
    payment.exec("INSERT INTO payment DEFAULT VALUES");
    return idem::completed(idem::text_response(201, "paid"));
  });
}

}  // namespace

int main(int argc, char** argv) {
  const idem::Key key{"tenant-7", "POST /payments", idem::natural_key("order", "4711")};
  idem::validate(key);
  const idem::Request request{key, idem::Fingerprinter{}({.method = "POST", .body = R"({"amount":1290})"})};
  const idem::postgres::Backend backend;
  if (argc > 1) {
    pqxx::connection connection{argv[1]};
    pqxx::work tx{connection};
    if (pay(backend, tx, request).index() == 0) {
      tx.commit();
    }
  }
  const bool printed = idem::postgres::schema_sql().find("CREATE TABLE") != std::string::npos;
  std::cout << request.fingerprint.hex() << (printed ? " and a schema\n" : " but no schema\n");
  return printed ? 0 : 1;
}
