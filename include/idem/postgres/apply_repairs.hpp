// Carries out the queued repairs of one operation.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "idem/command/detail/unit_of_work.hpp"
#include "idem/command/retry.hpp"
#include "idem/postgres/backend.hpp"
#include "idem/postgres/repair.hpp"
#include "idem/settlement/repair.hpp"

namespace idem {
inline namespace v0 {
namespace postgres {

/// Whose repairs are applied, and whom that is told to.
struct RepairOptions {
  /// The operation's name, as it is in the records' keys.
  std::string operation;
  /// So many are held in memory at a time: 1 to 1,000,000.
  std::size_t page = 1000;
  RetryOptions retry{};
  /// Told of each repair that an exception left as it was; for logs.
  std::function<void(const Repair&, const std::exception_ptr&)> on_error{};
};

/// What one pass came to.
struct RepairPass {
  std::size_t queued = 0;  ///< Repairs found in the queue.
  std::size_t applied = 0;
  std::size_t settled_already = 0;  ///< Done, as somebody else had settled the record.
  std::size_t passed_over =
      0;  ///< recover() gave no operation, another worker has it, or a charge of its record comes first.
  std::size_t failed = 0;  ///< Those that an exception left in the queue, TooEarly among them.
};

/// Goes once over the queued repairs of one operation, the first queued first, each in a transaction of its own: apply_repair() and, in the same
/// transaction, its mark in the queue. Several passes may run side by side; one repair that fails holds up no other, and a
/// pass that dies leaves the rest in the queue. What a lost COMMIT did, the next pass finds out by the repair's own key.
///
/// `begin` as transact() takes it, `recover` as Sweep. Throws InvalidArgument for the limit or the name, and what the
/// database throws while the queue is listed.
template <class Begin, class Recover>
RepairPass apply_repairs(const Backend& backend, Begin&& begin, Recover&& recover,
                         const RepairOptions& options) {
  RepairFilter filter{.operation = options.operation, .limit = options.page};
  const auto listed = [&] {
    auto unit = begin();
    return list_repairs(idem::detail::transaction_of(unit), backend.names(), filter);
  };
  const auto applied = [&](const Repair& repair) {
    idem::detail::Retries retries{options.retry};
    for (;;) {
      try {
        auto unit = begin();
        auto& tx = idem::detail::transaction_of(unit);
        if (!lock_repair(tx, backend.names(), repair.repair_key)) return Repaired::passed_over;
        const Repaired repaired = apply_repair(backend, tx, repair, recover);
        if (repaired == Repaired::passed_over) return repaired;
        (void)finish_repair(tx, backend.names(), repair.repair_key, std::string{to_string(repaired)});
        idem::detail::commit(unit);
        return repaired;
      } catch (...) {
        const Failure failure = backend.failure_of(std::current_exception());
        retries.wait_or_rethrow(failure == Failure::transient || failure == Failure::lost, false);
      }
    }
  };
  RepairPass pass;
  const auto apply = [&](const Repair& repair) {
    ++pass.queued;
    try {
      switch (applied(repair)) {
        case Repaired::applied:
        case Repaired::done_before:
          ++pass.applied;
          break;
        case Repaired::settled_already:
          ++pass.settled_already;
          break;
        case Repaired::passed_over:
          ++pass.passed_over;
          break;
      }
    } catch (...) {
      ++pass.failed;
      if (options.on_error) options.on_error(repair, std::current_exception());
    }
  };
  // Page by page, as those that fail stay in the queue and must not keep the others from their turn.
  for (;;) {
    const std::vector<Repair> page = listed();
    for (const Repair& repair : page) apply(repair);
    if (page.size() < options.page) return pass;
    filter.after = page.back();
  }
}

}  // namespace postgres
}  // namespace v0
}  // namespace idem
