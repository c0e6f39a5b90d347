// Every statement that the records need, with the configured names in it.
#pragma once

#include <optional>
#include <string>

#include "idem/postgres/backend.hpp"
#include "idem/postgres/reconcile.hpp"

namespace idem {
inline namespace v0 {
namespace postgres {

/// The texts that a Store sends; $1, $2, … are the values' places (see filled()).
struct Statements {
  explicit Statements(const Names& names, Gate gate);

  std::string insert;          ///< Refuses a duplicate in flight, by the gate.
  std::string wait_for_gate;   ///< Empty where there is no gate.
  std::string insert_waiting;  ///< Waits for a duplicate in flight that does not hold the gate.
  std::string look;            ///< The row, the time, and for an absent row whether the gate is open.
  std::string find;            ///< The same, leaving the gate alone.
  std::string take_over;
  std::string take_over_waiting;
  std::string replace;
  std::string replace_waiting;
  std::string turn_unknown;
  std::string turn_unknown_waiting;
  std::string resume_own;
  std::string settle;
  std::string mark_unknown;
  std::string hold;
  std::string mark_sent;
  std::string renew;
  std::string lapse;
  std::string release;
  std::string resolve;
  std::string receive;  ///< Marks the new ones of some events as seen.
  std::string seen;     ///< What is known of events that were not marked.
  std::string advance;
  std::string lapsed_records;  ///< A page of the lapsed records of an operation.
  std::string append;          ///< To the outbox.
  std::string purge_records;
  std::string purge_inbox;
};

/// The statement of list_records. Its values: is each of the four states asked for; principal, operation and age, or
/// null; the limit.
[[nodiscard]] std::string list_statement(const Names& names);

/// The statement of find_event. Its values: consumer, source, id.
[[nodiscard]] std::string find_event_statement(const Names& names);

/// The statement of count_purgeable. Its value: the age.
[[nodiscard]] std::string count_purgeable_statement(const Names& names);

/// The statements of one reconcile(), in their order. `unique` tells its temporary table and its cursor from those of others
/// in the same session.
struct ReconcileStatements {
  ReconcileStatements(const Names& names, const std::optional<Relation>& effects, const std::string& unique);

  std::string create;
  std::string
      insert;  ///< Its value: rows of line, key as UUID or null, another key or null, outcome, amount, reference, time.
  std::string open;   ///< Its values: downstream, from, until.
  std::string fetch;  ///< Its value: how many.
  std::string close;
  std::string drop;
};

/// The statement that looks whether a relation is there, and how many of the three columns it has. Its value: the quoted name.
[[nodiscard]] std::string effects_columns_statement();

struct RepairStatements {
  explicit RepairStatements(const Names& names);

  std::string queue;  ///< Its values: the columns of idem_repair up to entry_at, and queued_by.
  std::string
      list;  ///< Its values: operation or null, with those that are done, queued_at and key to come after or null, limit.
  std::string next;  ///< Its values: operation, limit.
  std::string lock;
  std::string finish;  ///< Its values: repair key, note.
};

}  // namespace postgres
}  // namespace v0
}  // namespace idem
