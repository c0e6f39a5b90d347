#include "idem/base/uuid.hpp"

#include <gtest/gtest.h>

#include <set>

#include "idem/base/error.hpp"

namespace {

using idem::Uuid;
using Milliseconds = std::chrono::sys_time<std::chrono::milliseconds>;

Milliseconds at(std::int64_t milliseconds) {
  return Milliseconds{std::chrono::milliseconds{milliseconds}};
}

TEST(Uuid, DefaultIsNil) {
  EXPECT_EQ(Uuid{}.to_string(), "00000000-0000-0000-0000-000000000000");
}

TEST(Uuid, ReadsEitherCaseAndWritesLowerCase) {
  const auto uuid = Uuid::parse("017F22E2-79b0-7CC3-98C4-DC0C0C07398F");
  ASSERT_TRUE(uuid);
  EXPECT_EQ(uuid->to_string(), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
  EXPECT_EQ(uuid->bytes()[0], std::byte{0x01});
  EXPECT_EQ(uuid->bytes()[15], std::byte{0x8f});
  EXPECT_EQ(Uuid::from_bytes(uuid->bytes()), *uuid);
}

TEST(Uuid, RefusesEveryOtherForm) {
  for (const char* text : {"", "017f22e2-79b0-7cc3-98c4-dc0c0c07398", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f0",
                           "{017f22e2-79b0-7cc3-98c4-dc0c0c0739}", "017f22e279b07cc398c4dc0c0c07398f",
                           "017f22e2-79b0-7cc3-98c4-dc0c0c07398g", "017f22e27-9b0-7cc3-98c4-dc0c0c07398f",
                           " 17f22e2-79b0-7cc3-98c4-dc0c0c07398f", "017f22e2+79b0-7cc3-98c4-dc0c0c07398f"}) {
    EXPECT_FALSE(Uuid::parse(text)) << text;
  }
}

TEST(Uuid, IsOrderedByItsBytes) {
  EXPECT_LT(*Uuid::parse("00000000-0000-0000-0000-00000000007f"),
            *Uuid::parse("00000000-0000-0000-0000-000000000080"));
  EXPECT_LT(*Uuid::parse("7fffffff-ffff-ffff-ffff-ffffffffffff"),
            *Uuid::parse("80000000-0000-0000-0000-000000000000"));
}

// RFC 9562 appendix A.6.
TEST(UuidV7, MakesTheVectorOfTheRfc) {
  const std::array<std::byte, 10> random{std::byte{0x0c}, std::byte{0xc3}, std::byte{0x18}, std::byte{0xc4},
                                         std::byte{0xdc}, std::byte{0x0c}, std::byte{0x0c}, std::byte{0x07},
                                         std::byte{0x39}, std::byte{0x8f}};
  const Uuid uuid = idem::make_uuid_v7(at(1645557742000), random);
  EXPECT_EQ(uuid.to_string(), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
  EXPECT_EQ(idem::uuid_v7_time(uuid), at(0x017F22E279B0));
}

TEST(UuidV7, SetsVersionAndVariantOverAnyRandomBits) {
  std::array<std::byte, 10> ones{};
  ones.fill(std::byte{0xff});
  EXPECT_EQ(idem::make_uuid_v7(at(0), std::array<std::byte, 10>{}).to_string(),
            "00000000-0000-7000-8000-000000000000");
  EXPECT_EQ(idem::make_uuid_v7(at((std::int64_t{1} << 48) - 1), ones).to_string(),
            "ffffffff-ffff-7fff-bfff-ffffffffffff");
}

TEST(UuidV7, RefusesATimeThatDoesNotFit) {
  const std::array<std::byte, 10> random{};
  EXPECT_THROW(static_cast<void>(idem::make_uuid_v7(at(-1), random)), idem::InvalidArgument);
  EXPECT_THROW(static_cast<void>(idem::make_uuid_v7(at(std::int64_t{1} << 48), random)),
               idem::InvalidArgument);
}

TEST(UuidV7, HasNoTimeWhereVersionOrVariantIsAnother) {
  EXPECT_FALSE(idem::uuid_v7_time(*Uuid::parse("017f22e2-79b0-4cc3-98c4-dc0c0c07398f")));
  EXPECT_FALSE(idem::uuid_v7_time(*Uuid::parse("017f22e2-79b0-7cc3-08c4-dc0c0c07398f")));
  EXPECT_FALSE(idem::uuid_v7_time(*Uuid::parse("017f22e2-79b0-7cc3-d8c4-dc0c0c07398f")));
  EXPECT_FALSE(idem::uuid_v7_time(Uuid{}));
}

TEST(UuidV7, RandomOnesCarryTheirTimeAndDiffer) {
  std::set<Uuid> made;
  for (int i = 0; i < 1000; ++i) {
    const Uuid uuid = idem::random_uuid_v7(at(1700000000123));
    EXPECT_EQ(idem::uuid_v7_time(uuid), at(1700000000123));
    made.insert(uuid);
  }
  EXPECT_EQ(made.size(), 1000U);
}

TEST(UuidV4, HasVersionAndVariantAndDiffers) {
  std::set<Uuid> made;
  for (int i = 0; i < 1000; ++i) {
    const Uuid uuid = idem::random_uuid_v4();
    EXPECT_EQ(uuid.bytes()[6] & std::byte{0xf0}, std::byte{0x40});
    EXPECT_EQ(uuid.bytes()[8] & std::byte{0xc0}, std::byte{0x80});
    made.insert(uuid);
  }
  EXPECT_EQ(made.size(), 1000U);
}

}  // namespace
