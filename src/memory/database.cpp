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

InboxStore Database::inbox_store(TransactionBase& tx) const {
  static_cast<void>(tx.work_in(*shared_));
  return {observer_.get(), tx.level_};
}

void Database::make_uncommittable(TransactionBase& tx) const noexcept {
  try {
    detail::Work& work = tx.work_in(*shared_);
    const std::lock_guard lock{shared_->mutex};
    work.spoil(tx.level_.level);
  } catch (...) {  // NOLINT(bugprone-empty-catch): what was moved from commits nothing
  }
}

namespace {

// Removes up to `most` rows that nobody else holds and nobody can need.
template <class Key, class Value, class Useless>
PurgedBatch purge(detail::Work& work, detail::Rows<Key, Value>& rows, std::size_t most,
                  const Useless& useless) {
  PurgedBatch purged{.at_end = true};
  for (const auto& [key, row] : rows.all_seen_by(work)) {
    if (purged.rows == most) break;
    if (rows.other_holder(work, key) != nullptr || !useless(*row)) continue;
    rows.write(work, key, nullptr);
    ++purged.rows;
  }
  return purged;
}

}  // namespace

PurgedBatch Database::purge_records(TransactionBase& tx, const PurgeBatch& batch) const {
  detail::Work& work = tx.work_in(*shared_);
  const detail::Work::Lock lock = work.enter(tx.level_.level);
  const TimePoint now = shared_->clock->now();
  return purge(work, shared_->records, batch.most_rows, [&](const detail::StoredRecord& stored) {
    const Record& record = stored.record;
    return record.expires_at && *record.expires_at <= now && record.created_at <= now - batch.older_than;
  });
}

PurgedBatch Database::purge_inbox(TransactionBase& tx, const PurgeBatch& batch) const {
  detail::Work& work = tx.work_in(*shared_);
  const detail::Work::Lock lock = work.enter(tx.level_.level);
  const TimePoint now = shared_->clock->now();
  return purge(work, shared_->inbox, batch.most_rows, [&](const detail::Receipt& receipt) {
    return receipt.keep_until <= now && receipt.received_at <= now - batch.older_than;
  });
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

std::size_t Database::inbox_count() const {
  const std::lock_guard lock{shared_->mutex};
  return shared_->inbox.size();
}

}  // namespace idem::inline v0::memory
