#include "idem/memory/transaction.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "idem/base/error.hpp"
#include "idem/memory/database.hpp"
#include "idem/memory/subtransaction.hpp"
#include "idem/memory/table.hpp"

namespace idem::memory {
namespace {

static_assert(std::is_nothrow_move_constructible_v<Transaction> &&
              std::is_nothrow_move_assignable_v<Transaction>);
static_assert(!std::is_copy_constructible_v<Transaction> && !std::is_copy_assignable_v<Transaction>);
static_assert(!std::is_move_constructible_v<Subtransaction>);

class MemoryTransaction : public ::testing::Test {
 protected:
  auto note(std::string what) {
    return [this, what] { notes.push_back(what); };
  }
  using Notes = std::vector<std::string>;

  Database db;
  Table<std::string, int> table{db};
  Notes notes;
};

TEST_F(MemoryTransaction, IsOpenUntilItEnds) {
  auto committed = db.begin();
  EXPECT_TRUE(committed.is_open());
  committed.commit();
  EXPECT_FALSE(committed.is_open());
  auto rolled_back = db.begin();
  rolled_back.rollback();
  EXPECT_FALSE(rolled_back.is_open());
}

TEST_F(MemoryTransaction, CannotBeUsedAfterItsEnd) {
  auto tx = db.begin();
  auto store = db.store(tx);
  tx.commit();
  EXPECT_THROW(tx.commit(), TransactionClosed);
  EXPECT_THROW(tx.on_commit([] {}), TransactionClosed);
  EXPECT_THROW(tx.on_rollback([] {}), TransactionClosed);
  EXPECT_THROW(Subtransaction{tx}, TransactionClosed);
  EXPECT_THROW((void)store->find({"p", "o", "k"}), TransactionClosed);
  EXPECT_THROW((void)db.store(tx)->find({"p", "o", "k"}), TransactionClosed);
  tx.rollback();
}

TEST_F(MemoryTransaction, CanBeMovedAndItsStoreStaysItsOwn) {
  std::optional<Transaction> source{db.begin()};
  auto store = db.store(*source);
  table.put(*source, "a", 1);
  source->on_commit(note("committed"));
  Transaction target = std::move(*source);
  EXPECT_FALSE(source->is_open());
  EXPECT_THROW(source->commit(), TransactionClosed);
  EXPECT_THROW((void)db.store(*source), TransactionClosed);
  source.reset();
  EXPECT_TRUE(target.is_open());
  EXPECT_FALSE(store->find({"p", "o", "k"}));
  target.commit();
  EXPECT_EQ(notes, Notes{"committed"});
  auto reader = db.begin();
  EXPECT_EQ(table.find(reader, "a"), 1);
}

TEST_F(MemoryTransaction, RollsBackWhenAnotherIsMovedIntoIt) {
  auto tx = db.begin();
  tx.on_rollback(note("rolled back"));
  table.put(tx, "a", 1);
  tx = db.begin();
  EXPECT_EQ(notes, Notes{"rolled back"});
  EXPECT_EQ(table.find(tx, "a"), std::nullopt);
  EXPECT_TRUE(tx.is_open());
}

TEST_F(MemoryTransaction, CallsBackOnceInOrderAfterTheCommit) {
  auto tx = db.begin();
  table.put(tx, "a", 1);
  tx.on_commit([&] {
    // Nothing is locked, and what was committed is there.
    auto reader = db.begin();
    EXPECT_EQ(table.find(reader, "a"), 1);
    EXPECT_FALSE(tx.is_open());
    notes.push_back("first");
  });
  tx.on_rollback(note("never"));
  tx.on_commit(note("second"));
  EXPECT_TRUE(notes.empty());
  tx.commit();
  EXPECT_EQ(notes, (Notes{"first", "second"}));
  tx.rollback();
  EXPECT_EQ(notes.size(), 2U);
}

TEST_F(MemoryTransaction, CallsBackOnceInReverseOrderAfterTheRollback) {
  {
    auto tx = db.begin();
    tx.on_rollback(note("first"));
    tx.on_commit(note("never"));
    tx.on_rollback(note("second"));
    tx.rollback();
    EXPECT_EQ(notes, (Notes{"second", "first"}));
  }
  EXPECT_EQ(notes.size(), 2U);
  { db.begin().on_rollback(note("dropped")); }
  EXPECT_EQ(notes.back(), "dropped");
}

TEST_F(MemoryTransaction, CallsBackForASubtransactionAsItTrulyEnded) {
  auto tx = db.begin();
  tx.on_commit(note("outer committed"));
  tx.on_rollback(note("outer rolled back"));
  {
    Subtransaction rolled_back{tx};
    rolled_back.on_commit(note("rolled-back one committed"));
    rolled_back.on_rollback(note("inner rolled back"));
  }
  EXPECT_EQ(notes, Notes{"inner rolled back"});
  {
    Subtransaction kept{tx};
    kept.on_commit(note("kept one committed"));
    kept.on_rollback(note("kept one rolled back"));
    kept.commit();
  }
  EXPECT_EQ(notes, Notes{"inner rolled back"});
  tx.commit();
  EXPECT_EQ(notes, (Notes{"inner rolled back", "outer committed", "kept one committed"}));
}

TEST_F(MemoryTransaction, CallsBackForAKeptSubtransactionWhoseParentRollsBack) {
  auto tx = db.begin();
  {
    Subtransaction kept{tx};
    kept.on_commit(note("committed"));
    kept.on_rollback(note("rolled back"));
    kept.commit();
  }
  tx.rollback();
  EXPECT_EQ(notes, Notes{"rolled back"});
}

TEST_F(MemoryTransaction, LosesTheAnswerToACommitThatWasApplied) {
  auto tx = db.begin();
  table.put(tx, "a", 1);
  tx.on_commit(note("committed"));
  tx.on_rollback(note("rolled back"));
  db.lose_next_commit(LostCommit::after_applying);
  EXPECT_THROW(tx.commit(), CommitLost);
  EXPECT_FALSE(tx.is_open());
  EXPECT_EQ(notes, Notes{"committed"});
  auto next = db.begin();
  EXPECT_EQ(table.find(next, "a"), 1);
  next.commit();
}

TEST_F(MemoryTransaction, LosesTheAnswerToACommitThatWasNotApplied) {
  auto tx = db.begin();
  table.put(tx, "a", 1);
  tx.on_commit(note("committed"));
  tx.on_rollback(note("rolled back"));
  db.lose_next_commit(LostCommit::before_applying);
  EXPECT_THROW(tx.commit(), CommitLost);
  EXPECT_FALSE(tx.is_open());
  EXPECT_EQ(notes, Notes{"rolled back"});
  auto next = db.begin();
  EXPECT_EQ(table.find(next, "a"), std::nullopt);
  table.put(next, "a", 2);
  next.commit();
}

TEST_F(MemoryTransaction, LosesOnlyACommitThatWouldHaveSucceeded) {
  db.lose_next_commit(LostCommit::after_applying);
  auto rolled_back = db.begin();
  rolled_back.rollback();
  auto tx = db.begin();
  {
    Subtransaction sub{tx};
    sub.commit();
  }
  EXPECT_THROW(tx.commit(), CommitLost);
}

TEST_F(MemoryTransaction, ACallbackThatThrowsEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto tx = db.begin();
        tx.on_commit([] { throw 1; });
        tx.commit();
      },
      "");
}

