#include "postgres/test_unit.hpp"

#include <exception>
#include <utility>

#include "idem/base/error.hpp"

namespace idem::postgres_test {
TestUnit::TestUnit(const TestDatabase& database) : database_{&database}, connection_{database.borrow()} {
  work_ = std::make_unique<pqxx::work>(*connection_);
  if (database.kind().in_subtransaction) sub_ = std::make_unique<pqxx::subtransaction>(*work_, "unit");
}

TestUnit::~TestUnit() {
  if (!connection_) return;  // moved from
  sub_.reset();
  work_.reset();
  database_->give_back(std::move(connection_));
}

pqxx::dbtransaction& TestUnit::transaction() {
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
