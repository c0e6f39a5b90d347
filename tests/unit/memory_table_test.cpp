#include "idem/memory/table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <future>
#include <map>
#include <string>

#include "idem/base/error.hpp"
#include "idem/memory/subtransaction.hpp"
#include "idem/testing/race.hpp"

namespace idem::memory {
namespace {

using testing::race;
using Table = memory::Table<std::string, int>;

// Whether `waiting` has not ended: only something that does not wait is done by then.
template <class Future>
bool still_waits(const Future& waiting) {
  return waiting.wait_for(std::chrono::milliseconds{100}) == std::future_status::timeout;
}

class MemoryTable : public ::testing::Test {
 protected:
  void put(const std::string& key, int value) {
    auto tx = db.begin();
    table.put(tx, key, value);
    tx.commit();
  }
  std::optional<int> committed(const std::string& key) {
    auto tx = db.begin();
    return table.find(tx, key);
  }
  std::map<std::string, int> all() {
    std::map<std::string, int> rows;
    auto tx = db.begin();
    table.for_each(tx, [&](const std::string& key, int value) { rows[key] = value; });
    return rows;
  }

  Database db;
  Table table{db};
};

TEST_F(MemoryTable, ATransactionSeesItsOwnWritesAndOthersAfterTheCommit) {
  auto tx = db.begin();
  EXPECT_TRUE(table.insert(tx, "a", 1));
  EXPECT_EQ(table.find(tx, "a"), 1);
  EXPECT_EQ(table.size(tx), 1U);
  EXPECT_EQ(committed("a"), std::nullopt);
  tx.commit();
  EXPECT_EQ(committed("a"), 1);
}

TEST_F(MemoryTable, ReadCommittedSeesWhatIsCommittedMeanwhile) {
  auto reader = db.begin();
  EXPECT_EQ(table.find(reader, "a"), std::nullopt);
  put("a", 1);
  EXPECT_EQ(table.find(reader, "a"), 1);
  EXPECT_EQ(table.size(reader), 1U);
}

TEST_F(MemoryTable, ARollbackUndoesEveryKindOfWrite) {
  put("kept", 1);
  put("updated", 1);
  put("erased", 1);
  const auto before = all();
  {
    auto tx = db.begin();
    EXPECT_TRUE(table.insert(tx, "inserted", 2));
    table.put(tx, "put", 2);
    table.put(tx, "kept", 2);
    EXPECT_TRUE(table.update(tx, "updated", 2));
    EXPECT_TRUE(table.update(tx, "updated", 3));
    EXPECT_TRUE(table.erase(tx, "erased"));
    EXPECT_TRUE(table.insert(tx, "erased", 4));
    EXPECT_EQ(table.size(tx), 5U);
    tx.rollback();
  }
  EXPECT_EQ(all(), before);
}

TEST_F(MemoryTable, ACommitKeepsTheLastOfSeveralWritesToARow) {
  put("replaced", 1);
  put("gone", 1);
  auto tx = db.begin();
  EXPECT_TRUE(table.erase(tx, "replaced"));
  EXPECT_TRUE(table.insert(tx, "replaced", 2));
  EXPECT_TRUE(table.update(tx, "gone", 2));
  EXPECT_TRUE(table.erase(tx, "gone"));
  EXPECT_TRUE(table.insert(tx, "never there", 2));
  EXPECT_TRUE(table.erase(tx, "never there"));
  tx.commit();
  EXPECT_EQ(all(), (std::map<std::string, int>{{"replaced", 2}}));
}

TEST_F(MemoryTable, WritesToAbsentRowsSayFalse) {
  auto tx = db.begin();
  EXPECT_FALSE(table.update(tx, "a", 1));
  EXPECT_FALSE(table.erase(tx, "a"));
  EXPECT_EQ(table.find_for_update(tx, "a"), std::nullopt);
  EXPECT_TRUE(table.insert(tx, "a", 1));
  EXPECT_FALSE(table.insert(tx, "a", 2));
  EXPECT_EQ(table.find(tx, "a"), 1);
}

TEST_F(MemoryTable, InsertWaitsForAnotherTransactionsRowAndSaysFalseWhereItCommits) {
  auto first = db.begin();
  EXPECT_TRUE(table.insert(first, "a", 1));
  auto second = std::async(std::launch::async, [&] {
    auto tx = db.begin();
    return table.insert(tx, "a", 2);
  });
  EXPECT_TRUE(still_waits(second));
  first.commit();
  EXPECT_FALSE(second.get());
  EXPECT_EQ(committed("a"), 1);
}

TEST_F(MemoryTable, InsertWaitsForAnotherTransactionsRowAndInsertsWhereItRollsBack) {
  auto first = db.begin();
  EXPECT_TRUE(table.insert(first, "a", 1));
  auto second = std::async(std::launch::async, [&] {
    auto tx = db.begin();
    const bool inserted = table.insert(tx, "a", 2);
    tx.commit();
    return inserted;
  });
  EXPECT_TRUE(still_waits(second));
  first.rollback();
  EXPECT_TRUE(second.get());
  EXPECT_EQ(committed("a"), 2);
}

TEST_F(MemoryTable, UpdatePutAndEraseWaitForAnotherTransactionsWriteAndThenGoByWhatIsThere) {
  put("a", 1);
  auto first = db.begin();
  EXPECT_TRUE(table.erase(first, "a"));
  auto update = std::async(std::launch::async, [&] {
    auto tx = db.begin();
    return table.update(tx, "a", 2);
  });
  auto erase = std::async(std::launch::async, [&] {
    auto tx = db.begin();
    return table.erase(tx, "a");
  });
  auto put = std::async(std::launch::async, [&] {
    auto tx = db.begin();
    table.put(tx, "b", 3);
    table.put(tx, "a", 3);
    return table.find(tx, "a");
  });
  EXPECT_TRUE(still_waits(update));
  EXPECT_TRUE(still_waits(erase));
  EXPECT_TRUE(still_waits(put));
  first.commit();
  EXPECT_FALSE(update.get());
  EXPECT_FALSE(erase.get());
  EXPECT_EQ(put.get(), 3);
}

TEST_F(MemoryTable, ARowThatIsReadForUpdateLosesNoUpdate) {
  put("counter", 0);
  race(8, [&](std::size_t) {
    for (int i = 0; i < 100; ++i) {
      auto tx = db.begin();
      const auto count = table.find_for_update(tx, "counter");
      EXPECT_TRUE(table.update(tx, "counter", *count + 1));
      tx.commit();
    }
  });
  EXPECT_EQ(committed("counter"), 800);
}

TEST_F(MemoryTable, ReadersNeverWait) {
  put("a", 1);
  auto writer = db.begin();
  EXPECT_TRUE(table.update(writer, "a", 2));
  EXPECT_EQ(committed("a"), 1);
  EXPECT_EQ(all(), (std::map<std::string, int>{{"a", 1}}));
}

TEST_F(MemoryTable, ForEachVisitsInTheOrderOfTheKeysAndMayWrite) {
  for (const char* key : {"c", "a", "b"}) put(key, 1);
  auto tx = db.begin();
  std::string order;
  table.for_each(tx, [&](const std::string& key, int value) {
    order += key;
    EXPECT_TRUE(table.update(tx, key, value + 1));
    table.put(tx, key + key, value);
  });
  EXPECT_EQ(order, "abc");
  EXPECT_EQ(table.size(tx), 6U);
  EXPECT_EQ(table.find(tx, "a"), 2);
}

TEST_F(MemoryTable, TwoThatWaitForEachOtherAreADeadlockAndOneGoesOn) {
  put("a", 0);
  put("b", 0);
  std::atomic<int> committed{0};
  std::atomic<int> conflicts{0};
  std::barrier both_hold_one{2};
  race(2, [&](std::size_t index) {
    auto tx = db.begin();
    const std::string mine = index == 0 ? "a" : "b";
    const std::string theirs = index == 0 ? "b" : "a";
    EXPECT_TRUE(table.update(tx, mine, 1));
    both_hold_one.arrive_and_wait();
    try {
      EXPECT_TRUE(table.update(tx, theirs, 1));
      tx.commit();
      ++committed;
    } catch (const TransactionConflict& conflict) {
      EXPECT_EQ(conflict.next_step(), NextStep::retry_transaction);
      EXPECT_THROW((void)table.find(tx, mine), TransactionClosed);
      EXPECT_THROW(tx.commit(), TransactionClosed);
      ++conflicts;
    }
  });
  EXPECT_EQ(committed, 1);
  EXPECT_EQ(conflicts, 1);
  EXPECT_EQ(all(), (std::map<std::string, int>{{"a", 1}, {"b", 1}}));
}

TEST_F(MemoryTable, ARingOfFiveThatWaitForEachOtherIsADeadlock) {
  constexpr std::size_t ring = 5;
  for (std::size_t i = 0; i < ring; ++i) put(std::to_string(i), 0);
  std::atomic<int> conflicts{0};
  std::barrier all_hold_one{ring};
  race(ring, [&](std::size_t index) {
    auto tx = db.begin();
    EXPECT_TRUE(table.update(tx, std::to_string(index), 1));
    all_hold_one.arrive_and_wait();
    try {
      EXPECT_TRUE(table.update(tx, std::to_string((index + 1) % ring), 1));
      tx.commit();
    } catch (const TransactionConflict&) {
      ++conflicts;
    }
  });
  EXPECT_EQ(conflicts, 1);
}

// Fault 55, and the deadlock that is none: opposite orders, run again on a conflict.
TEST_F(MemoryTable, OppositeOrdersEndInOneResultWithRetries) {
  put("a", 0);
  put("b", 0);
  race(4, [&](std::size_t index) {
    for (int done = 0; done < 100;) {
      auto tx = db.begin();
      try {
        for (const char* key : {index % 2 == 0 ? "a" : "b", index % 2 == 0 ? "b" : "a"}) {
          const auto count = table.find_for_update(tx, key);
          EXPECT_TRUE(table.update(tx, key, *count + 1));
        }
        tx.commit();
        ++done;
      } catch (const TransactionConflict&) {
        // Run the whole transaction again.
      }
    }
  });
  EXPECT_EQ(all(), (std::map<std::string, int>{{"a", 400}, {"b", 400}}));
}

TEST_F(MemoryTable, AClosedTransactionIsRefused) {
  auto tx = db.begin();
  table.put(tx, "a", 1);
  tx.commit();
  EXPECT_THROW((void)table.find(tx, "a"), TransactionClosed);
  EXPECT_THROW((void)table.find_for_update(tx, "a"), TransactionClosed);
  EXPECT_THROW((void)table.insert(tx, "b", 1), TransactionClosed);
  EXPECT_THROW(table.put(tx, "b", 1), TransactionClosed);
  EXPECT_THROW((void)table.update(tx, "a", 2), TransactionClosed);
  EXPECT_THROW(table.erase(tx, "a"), TransactionClosed);
  EXPECT_THROW((void)table.size(tx), TransactionClosed);
  EXPECT_THROW(table.for_each(tx, [](const std::string&, int) {}), TransactionClosed);
  EXPECT_EQ(all(), (std::map<std::string, int>{{"a", 1}}));
}

TEST_F(MemoryTable, AnotherDatabasesTransactionIsRefused) {
  Database other;
  auto tx = other.begin();
  EXPECT_THROW(table.put(tx, "a", 1), InvalidArgument);
  EXPECT_THROW((void)db.store(tx), InvalidArgument);
  tx.commit();
  EXPECT_TRUE(all().empty());
}

TEST_F(MemoryTable, TablesOfOneDatabaseCommitTogether) {
  memory::Table<int, std::string> seats{db};
  {
    auto tx = db.begin();
    table.put(tx, "payment", 1290);
    seats.put(tx, 7, "alice");
  }
  auto tx = db.begin();
  EXPECT_EQ(table.size(tx) + seats.size(tx), 0U);
  table.put(tx, "payment", 1290);
  seats.put(tx, 7, "alice");
  tx.commit();
  auto reader = db.begin();
  EXPECT_EQ(table.find(reader, "payment"), 1290);
  EXPECT_EQ(seats.find(reader, 7), "alice");
}

// ---- subtransactions

TEST_F(MemoryTable, ASubtransactionThatRollsBackUndoesItsOwnWritesOnly) {
  put("both", 0);
  auto tx = db.begin();
  table.put(tx, "outer", 1);
  table.put(tx, "both", 1);
  {
    Subtransaction sub{tx};
    table.put(sub, "both", 2);
    EXPECT_TRUE(table.erase(sub, "outer"));
    table.put(sub, "inner", 2);
    EXPECT_EQ(table.size(sub), 2U);
    sub.rollback();
    EXPECT_FALSE(sub.is_open());
  }
  EXPECT_EQ(table.find(tx, "outer"), 1);
  EXPECT_EQ(table.find(tx, "both"), 1);
  EXPECT_EQ(table.find(tx, "inner"), std::nullopt);
  tx.commit();
  EXPECT_EQ(all(), (std::map<std::string, int>{{"both", 1}, {"outer", 1}}));
}

TEST_F(MemoryTable, ASubtransactionThatCommitsLivesAndDiesWithItsParent) {
  for (const bool commit : {true, false}) {
    auto tx = db.begin();
    {
      Subtransaction sub{tx};
      table.put(sub, "a", 1);
      sub.commit();
      EXPECT_FALSE(sub.is_open());
      EXPECT_THROW(table.put(sub, "b", 1), TransactionClosed);
    }
    EXPECT_EQ(committed("a"), std::nullopt);
    if (commit) {
      tx.commit();
      EXPECT_EQ(committed("a"), 1);
      auto undo = db.begin();
      table.erase(undo, "a");
      undo.commit();
    } else {
      tx.rollback();
      EXPECT_EQ(committed("a"), std::nullopt);
    }
  }
}

TEST_F(MemoryTable, SubtransactionsNest) {
  auto tx = db.begin();
  Subtransaction outer{tx};
  table.put(outer, "outer", 1);
  {
    Subtransaction inner{outer};
    table.put(inner, "inner", 1);
    inner.commit();
  }
  {
    Subtransaction dropped{outer};
    table.put(dropped, "dropped", 1);
  }
  outer.commit();
  tx.commit();
  EXPECT_EQ(all(), (std::map<std::string, int>{{"inner", 1}, {"outer", 1}}));
}

TEST_F(MemoryTable, ASubtransactionThatRollsBackGivesUpTheRowsItTook) {
  put("taken before", 0);
  put("taken in it", 0);
  auto tx = db.begin();
  table.put(tx, "taken before", 1);
  auto sub = std::make_unique<Subtransaction>(tx);
  table.put(*sub, "taken before", 2);
  table.put(*sub, "taken in it", 2);
  auto other = std::async(std::launch::async, [&] { put("taken in it", 3); });
  EXPECT_TRUE(still_waits(other));
  sub->rollback();
  other.get();
  auto waits = std::async(std::launch::async, [&] { put("taken before", 3); });
  EXPECT_TRUE(still_waits(waits));
  tx.commit();
  waits.get();
  EXPECT_EQ(all(), (std::map<std::string, int>{{"taken before", 3}, {"taken in it", 3}}));
}

TEST_F(MemoryTable, TheParentsCallsBelongToTheOpenSubtransaction) {
  auto tx = db.begin();
  Subtransaction sub{tx};
  table.put(tx, "a", 1);
  sub.rollback();
  tx.commit();
  EXPECT_EQ(committed("a"), std::nullopt);
}

TEST_F(MemoryTable, AParentDoesNotCommitOverAnOpenSubtransaction) {
  auto tx = db.begin();
  table.put(tx, "a", 1);
  {
    Subtransaction sub{tx};
    EXPECT_THROW(tx.commit(), TransactionClosed);
    EXPECT_TRUE(tx.is_open());
    EXPECT_TRUE(sub.is_open());
  }
  tx.commit();
  EXPECT_EQ(committed("a"), 1);
}

TEST_F(MemoryTable, ARollbackOfTheParentEndsItsSubtransactions) {
  auto tx = db.begin();
  Subtransaction sub{tx};
  table.put(sub, "a", 1);
  tx.rollback();
  EXPECT_FALSE(sub.is_open());
  EXPECT_THROW(sub.commit(), TransactionClosed);
  EXPECT_THROW(table.put(sub, "a", 1), TransactionClosed);
  EXPECT_THROW(Subtransaction{tx}, TransactionClosed);
  EXPECT_EQ(committed("a"), std::nullopt);
}

TEST_F(MemoryTable, AnEndedSubtransactionIsNotTheNextOne) {
  auto tx = db.begin();
  Subtransaction first{tx};
  first.rollback();
  Subtransaction second{tx};
  EXPECT_FALSE(first.is_open());
  EXPECT_THROW(table.put(first, "a", 1), TransactionClosed);
  first.rollback();
  EXPECT_TRUE(second.is_open());
}

// A deadlock inside a savepoint costs that savepoint only, as on PostgreSQL.
TEST_F(MemoryTable, ADeadlockInASubtransactionSpoilsThatOnly) {
  put("a", 0);
  put("b", 0);
  std::barrier both_hold_one{2};
  std::atomic<int> conflicts{0};
  race(2, [&](std::size_t index) {
    auto tx = db.begin();
    table.put(tx, "kept " + std::to_string(index), 1);
    {
      Subtransaction sub{tx};
      table.put(sub, index == 0 ? "a" : "b", 1);
      both_hold_one.arrive_and_wait();
      try {
        table.put(sub, index == 0 ? "b" : "a", 1);
        sub.commit();
      } catch (const TransactionConflict&) {
        ++conflicts;
        EXPECT_THROW(table.put(tx, "c", 1), TransactionClosed);
        EXPECT_THROW(sub.commit(), TransactionClosed);
      }
    }
    tx.commit();
  });
  EXPECT_EQ(conflicts, 1);
  EXPECT_EQ(all().size(), 4U);
}

}  // namespace
}  // namespace idem::memory
