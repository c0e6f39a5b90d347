// The queue of repairs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "idem/postgres/names.hpp"
#include "idem/settlement/repair.hpp"

namespace pqxx {
class dbtransaction;
}

namespace idem {
inline namespace v0 {
namespace postgres {

/// Queues the repair of `finding`, under the name of a person or program (1 to 255 bytes). Returns whether it was queued
/// now: the same record, generation and words of the settlement are queued once, also where that repair is done. Changes
/// neither the record nor a business row. Rolled back with the transaction.
///
/// Throws InvalidArgument for a finding that cannot be repaired (see repairable_as) before anything is sent; otherwise as
/// reconcile().
bool queue_repair(pqxx::dbtransaction& tx, const Names& names, const Finding& finding, const std::string& who,
                  Settlement settlement = Settlement::open);

/// Which repairs are listed: those that meet every condition that is set.
struct RepairFilter {
  std::optional<std::string> operation{};
  /// Those that are done too.
  bool with_done = false;
  /// Only what comes after this repair of the page before.
  std::optional<Repair> after{};
  /// At most so many: 1 to 1,000,000.
  std::size_t limit = 1000;
};

/// Lists repairs, the first queued first. Changes and locks nothing. Throws InvalidArgument for a limit or a text out of
/// bounds; otherwise as list_records().
[[nodiscard]] std::vector<Repair> list_repairs(pqxx::dbtransaction& tx, const Names& names,
                                               const RepairFilter& filter = {});

/// Takes at most `limit` (1 to 10,000) repairs of one operation that are not done, the first queued first, and locks them
/// until the transaction ends. Those that another transaction has locked are left out, so that several workers never have
/// the same one. Throws as list_repairs().
[[nodiscard]] std::vector<Repair> next_repairs(pqxx::dbtransaction& tx, const Names& names,
                                               const std::string& operation, std::size_t limit);

/// Locks one repair that is not done until the transaction ends. False where it is done, not there, or locked by another
/// transaction; or where it says that nothing was charged, and another in the queue has a charge of the same record: that one
/// is to be applied first, as money that was taken is never answered by a decline. Throws InvalidArgument for a key
/// that is no UUID; otherwise as list_repairs().
[[nodiscard]] bool lock_repair(pqxx::dbtransaction& tx, const Names& names, const std::string& repair_key);

/// Marks a repair as done, and how (1 to 1,000 bytes, never a card number or a token), in the transaction that did it.
/// Returns false, and changes nothing, where it was done before or is not there. Rolled back with the transaction. Throws
/// InvalidArgument for a key that is no UUID or a note out of bounds; otherwise as list_repairs().
[[nodiscard]] bool finish_repair(pqxx::dbtransaction& tx, const Names& names, const std::string& repair_key,
                                 const std::string& note);

}  // namespace postgres
}  // namespace v0
}  // namespace idem
