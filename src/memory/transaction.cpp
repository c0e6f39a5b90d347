#include "idem/memory/transaction.hpp"

#include "idem/base/error.hpp"
#include "idem/memory/subtransaction.hpp"

namespace idem {
inline namespace v0 {
namespace memory {

detail::Work& TransactionBase::work() const {
  if (!level_.work) throw TransactionClosed{"the transaction was moved to another object"};
  return *level_.work;
}

detail::Work& TransactionBase::work_in(const detail::Shared& database) const {
  detail::Work& its_work = work();
  if (&its_work.shared() != &database) throw InvalidArgument{"the transaction is another database's"};
  return its_work;
}

void TransactionBase::on_commit(std::function<void()> call) {
  work().on_commit(level_.level, std::move(call));
}

void TransactionBase::on_rollback(std::function<void()> call) {
  work().on_rollback(level_.level, std::move(call));
}

void TransactionBase::commit() {
  work().commit(level_.level);
}

void TransactionBase::rollback() noexcept {
  if (level_.work) level_.work->rollback(level_.level);
}

Subtransaction::Subtransaction(TransactionBase& parent)
    : TransactionBase{{parent.level_.work, parent.work().open_level(parent.level_.level)}} {}

}  // namespace memory
}  // namespace v0
}  // namespace idem
