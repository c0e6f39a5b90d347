#include "base/rfc3339.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace idem {
namespace {

using namespace std::chrono_literals;
using detail::parse_rfc3339;

constexpr TimePoint noon = std::chrono::sys_days{std::chrono::year{2026} / 11 / 30} + 12h;

TEST(Rfc3339, IsReadWithItsOffsetToTheMicrosecond) {
  EXPECT_EQ(parse_rfc3339("2026-11-30T12:00:00Z"), noon);
  EXPECT_EQ(parse_rfc3339("2026-11-30t12:00:00z"), noon);
  EXPECT_EQ(parse_rfc3339("2026-11-30T14:30:00+02:30"), noon);
  EXPECT_EQ(parse_rfc3339("2026-11-30T00:00:00-12:00"), noon);
  EXPECT_EQ(parse_rfc3339("2026-11-30T12:00:00.5Z"), noon + 500ms);
  EXPECT_EQ(parse_rfc3339("2026-11-30T12:00:00.123456789Z"), noon + 123456us);
  EXPECT_EQ(parse_rfc3339("2016-12-31T23:59:60Z"),
            std::chrono::sys_days{std::chrono::year{2017} / 1 / 1} + 0s);
  EXPECT_EQ(parse_rfc3339("2024-02-29T00:00:00Z"),
            std::chrono::sys_days{std::chrono::year{2024} / 2 / 29} + 0s);
}

TEST(Rfc3339, AnythingElseIsRefused) {
  for (const char* const text : {"",
                                 "2026-11-30",
                                 "2026-11-30T12:00:00",
                                 "2026-11-30 12:00:00Z",
                                 "2026-11-30T12:00Z",
                                 "2026-11-30T12:00:00.Z",
                                 "2026-11-30T24:00:00Z",
                                 "2026-11-30T12:60:00Z",
                                 "2026-11-30T12:00:61Z",
                                 "2026-11-30T12:00:60Z",
                                 "2026-13-01T12:00:00Z",
                                 "2026-02-29T12:00:00Z",
                                 "2026-00-01T12:00:00Z",
                                 "26-11-30T12:00:00Z",
                                 "2026-11-30T12:00:00+24:00",
                                 "2026-11-30T12:00:00+02:60",
                                 "2026-11-30T12:00:00+0230",
                                 "2026-11-30T12:00:00Z ",
                                 "+2026-11-30T12:00:00Z",
                                 "2026-1-30T12:00:00Z",
                                 "2026-11-30T12:00:0xZ"}) {
    EXPECT_EQ(parse_rfc3339(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace idem
