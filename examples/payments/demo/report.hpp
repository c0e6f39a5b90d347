// What the demo prints: numbers beside what they have to be.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>

namespace payments::demo {

/// Prints to one stream and remembers whether a number was wrong.
class Report {
 public:
  explicit Report(std::ostream& out) : out_{out} {}

  void heading(std::string_view text);
  void text(std::string_view text);
  /// One row: what was counted, and whether it is right.
  void count(std::string_view what, std::int64_t counted, std::int64_t right);

  [[nodiscard]] int wrong() const noexcept { return wrong_; }

 private:
  std::ostream& out_;
  int wrong_ = 0;
};

}  // namespace payments::demo
