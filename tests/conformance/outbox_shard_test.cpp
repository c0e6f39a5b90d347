// What PostgreSQL's outbox stores beside what the suites see.
#include <gtest/gtest.h>

#include <pqxx/pqxx>

#include "idem/event/outbox.hpp"
#include "postgres/test_database.hpp"
#include "postgres/transaction_kind.hpp"

namespace idem::postgres_test {
namespace {

class Outbox : public ::testing::TestWithParam<TransactionKind> {};

// Stored, so it never changes: SHA-256, computed elsewhere.
TEST_P(Outbox, AnAggregatesShardIsFrozen) {
  const TestDatabase database{{}, GetParam()};
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  idem::Outbox{database.backend()}.append(tx, {"payment", "p1", "Paid", {}});
  EXPECT_EQ(tx.exec("SELECT shard FROM idem_outbox")[0][0].as<int>(), 162);
}

using ::testing::Values;
INSTANTIATE_TEST_SUITE_P(ReadCommitted, Outbox, Values(read_committed));
INSTANTIATE_TEST_SUITE_P(RepeatableRead, Outbox, Values(repeatable_read));
INSTANTIATE_TEST_SUITE_P(Serializable, Outbox, Values(serializable));
INSTANTIATE_TEST_SUITE_P(ReadCommittedSubtransaction, Outbox, Values(read_committed_subtransaction));
INSTANTIATE_TEST_SUITE_P(RepeatableReadSubtransaction, Outbox, Values(repeatable_read_subtransaction));
INSTANTIATE_TEST_SUITE_P(SerializableSubtransaction, Outbox, Values(serializable_subtransaction));
INSTANTIATE_TEST_SUITE_P(Pooler, Outbox, Values(pooler));

}  // namespace
}  // namespace idem::postgres_test
