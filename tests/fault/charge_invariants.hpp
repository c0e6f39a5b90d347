// What is right about a payment once everybody is done with it. The acquirer's ledger is the judge.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fault/told.hpp"
#include "postgres/test_database.hpp"

namespace idem::fault_test {

/// What is wrong with the payment under `key`; empty where nothing is. `told` is all that its client was
/// told, in order.
///
/// - at most one charge in the ledger;
/// - the record settled, as the ledger says; or where nothing was ever committed no record, and then nothing
///   else either;
/// - one payment row and one event that agree with the ledger;
/// - the stored answer is what the ledger demands, byte for byte; so is each final answer that was told, the
///   last of them all the same; and who was told "unknown" was told so in the operation's own words.
[[nodiscard]] std::vector<std::string> violations(const postgres_test::TestDatabase& database,
                                                  const nlohmann::json& ledger, const std::string& key,
                                                  const std::vector<Told>& told);

}  // namespace idem::fault_test
