// What the other tests start programs with.
#include "examples/program.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace idem::examples_test {
namespace {

// A signal to process 0 would go to the test itself; 0 is one that does no harm.
TEST(Running, OneThatWasWaitedForGetsNoSignal) {
  Running program{{"/bin/sh", "-c", "exit 3"}};
  EXPECT_EQ(program.wait().status, 3);
  EXPECT_THROW(program.signal(0), std::logic_error);
  EXPECT_THROW((void)program.wait(), std::logic_error);
  EXPECT_THROW((void)program.ended(), std::logic_error);
}

}  // namespace
}  // namespace idem::examples_test
