// One command's options, read by getopt_long.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace idemctl {

/// An option that a command knows.
struct Option {
  enum class Takes { nothing, one_value, many_values };

  const char* name = "";
  Takes takes = Takes::one_value;
};

/// The options as they were given.
///
/// Throws Failure for an unknown or repeated option, a missing value and a further word. Only names of known
/// options are told: an unknown word may be a misspelt option with a password in it.
class Arguments {
 public:
  Arguments(std::span<char* const> words, std::initializer_list<Option> known);

  [[nodiscard]] bool has(const std::string& name) const { return given_.contains(name); }
  /// All values, in order.
  [[nodiscard]] std::vector<std::string> all(const std::string& name) const;
  [[nodiscard]] std::optional<std::string> one(const std::string& name) const;
  /// Throws Failure where it is not given or empty.
  [[nodiscard]] std::string required(const std::string& name) const;

 private:
  std::map<std::string, std::vector<std::string>> given_;
};

}  // namespace idemctl
