#include "idem/memory/database.hpp"

#include <utility>

#include "idem/error.hpp"
#include "idem/memory/detail/shared.hpp"

namespace idem::inline v0::memory {

Database::Database(std::shared_ptr<const Clock> clock, std::shared_ptr<Observer> observer)
    : shared_{std::make_unique<detail::Shared>(std::move(clock))}, observer_{std::move(observer)} {}

Database::~Database() = default;

Transaction Database::begin() {
  const std::lock_guard lock{shared_->mutex};
  return Transaction{{std::make_shared<detail::Work>(*shared_, ++shared_->last_work)}};
}

Store Database::store(TransactionBase& tx) const {
  static_cast<void>(tx.work_in(*shared_));
  return {observer_.get(), tx.level_};
}

Failure Database::failure_of(const std::exception_ptr& error) const noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const TransactionConflict&) {
    return Failure::transient;
  } catch (const Error&) {
    return Failure::definite;
  } catch (...) {
    return Failure::unknown;
  }
}

void Database::lose_next_commit(LostCommit how) {
  const std::lock_guard lock{shared_->mutex};
  shared_->lose_next_commit = how;
}

std::size_t Database::record_count() const {
  const std::lock_guard lock{shared_->mutex};
  return shared_->records.size();
}

}  // namespace idem::inline v0::memory
