#include "postgres/test_unit.hpp"

#include <cstdlib>
#include <exception>
#include <utility>

#include "idem/error.hpp"

namespace idem::postgres_test {
namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets it
  return value == nullptr ? std::string{} : value;
}

}  // namespace

const TransactionKind& transaction_kind() {
  static const TransactionKind kind{environment("IDEM_TEST_ISOLATION"),
                                    !environment("IDEM_TEST_SUBTRANSACTION").empty()};
  return kind;
}

TestUnit::TestUnit(const TestDatabase& database) : database_{&database}, connection_{database.borrow()} {
  const TransactionKind& kind = transaction_kind();
  if (!kind.isolation.empty()) {
    pqxx::nontransaction session{*connection_};
    session.exec("SET default_transaction_isolation = " + session.quote(kind.isolation));
  }
  work_ = std::make_unique<pqxx::work>(*connection_);
  if (kind.in_subtransaction) sub_ = std::make_unique<pqxx::subtransaction>(*work_, "unit");
}

TestUnit::~TestUnit() {
  if (!connection_) return;  // moved from
  sub_.reset();
  work_.reset();
  database_->give_back(std::move(connection_));
}

pqxx::dbtransaction& TestUnit::tx() {
  if (sub_) return *sub_;
  return *work_;
}

void TestUnit::commit() {
  try {
    if (sub_) sub_->commit();
    sub_.reset();
    work_->commit();
  } catch (...) {
    if (database_->backend().failure_of(std::current_exception()) != Failure::transient) throw;
    throw TransactionConflict{"refused at COMMIT: run the whole transaction again"};
  }
}

void TestUnit::rollback() {
  sub_.reset();
  work_->abort();
}

}  // namespace idem::postgres_test
