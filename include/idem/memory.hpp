// idem in memory, for a service's own unit tests: the answers that PostgreSQL gives, without a server. It is a part of
// idem::core. The parts stand in the order to read them in.
#pragma once

// Database: takes the place of idem::postgres::Backend.
#include "idem/memory/database.hpp"
// Transaction: what Database::begin() gives, with callbacks at its commit and rollback.
#include "idem/memory/transaction.hpp"
// Subtransaction: a savepoint.
#include "idem/memory/subtransaction.hpp"
// Table: rows of a fake repository, committed and rolled back with the records.
#include "idem/memory/table.hpp"
// CommitLost: a COMMIT whose answer never arrives, to try what a service does then.
#include "idem/memory/lost_commit.hpp"
