// The words after the verb.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

namespace payments {

/// The program cannot be used like that (exit status 2).
class BadUsage : public std::runtime_error {
 public:
  /// With the usage of all verbs.
  BadUsage();
  using std::runtime_error::runtime_error;
};

/// The usage of all verbs, a line for each.
[[nodiscard]] std::string usage();

/// Options, each at most once, in any order.
class CommandLine {
 public:
  /// Throws BadUsage for an option without its value, and for one that is given twice.
  explicit CommandLine(std::span<const std::string> words);

  /// Takes the option's value out; empty where it is not given.
  [[nodiscard]] std::optional<std::string> take(const std::string& name);
  /// Throws BadUsage where it is not given, or given empty.
  [[nodiscard]] std::string need(const std::string& name);
  /// At least 1. Throws BadUsage, which names the option, for what is no such number.
  [[nodiscard]] std::optional<std::int64_t> number(const std::string& name);
  [[nodiscard]] std::optional<std::chrono::milliseconds> milliseconds(const std::string& name);
  /// Throws BadUsage where an option is left.
  void end() const;

 private:
  std::map<std::string, std::string> options_;
};

}  // namespace payments
