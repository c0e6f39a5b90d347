// The saga's tables in PostgreSQL: refund and refund_step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "refund.hpp"

namespace pqxx {
class dbtransaction;
}

namespace refund_saga {

/// Creates them, and idem's own, where they are missing. Safe to repeat and from several processes at once. Rolled back with
/// `tx`.
void install_tables(pqxx::dbtransaction& tx);

/// False where a refund with that id is there already, whatever it is of.
[[nodiscard]] bool add_refund(pqxx::dbtransaction& tx, const Refund& refund);
[[nodiscard]] std::optional<Refund> find_refund(pqxx::dbtransaction& tx, const std::string& id);
/// The ids of those in progress, the oldest first.
[[nodiscard]] std::vector<std::string> unfinished_refunds(pqxx::dbtransaction& tx);

[[nodiscard]] Progress read_progress(pqxx::dbtransaction& tx, const std::string& refund_id);
/// Writes the step's state, and the refund's that follows from it. May be repeated.
void set_step(pqxx::dbtransaction& tx, const std::string& refund_id, const Step& step, StepState state);

}  // namespace refund_saga
