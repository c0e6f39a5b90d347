// Records of outside calls whose worker is gone: what the recovery sweep looks for.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "idem/base/clock.hpp"
#include "idem/request/fingerprint.hpp"
#include "idem/request/key.hpp"

namespace idem {
inline namespace v0 {

/// An IN_PROGRESS record with a downstream whose lease has lapsed.
struct LapsedRecord {
  Key key;
  /// As it is stored.
  Fingerprint fingerprint;
  TimePoint created_at{};
  TimePoint lease_until{};
};

/// Which of them a page shows: the oldest first, by `created_at`.
struct LapsedFilter {
  std::string operation;
  /// Only such as were created at or after this; it spares the store older parts of the table.
  std::optional<TimePoint> created_since{};
  /// Only what comes after this record of the page before.
  std::optional<LapsedRecord> after{};
  /// At most so many; at least 1.
  std::size_t limit = 100;
};

/// What a store shows of the records in progress.
struct LapsedPage {
  std::vector<LapsedRecord> records{};
  /// The time of the store.
  TimePoint now{};
  /// When the oldest record was created that is in progress with a downstream, its lease live or lapsed, of this operation
  /// and not before `created_since`; empty where there is none.
  std::optional<TimePoint> oldest_open{};
};

}  // namespace v0
}  // namespace idem
