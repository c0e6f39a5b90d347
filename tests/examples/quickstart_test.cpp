#include <gtest/gtest.h>

#include "examples/program.hpp"

namespace idem::examples_test {
namespace {

TEST(Quickstart, TellsEachOutcomeAndChargesOncePerIntent) {
  const Finished quickstart = run_program({QUICKSTART});
  EXPECT_EQ(quickstart.status, 0);
  EXPECT_EQ(quickstart.err, "");
  EXPECT_EQ(quickstart.out, R"(tap-1  {"amount_cents":1290}
    executed: charge 1
tap-1  {"amount_cents":1290}
    in progress: come back with the same key
tap-1  { "amount_cents": 1290.0 }
    replayed: charge 1
tap-1  {"amount_cents":9900}
    mismatch: this key was used for another request
tap-2  {"amount_cents":1290}
    executed: charge 2
tap-3  {"amount_cents":1290}
    executed: charge 3
    ... and a crash before the commit: nothing is left of it
tap-3  {"amount_cents":1290}
    executed: charge 3
charges made: 3
)");
}

}  // namespace
}  // namespace idem::examples_test
