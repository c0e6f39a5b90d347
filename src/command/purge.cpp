#include "idem/command/purge.hpp"

#include <algorithm>
#include <string>
#include <thread>

#include "base/time_limit.hpp"
#include "idem/base/error.hpp"

namespace idem {
inline namespace v0 {
namespace detail {

PurgePace::PurgePace(const PurgeOptions& options) : options_{options} {
  using std::chrono::milliseconds;
  if (options.older_than < milliseconds{0} || options.older_than > longest_time) {
    throw InvalidArgument{"older_than must be at least 0 and at most ten years"};
  }
  constexpr std::size_t most_rows = 1'000'000;
  if (options.batch_rows == 0 || options.batch_rows > most_rows) {
    throw InvalidArgument{"batch_rows must be 1 to " + std::to_string(most_rows)};
  }
  if (options.batch_time < milliseconds{1} || options.batch_time > longest_time) {
    throw InvalidArgument{"batch_time must be at least 1 ms and at most ten years"};
  }
  if (options.pause < milliseconds{0}) throw InvalidArgument{"pause must be at least 0"};
  batch_ = {options.older_than, options.batch_rows, 0, 64};
}

bool PurgePace::over() const {
  if (report_.finished || options_.stop.stop_requested()) return true;
  // In the coarser unit: in the finer one the longest limit overflows.
  return std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - begin_) >= options_.time_limit;
}

bool PurgePace::due() {
  if (over()) return false;
  if (report_.transactions == 0) return true;
  std::this_thread::sleep_for(options_.pause);
  // The pause may have outlasted the time limit, or `stop` have come in it.
  return !over();
}

PurgeBatch PurgePace::next() {
  batch_begin_ = Steady::now();
  return batch_;
}

void PurgePace::committed(const PurgedBatch& batch) {
  conflicts_ = 0;
  report_.rows += batch.rows;
  ++report_.transactions;
  // A full batch may have left rows in these places.
  const bool done_here = batch.rows < batch_.most_rows;
  if (done_here) {
    batch_.from += batch_.places;
    report_.finished = batch.at_end;
  }
  constexpr std::uint64_t most_places = 4096;
  const auto took = Steady::now() - batch_begin_;
  if (took > options_.batch_time) {
    batch_.places = std::max<std::uint64_t>(batch_.places / 2, 1);
    batch_.most_rows = std::max<std::size_t>(batch_.most_rows / 2, 1);
  } else if (took < options_.batch_time / 2) {
    if (done_here) batch_.places = std::min(batch_.places * 2, most_places);
    batch_.most_rows = std::min(batch_.most_rows * 2, options_.batch_rows);
  }
}

bool PurgePace::again() {
  constexpr int most_conflicts = 8;
  return ++conflicts_ < most_conflicts;
}

}  // namespace detail
}  // namespace v0
}  // namespace idem
