// The connection that an operator's command uses.
#pragma once

#include <functional>
#include <pqxx/pqxx>
#include <string>

#include "arguments.hpp"
#include "idem/postgres/names.hpp"

namespace idemctl {

/// The table names that were asked for, by the options `schema`, `record-table`, `inbox-table`,
/// `version-guard-table`, `outbox-table`, `version-table`, `repair-table`, `key-hash-function` and `downstream-key-function`.
[[nodiscard]] idem::postgres::Names names_in(const Arguments& arguments);

/// Calls `work` with a connection to `url`. Throws Failure with a reason that holds nothing of the URL, which
/// may hold a password, and nothing of a statement. Failure and NotFound of `work` are passed on.
void with_connection(const std::string& url, const std::function<void(pqxx::connection&)>& work);

}  // namespace idemctl
