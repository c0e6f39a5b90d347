#include "interleavings/session.hpp"

#include "postgres/pqxx_compat.hpp"

namespace idem::interleavings {

std::string name_of(Level level) {
  switch (level) {
    case Level::read_committed:
      return "READ COMMITTED";
    case Level::repeatable_read:
      return "REPEATABLE READ";
    case Level::serializable:
      return "SERIALIZABLE";
  }
  return "?";
}

void Session::begin_schedule(const Key& key) {
  transaction_.reset();
  transaction_number_ = 0;
  doomed_ = false;
  lease.reset();
  found.reset();
  key_ = key;
}

pqxx::dbtransaction& Session::transaction() {
  if (!transaction_) {
    switch (level_) {
      case Level::read_committed:
        transaction_ = std::make_unique<pqxx::work>(*connection_);
        break;
      case Level::repeatable_read:
        transaction_ = std::make_unique<pqxx::transaction<pqxx::repeatable_read>>(*connection_);
        break;
      case Level::serializable:
        transaction_ = std::make_unique<pqxx::transaction<pqxx::serializable>>(*connection_);
        break;
    }
  }
  return *transaction_;
}

void Session::commit(Event& event) {
  try {
    // Where the server rolls back at COMMIT, libpqxx 7 and later return as if it were committed.
    backend_.check_committable(transaction());
    transaction().commit();
    event.committed = true;
    event.answer = "committed";
  } catch (const std::exception& failure) {
    const std::string code = postgres::sqlstate(failure);
    if (!doomed_ && code != "40001" && code != "40P01") throw;
    event.answer = "refused";
    lease.reset();
  }
  end_transaction();
}

void Session::rollback() {
  lease.reset();
  end_transaction();
}

void Session::end_transaction() {
  transaction_.reset();
  ++transaction_number_;
  doomed_ = false;
}

}  // namespace idem::interleavings
