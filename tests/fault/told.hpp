// What a client was told, as it goes from one process to another.
#pragma once

#include <string>
#include <string_view>

#include "idem/command/outcome.hpp"

namespace idem::fault_test {

/// `kind` is executed, replay, in_progress, mismatch or unknown; error where it was told nothing.
struct Told {
  std::string kind;
  /// Status, headers and body of the answer, every byte of them; of an error its message.
  std::string bytes{};

  /// Is it the command's answer?
  [[nodiscard]] bool is_final() const { return kind == "executed" || kind == "replay"; }
  friend bool operator==(const Told&, const Told&) = default;
};

[[nodiscard]] std::string bytes_of(const Response& response);
[[nodiscard]] Told told(const Outcome& outcome);

/// One line, with its end.
[[nodiscard]] std::string to_line(const Told& told);
/// Throws std::runtime_error for what is no such line.
[[nodiscard]] Told from_line(std::string_view line);

}  // namespace idem::fault_test
