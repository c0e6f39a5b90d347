// Times several ways of doing one thing in one run.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bench {

/// The server that scripts/with-postgres started. Throws std::runtime_error where there is none.
[[nodiscard]] std::string database_url();

/// Runs each way once a round, in an order that rotates, after one round that does not count; the median of each, in
/// seconds.
[[nodiscard]] std::vector<double> paired_medians(int rounds, const std::vector<std::function<void()>>& ways);

/// Of at least one.
[[nodiscard]] double median(std::vector<double> values);

/// Seconds as milliseconds with two decimals.
[[nodiscard]] std::string milliseconds(double seconds);

}  // namespace bench
