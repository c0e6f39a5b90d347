// "Throws InvalidArgument where the options break a limit" (Sweep's constructor, validate(SweepOptions)).
#include <gtest/gtest.h>

#include "idem/base/error.hpp"
#include "idem/call/sweep.hpp"

namespace idem {
namespace {

using namespace std::chrono_literals;

TEST(SweepOptions, ARefusedCallIsToldWhenTheSweepIsMade) {
  SweepOptions no_tries{.operation = "op"};
  no_tries.call.retry.max_tries = 0;
  EXPECT_THROW(validate(no_tries), InvalidArgument);
  SweepOptions no_lease{.operation = "op"};
  no_lease.call.reserve.lease = 0ms;
  EXPECT_THROW(validate(no_lease), InvalidArgument);
  SweepOptions long_call{.operation = "op"};
  long_call.call.reserve.call_deadline = long_call.call.reserve.lease;
  EXPECT_THROW(validate(long_call), InvalidArgument);
}

}  // namespace
}  // namespace idem
