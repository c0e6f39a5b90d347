// How the transactions of a run of the tests are made.
#pragma once

#include <string>

namespace idem::postgres_test {

/// What a run asks for, by environment variables, so that one binary serves all of them.
struct TransactionKind {
  /// IDEM_TEST_ISOLATION, such as "repeatable read"; empty for the server's default.
  std::string isolation;
  /// IDEM_TEST_SUBTRANSACTION is set: everything is done in a savepoint.
  bool in_subtransaction = false;
  /// IDEM_TEST_THROUGH_POOLER is set: each transaction may have another session of the server.
  bool through_pooler = false;

  /// A transaction sees nothing that others commit after its beginning, and is refused where it would have to.
  [[nodiscard]] bool keeps_its_snapshot() const {
    return !isolation.empty() && isolation != "read committed";
  }
};

[[nodiscard]] const TransactionKind& transaction_kind();

}  // namespace idem::postgres_test
