// What is asked of a company, and what it has done.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace company {

using TimePoint = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

/// What a company calls things, on the wire and in its ledger.
struct Words {
  std::string program;
  std::string id;         ///< The member that an effect's own id is in.
  std::string id_prefix;  ///< What each such id begins with.
  std::string accept;     ///< The mode in which it does what it is asked for,
  std::string accepted;   ///< and that outcome.
  std::string refuse;     ///< The mode in which it decides against it,
  std::string refused;    ///< and that outcome.
};

/// What a client asks for, beside its key. All of it is compared where a key comes again.
struct Command {
  std::string service;   ///< Whose behaviour counts.
  nlohmann::json shown;  ///< An object, told in answers and in the ledger.
  std::string secret;    ///< Kept nowhere.
  bool refused = false;  ///< By the company's own rule.

  friend bool operator==(const Command&, const Command&) = default;
};

/// A command that was decided.
struct Entry {
  std::string id;
  std::string key;
  nlohmann::json shown;
  bool accepted = false;
  TimePoint at;
  std::string parameters;  ///< The digest of the command, under the entry's own id.
};

/// Makes the entry of a command, with an id of its own.
[[nodiscard]] Entry enter(const Words& words, std::string key, const Command& command, bool accepted,
                          TimePoint at);

/// Was the entry made of this command?
[[nodiscard]] bool made_of(const Entry& entry, const Command& command);

/// What answers and the ledger tell of it.
[[nodiscard]] nlohmann::json told(const Words& words, const Entry& entry);

/// `2026-01-31T23:59:59.000001Z`
[[nodiscard]] std::string rfc3339(TimePoint time);
[[nodiscard]] std::optional<TimePoint> from_rfc3339(const std::string& text);

}  // namespace company
