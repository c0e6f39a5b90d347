// A pqxx::nontransaction commits each statement by itself, so nothing in it is one transaction.
// expect: nontransaction
#include <idem/postgres/backend.hpp>
#include <pqxx/pqxx>

#ifdef MUST_NOT_COMPILE
using Transaction = pqxx::nontransaction;
#else
using Transaction = pqxx::work;
#endif

std::unique_ptr<idem::IdempotencyStore> store_in(const idem::postgres::Backend& backend, Transaction& tx) {
  return backend.store(tx);
}
