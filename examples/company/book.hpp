// What a company does with a command. Knows no HTTP.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "behaviour.hpp"
#include "company.hpp"
#include "ledger.hpp"

namespace company {

enum class Delivery {
  whole,
  cut,    ///< The connection ends in the middle of it.
  never,  ///< Nothing is sent, and the connection stays open.
};

struct Answer {
  int status = 0;
  std::string body;  ///< JSON.
  Delivery delivery = Delivery::whole;
};

/// Remembers its keys by the ledger, and behaves as it is told. Safe to share between threads.
class Book {
 public:
  /// Both must outlive it, and the ledger be used by nobody else.
  Book(const Company& company, Ledger& ledger);

  /// Returns once the answer is due: as late as the mode says. A key that is known changes nothing, and takes
  /// nothing from the mode's count. One that was used in another service is used. Throws LedgerError.
  [[nodiscard]] Answer carry_out(const std::string& key, const Command& command);

  /// The commands that were decided, in their order, as a JSON array.
  [[nodiscard]] std::string ledger() const;

  /// Changes the behaviour of the service that the control names; returns what it is now, as JSON. Throws BadRequest.
  [[nodiscard]] std::string control(std::string_view control);

 private:
  // All of these with the mutex held.
  [[nodiscard]] std::optional<Answer> known(const std::string& key, const Command& command) const;
  [[nodiscard]] Behaviour next_behaviour(const std::string& service);
  [[nodiscard]] Answer take_effect(const std::string& key, const Command& command, Mode mode);

  mutable std::mutex mutex_;
  const Company& company_;
  Ledger& ledger_;
  std::map<std::string, Behaviour> behaviours_;          // By service.
  std::unordered_map<std::string, std::size_t> by_key_;  // The key's last entry.
  std::multimap<std::string, Command> in_progress_;      // More than one where nobody deduplicates.
};

}  // namespace company
