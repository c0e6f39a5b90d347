// A unit of work with transaction() and commit() that can be dereferenced too, as handles of pools are.
#include <gtest/gtest.h>

#include "idem/command/detail/unit_of_work.hpp"

namespace idem {
namespace {

struct Transaction {
  int* commits;
  void commit() { ++*commits; }
};

struct Handle {
  Transaction& transaction() { return tx; }
  void commit() {
    tx.commit();
    returned = true;  // say, gives the connection back to its pool
  }
  Transaction& operator*() { return tx; }
  Transaction tx;
  bool returned = false;
};

TEST(UnitOfWork, OneThatHasItsOwnCommitIsCommittedByIt) {
  int commits = 0;
  Handle unit{{&commits}};
  detail::commit(unit);
  EXPECT_EQ(commits, 1);
  EXPECT_TRUE(unit.returned) << "the unit's own commit() was passed over";
}

}  // namespace
}  // namespace idem
