// How the transactions of a test are made.
#pragma once

#include <array>
#include <ostream>
#include <string_view>

namespace idem::postgres_test {

struct TransactionKind {
  /// The prefix of the tests that run in such transactions.
  std::string_view name;
  std::string_view isolation;
  /// Everything is done in a savepoint.
  bool in_subtransaction = false;
  /// Each transaction may have another session of the server.
  bool through_pooler = false;

  /// A transaction sees nothing that others commit after its beginning, and is refused where it would have to.
  [[nodiscard]] constexpr bool keeps_its_snapshot() const { return isolation != "read committed"; }

  friend std::ostream& operator<<(std::ostream& out, const TransactionKind& kind) { return out << kind.name; }
};

inline constexpr TransactionKind read_committed{"ReadCommitted", "read committed"};
inline constexpr TransactionKind repeatable_read{"RepeatableRead", "repeatable read"};
inline constexpr TransactionKind serializable{"Serializable", "serializable"};
inline constexpr TransactionKind read_committed_subtransaction{"ReadCommittedSubtransaction",
                                                               "read committed", true};
inline constexpr TransactionKind repeatable_read_subtransaction{"RepeatableReadSubtransaction",
                                                                "repeatable read", true};
inline constexpr TransactionKind serializable_subtransaction{"SerializableSubtransaction", "serializable",
                                                             true};
/// Fault 64: a pooler that gives each transaction another session.
inline constexpr TransactionKind pooler{"Pooler", "read committed", false, true};

inline constexpr std::array transaction_kinds{read_committed,
                                              repeatable_read,
                                              serializable,
                                              read_committed_subtransaction,
                                              repeatable_read_subtransaction,
                                              serializable_subtransaction,
                                              pooler};

}  // namespace idem::postgres_test
