#include "idem/memory/database.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "idem/base/error.hpp"
#include "idem/memory/detail/shared.hpp"
#include "memory/inbox_store.hpp"
#include "memory/outbox_store.hpp"
#include "memory/store.hpp"
#include "request/key_hash.hpp"

namespace idem {
inline namespace v0 {
namespace memory {

Database::Database(std::shared_ptr<const Clock> clock, std::shared_ptr<Observer> observer,
                   ResponseRules responses, std::size_t max_response_bytes)
    : shared_{std::make_unique<detail::Shared>(std::move(clock))},
      observer_{std::move(observer)},
      responses_{std::move(responses)},
      max_response_bytes_{max_response_bytes} {
  validate(responses_);
}

Database::~Database() = default;

Transaction Database::begin() {
  const std::lock_guard lock{shared_->mutex};
  return Transaction{{std::make_shared<detail::Work>(*shared_, ++shared_->last_work)}};
}

std::unique_ptr<IdempotencyStore> Database::store(TransactionBase& tx) const {
  static_cast<void>(tx.work_in(*shared_));
  return std::make_unique<MemoryStore>(observer_.get(), max_response_bytes_, responses_, tx.level_);
}

std::unique_ptr<InboxStore> Database::inbox_store(TransactionBase& tx) const {
  static_cast<void>(tx.work_in(*shared_));
  return std::make_unique<MemoryInboxStore>(observer_.get(), tx.level_);
}

std::unique_ptr<OutboxStore> Database::outbox_store(TransactionBase& tx) const {
  static_cast<void>(tx.work_in(*shared_));
  return std::make_unique<MemoryOutboxStore>(observer_.get(), tx.level_);
}

std::vector<OutboxEvent> Database::outbox_events(TransactionBase& tx) const {
  detail::Work& work = tx.work_in(*shared_);
  const detail::Work::Lock lock = work.enter(tx.level_.level);
  std::vector<OutboxEvent> events;
  for (const auto& [sequence, event] : shared_->outbox.all_seen_by(work)) events.push_back(*event);
  return events;
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

LapsedPage Database::lapsed_records(TransactionBase& tx, const LapsedFilter& filter) const {
  detail::Work& work = tx.work_in(*shared_);
  const detail::Work::Lock lock = work.enter(tx.level_.level);
  LapsedPage page{.now = shared_->clock->now()};
  for (const auto& [key, stored] : shared_->records.all_seen_by(work)) {
    const Record& record = stored->record;
    if (record.state != State::in_progress || !record.downstream || key.operation != filter.operation)
      continue;
    if (filter.created_since && record.created_at < *filter.created_since) continue;
    page.oldest_open = std::min(page.oldest_open.value_or(record.created_at), record.created_at);
    if (record.lease_until <= page.now)
      page.records.push_back({key, record.fingerprint, record.created_at, record.lease_until});
  }
  const auto place = [](const LapsedRecord& record) {
    return std::pair{record.created_at, hash_key(record.key).id};
  };
  const auto earlier = [&](const LapsedRecord& left, const LapsedRecord& right) {
    return place(left) < place(right);
  };
  if (filter.after)
    std::erase_if(page.records, [&](const LapsedRecord& each) { return !earlier(*filter.after, each); });
  std::ranges::sort(page.records, earlier);
  if (page.records.size() > filter.limit)
    page.records.erase(page.records.begin() + static_cast<std::ptrdiff_t>(filter.limit), page.records.end());
  return page;
}

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
  } catch (const CommitLost&) {
    return Failure::lost;
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

}  // namespace memory
}  // namespace v0
}  // namespace idem