// ---- what LeaseLost does to a transaction

class SpoiledMemoryTransaction : public MemoryTransaction {
 protected:
  void spoil(TransactionBase& tx) {
    auto store = db.store(tx);
    const Lease none{
        {"p", "o", "k"}, Fingerprint::from_bytes(Fingerprint::Bytes{}), {1, Uuid{}}, 1, TimePoint{}};
    EXPECT_THROW(store->complete(none, text_response(200, "")), LeaseLost);
  }
};

TEST_F(SpoiledMemoryTransaction, CommitsNothingAndRefusesEveryCall) {
  auto tx = db.begin();
  table.put(tx, "a", 1);
  tx.on_commit(note("committed"));
  tx.on_rollback(note("rolled back"));
  auto store = db.store(tx);
  spoil(tx);
  EXPECT_TRUE(tx.is_open());
  EXPECT_THROW((void)table.find(tx, "a"), TransactionClosed);
  EXPECT_THROW(table.put(tx, "b", 1), TransactionClosed);
  EXPECT_THROW((void)store->find({"p", "o", "k"}), TransactionClosed);
  EXPECT_THROW(tx.on_commit([] {}), TransactionClosed);
  EXPECT_THROW(Subtransaction{tx}, TransactionClosed);
  EXPECT_TRUE(notes.empty());
  EXPECT_THROW(tx.commit(), TransactionClosed);
  EXPECT_FALSE(tx.is_open());
  EXPECT_EQ(notes, Notes{"rolled back"});
  auto reader = db.begin();
  EXPECT_EQ(table.size(reader), 0U);
}

TEST_F(SpoiledMemoryTransaction, GivesUpItsRowsAtOnce) {
  auto tx = db.begin();
  table.put(tx, "a", 1);
  spoil(tx);
  auto other = db.begin();
  table.put(other, "a", 2);  // Would wait for ever.
  other.commit();
  tx.rollback();
  auto reader = db.begin();
  EXPECT_EQ(table.find(reader, "a"), 2);
}

TEST_F(SpoiledMemoryTransaction, EndsWithTheSubtransactionThatItHappenedIn) {
  auto tx = db.begin();
  table.put(tx, "outer", 1);
  {
    Subtransaction sub{tx};
    table.put(sub, "inner", 1);
    spoil(sub);
    EXPECT_THROW(table.put(sub, "inner", 2), TransactionClosed);
    EXPECT_THROW(table.put(tx, "outer", 2), TransactionClosed);
    EXPECT_THROW(tx.commit(), TransactionClosed);
    EXPECT_THROW(sub.commit(), TransactionClosed);
  }
  table.put(tx, "later", 1);
  tx.commit();
  auto reader = db.begin();
  EXPECT_EQ(table.size(reader), 2U);
  EXPECT_EQ(table.find(reader, "inner"), std::nullopt);
}

TEST_F(SpoiledMemoryTransaction, DoesNotTakeTheLostCommitThatAnotherIsToHave) {
  db.lose_next_commit(LostCommit::after_applying);
  auto tx = db.begin();
  spoil(tx);
  EXPECT_THROW(tx.commit(), TransactionClosed);
  auto next = db.begin();
  EXPECT_THROW(next.commit(), CommitLost);
}

// A consumer that leaves a savepoint open behind its exception must not save what is around it.
TEST_F(MemoryTransaction, WhatIsMadeUncommittableStaysSoWhereASubtransactionInItIsOpen) {
  memory::Database database;
  memory::Table<std::string, int> rows{database};
  auto tx = database.begin();
  rows.put(tx, "before", 1);
  {
    memory::Subtransaction open{tx};
    rows.put(open, "inside", 1);
    database.make_uncommittable(tx);
  }
  EXPECT_THROW(rows.put(tx, "after", 1), TransactionClosed);
  EXPECT_THROW(tx.commit(), TransactionClosed);
  auto check = database.begin();
  EXPECT_EQ(rows.size(check), 0U);
}

}  // namespace
}  // namespace idem::memory
