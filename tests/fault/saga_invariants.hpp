// What is right about a refund once everybody is done with it. The services' ledger is the judge.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fault/told.hpp"
#include "idem/record/record.hpp"
#include "idem/request/key.hpp"
#include "postgres/test_database.hpp"

namespace idem::fault_test {

/// What the services say to each refund.
enum class Story {
  done,             ///< Yes, all of them.
  payments_refuse,  ///< The seat is withdrawn, and has to be reinstated.
  email_refused,    ///< The money has moved, and that stands.
};

inline std::string_view to_string(Story story) {
  switch (story) {
    case Story::payments_refuse:
      return "PaymentsRefuse";
    case Story::email_refused:
      return "EmailIsRefused";
    case Story::done:
      break;
  }
  return "Done";
}

/// What the database holds of one refund.
struct Kept {
  std::optional<std::string> refund{};         ///< Payment, amount and state.
  std::map<std::string, std::string> steps{};  ///< State by name.
  std::vector<Record> records{};               ///< Of all keys that a refund can have.
};

[[nodiscard]] Kept read_kept(const postgres_test::TestDatabase& database, const std::string& id);

/// The keys that a refund can have, in idem_record.
[[nodiscard]] std::vector<Key> keys_of(const std::string& id);

/// What is wrong with the refund; empty where nothing is. `ledger` is what the services did and refused,
/// and `told` all that the client was told, each in order.
///
/// - the ledger has what the story demands, in that order, and nothing twice;
/// - the refund's row and its steps' say the same;
/// - there is a record for the start and for each of these commands, and no other; each settled, with the
///   ledger's answer, and its downstream key is the ledger's;
/// - or where nothing was ever committed there is nothing at all;
/// - each final answer that was told is the one that the story demands, byte for byte; so is the last, and
///   nothing else is told after the first.
[[nodiscard]] std::vector<std::string> violations(Story story, const std::string& id, const Kept& kept,
                                                  const std::vector<nlohmann::json>& ledger,
                                                  const std::vector<Told>& told);

}  // namespace idem::fault_test
