// Deletes what no duplicate can need any more, a little at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stop_token>

#include "idem/command/transact.hpp"

namespace idem {
inline namespace v0 {

/// How much is deleted at once, and for how long.
struct PurgeOptions {
  /// Leaves what was created (records) or received (events) less long ago than this, even where nothing needs it any
  /// more. At least 0, at most ten years; default 0.
  std::chrono::milliseconds older_than{0};
  /// The most rows that one transaction deletes; at least 1, at most 1,000,000; default 1000.
  std::size_t batch_rows = 1000;
  /// About how long one transaction may take: the part of the table that it looks at shrinks and grows to fit. At least
  /// 1 ms, at most ten years, default 25 ms.
  std::chrono::milliseconds batch_time{25};
  /// No transaction is begun after this long. Default: until everything was looked at.
  std::chrono::milliseconds time_limit = std::chrono::milliseconds::max();
  /// Between two transactions, so that others have the server; default none.
  std::chrono::milliseconds pause{0};
  /// Ends the work after the transaction that is under way.
  std::stop_token stop{};
};

/// What a purge came to.
struct PurgeReport {
  std::size_t rows = 0;          ///< Deleted, in committed transactions.
  std::size_t transactions = 0;  ///< Committed.
  bool finished = false;  ///< Everything was looked at once: false where the time limit or `stop` ended it.
};

/// What one transaction of a purge looks at: a backend's own measure of places in a table.
struct PurgeBatch {
  std::chrono::milliseconds older_than{0};
  std::size_t most_rows = 0;
  std::uint64_t from = 0;
  std::uint64_t places = 0;
};

/// What it came to.
struct PurgedBatch {
  std::size_t rows = 0;
  bool at_end = false;  ///< Nothing lies behind these places.
};

namespace detail {

// How far a purge has come, and how much its next transaction takes.
class PurgePace {
 public:
  // Throws InvalidArgument where the options break a limit.
  explicit PurgePace(const PurgeOptions& options);
  // Waits out the pause, and says whether another transaction is due.
  bool due();
  [[nodiscard]] PurgeBatch next();
  void committed(const PurgedBatch& batch);
  // The transaction was rolled back by a race: it is run again. False after too many in a row.
  [[nodiscard]] bool again();
  [[nodiscard]] PurgeReport report() const { return report_; }

 private:
  using Steady = std::chrono::steady_clock;

  [[nodiscard]] bool over() const;

  const PurgeOptions& options_;
  Steady::time_point begin_ = Steady::now();
  Steady::time_point batch_begin_{};
  PurgeBatch batch_;
  PurgeReport report_;
  int conflicts_ = 0;
};

template <class Begin, class Backend, class Batch>
PurgeReport purge(const Backend& backend, const Begin& begin, const PurgeOptions& options,
                  const Batch& batch) {
  PurgePace pace{options};
  while (pace.due()) {
    try {
      auto unit = begin();
      const PurgedBatch purged = batch(transaction_of(unit), pace.next());
      detail::commit(unit);
      pace.committed(purged);
    } catch (...) {
      if (backend.failure_of(std::current_exception()) != Failure::transient || !pace.again()) throw;
    }
  }
  return pace.report();
}

}  // namespace detail

/// Deletes the records that have expired: COMPLETED and FAILED ones past `expires_at`, never an IN_PROGRESS or UNKNOWN
/// one, however old. Their keys are new requests already, so nobody sees a difference.
///
/// Works in short transactions of its own, each begun by `begin()` (as transact() takes it) and committed here, over
/// the table once from its beginning to its end. Rows in use are left for the next time. Safe to run beside everything
/// else, several at once, and to break off. Database failures are passed on; what was committed before them stays
/// deleted.
template <class Backend, class Begin>
PurgeReport purge_records(const Backend& backend, const Begin& begin, const PurgeOptions& options = {}) {
  return detail::purge(backend, begin, options,
                       [&](auto& tx, const PurgeBatch& batch) { return backend.purge_records(tx, batch); });
}

/// Deletes the inbox's rows of events that can no longer be delivered: the horizon and the skew of the inbox that
/// received them are over. Otherwise as purge_records().
template <class Backend, class Begin>
PurgeReport purge_inbox(const Backend& backend, const Begin& begin, const PurgeOptions& options = {}) {
  return detail::purge(backend, begin, options,
                       [&](auto& tx, const PurgeBatch& batch) { return backend.purge_inbox(tx, batch); });
}

}  // namespace v0
}  // namespace idem
