#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <sstream>
#include <stdexcept>

namespace bench {

std::string database_url() {
  const char* const url =
      std::getenv("IDEM_TEST_DATABASE_URL");  // NOLINT(concurrency-mt-unsafe): nothing sets it
  if (url == nullptr) throw std::runtime_error{"run under scripts/with-postgres"};
  return url;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<double> paired_medians(int rounds, const std::vector<std::function<void()>>& ways) {
  std::vector<std::vector<double>> times(ways.size());
  for (int round = -1; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < ways.size(); ++turn) {
      const std::size_t way = (turn + static_cast<std::size_t>(round + 1)) % ways.size();
      const auto begin = std::chrono::steady_clock::now();
      ways[way]();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      if (round >= 0) times[way].push_back(took.count());
    }
  }
  std::vector<double> medians;
  for (const auto& of_one : times) medians.push_back(median(of_one));
  return medians;
}

std::string milliseconds(double seconds) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << seconds * 1000;
  return text.str();
}

}  // namespace bench
