// What the acquirer does with a charge. Knows no HTTP.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "behaviour.hpp"
#include "charge.hpp"
#include "ledger.hpp"

namespace acquirer {

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
  /// The ledger must outlive it, and be used by nobody else.
  explicit Book(Ledger& ledger);

  /// Returns once the answer is due: as late as the mode says. A key that is known changes nothing, and takes
  /// nothing from the mode's count. Throws LedgerError.
  [[nodiscard]] Answer charge(const std::string& key, const Charge& charge);

  /// The charges that took effect, in their order, as a JSON array.
  [[nodiscard]] std::string ledger() const;

  /// Changes the behaviour; returns what it is now, as JSON. Throws BadRequest.
  [[nodiscard]] std::string control(std::string_view control);

 private:
  // All of these with the mutex held.
  [[nodiscard]] std::optional<Answer> known(const std::string& key, const Charge& charge) const;
  [[nodiscard]] Behaviour next_behaviour();
  [[nodiscard]] Answer take_effect(const std::string& key, const Charge& charge, Mode mode);

  mutable std::mutex mutex_;
  Ledger& ledger_;
  Behaviour behaviour_;
  std::unordered_map<std::string, std::size_t> by_key_;  // The key's last entry.
  std::unordered_map<std::string, Charge> in_progress_;
};

}  // namespace acquirer
