// A settlement compared with the records by the server.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "idem/base/clock.hpp"
#include "idem/postgres/names.hpp"
#include "idem/settlement/reconcile.hpp"

namespace pqxx {
class dbtransaction;
}

namespace idem {
inline namespace v0 {
namespace postgres {

/// A table or view of the caller's. Both names are taken literally and have 1 to 63 bytes.
struct Relation {
  /// Empty for the search path's own.
  std::string schema{};
  std::string name{};
};

/// What is compared.
struct ReconcileOptions {
  /// The outside system whose settlement it is: only records with this name are looked at. 1 to 255 bytes.
  std::string downstream{};
  /// Of records that no entry names, those are reported that were created at or after `from` and before `until`. Empty: no
  /// bound. A record that an entry names is compared whenever it was created.
  std::optional<TimePoint> from{};
  std::optional<TimePoint> until{};
  /// What the caller thinks that it charged, with one row a charge: `downstream_key` (text or uuid), `amount` (smallint,
  /// integer or bigint, in minor units) and `reference` (text). A null is not compared. A COMPLETED record without a row
  /// differs from its charge in amount and reference. Without the relation only the outcomes are compared.
  std::optional<Relation> effects{};
};

/// Gives the settlement's entries one after another, in its order, then nothing.
using SettlementSource = std::function<std::optional<SettlementEntry>()>;
/// Is shown each finding. It may write in the same transaction.
using FindingSink = std::function<void(const Finding&)>;

/// Compares a settlement with the records, as the caller's transaction sees them, by the rules of compare(): one finding for
/// each entry, in their order, then one for each record without an entry that has to be reported, the oldest first.
///
/// The entries go to a temporary table, which is gone at the end, and the server joins them with the records: on its
/// disk where they are many. The client holds a few hundred entries at a time, whatever their number. It reads all records
/// of the downstream. The transaction must not be read-only, and the role needs the database's TEMPORARY privilege. All is
/// done in this one transaction, so it works through a pooler.
///
/// Throws InvalidArgument for a name or an entry out of bounds, an empty period, a relation that is not there or has not
/// these columns, or that has two rows for one downstream key; StoredDataError where the tables are missing;
/// TransactionClosed outside an open transaction; what `next`, `sink` and the database throw. After one of these the sink may
/// have seen a part of the findings: roll back.
ReconcileSummary reconcile(pqxx::dbtransaction& tx, const Names& names, const ReconcileOptions& options,
                           const SettlementSource& next, const FindingSink& sink);

}  // namespace postgres
}  // namespace v0
}  // namespace idem
