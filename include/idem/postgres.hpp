// idem on PostgreSQL, inside the caller's own pqxx transaction. Link idem::postgres. The parts stand in the order to read
// them in.
#pragma once

// Backend: what execute(), transact(), external_call(), Inbox and Outbox are given. One serves all threads.
#include "idem/postgres/backend.hpp"
// Names: where idem's tables are.
#include "idem/postgres/names.hpp"
// install_schema(): makes the tables, and brings older ones up to date.
#include "idem/postgres/schema.hpp"
// list_records(), find_event(), count_purgeable(): what the tables hold, for operators.
#include "idem/postgres/listing.hpp"
// reconcile(): a settlement compared with the records by the server.
#include "idem/postgres/reconcile.hpp"
// queue_repair() and list_repairs(): the queue of repairs; a person or a program fills it, apply_repairs() empties it.
#include "idem/postgres/repair.hpp"
// apply_repairs(): carries out what is queued.
#include "idem/postgres/apply_repairs.hpp"
