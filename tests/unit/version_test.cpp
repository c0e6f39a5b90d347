#include "idem/base/version.hpp"

#include <gtest/gtest.h>

// The build reads the version out of this header; the package, the .pc files and the shared object's name
// follow it.
TEST(Version, IsTheOneThatTheBuildRead) {
  EXPECT_EQ(IDEM_BUILD_VERSION, std::to_string(IDEM_VERSION_MAJOR) + "." +
                                    std::to_string(IDEM_VERSION_MINOR) + "." +
                                    std::to_string(IDEM_VERSION_PATCH));
}
