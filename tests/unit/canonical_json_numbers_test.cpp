#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "es6_number_sequence.hpp"
#include "idem/json/canonical_json.hpp"
#include "sha256.hpp"

namespace {

using idem::canonical_json;
using idem::JsonNumbers;

constexpr idem::CanonicalJsonOptions rfc8785{.numbers = JsonNumbers::rfc8785};

/// A double as JSON text with 17 digits: enough to name it, and rarely its shortest form.
std::string text_of(std::uint64_t bits) {
  std::array<char, 32> buffer{};
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                     std::bit_cast<double>(bits), std::chars_format::scientific, 16);
  return {buffer.data(), written.ptr};
}

std::string refusal(std::string_view text, const idem::CanonicalJsonOptions& options = {}) {
  try {
    return "accepted as " + canonical_json(text, options);
  } catch (const idem::InvalidJson& error) {
    return std::to_string(error.offset()) + ": " + error.reason();
  }
}

// RFC 8785 appendix B, and the borders of the layout.
TEST(Rfc8785Numbers, AgreeWithAppendixB) {
  const std::vector<std::pair<std::uint64_t, std::string>> numbers{
      {0x0000000000000000, "0"},
      {0x8000000000000000, "0"},
      {0x0000000000000001, "5e-324"},
      {0x8000000000000001, "-5e-324"},
      {0x7fefffffffffffff, "1.7976931348623157e+308"},
      {0xffefffffffffffff, "-1.7976931348623157e+308"},
      {0x4340000000000000, "9007199254740992"},
      {0xc340000000000000, "-9007199254740992"},
      {0x4340000000000001, "9007199254740994"},
      {0x4430000000000000, "295147905179352830000"},
      {0x44b52d02c7e14af5, "9.999999999999997e+22"},
      {0x44b52d02c7e14af6, "1e+23"},
      {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
      {0x444b1ae4d6e2ef4e, "999999999999999700000"},
      {0x444b1ae4d6e2ef4f, "999999999999999900000"},
      {0x444b1ae4d6e2ef50, "1e+21"},
      {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
      {0x3eb0c6f7a0b5ed8d, "0.000001"},
      {0x41b3de4355555553, "333333333.3333332"},
      {0x41b3de4355555554, "333333333.33333325"},
      {0x41b3de4355555555, "333333333.3333333"},
      {0x41b3de4355555556, "333333333.3333334"},
      {0x41b3de4355555557, "333333333.33333343"},
      {0xbecbf647612f3696, "-0.0000033333333333333333"},
      {0x43143ff3c1cb0959, "1424953923781206.2"},
      {0x00000000000007e8, "1e-320"},
      {0x0010000000000000, "2.2250738585072014e-308"},
  };
  for (const auto& [bits, expected] : numbers) {
    EXPECT_EQ(canonical_json(text_of(bits), rfc8785), expected) << std::hex << bits;
  }
}

TEST(Rfc8785Numbers, FoldLongIntegersAsTheRfcHasIt) {
  EXPECT_EQ(canonical_json("18446744073709551615", rfc8785), "18446744073709552000");
  EXPECT_EQ(canonical_json("-9223372036854775809", rfc8785), "-9223372036854776000");
  EXPECT_EQ(canonical_json("9007199254740993", rfc8785), "9007199254740992");
  EXPECT_EQ(canonical_json("100000000000000000000", rfc8785), "100000000000000000000");
  EXPECT_EQ(canonical_json("1000000000000000000000", rfc8785), "1e+21");
  EXPECT_EQ(canonical_json("10000000000000000999", rfc8785), "10000000000000000000");
}

// The checksums are published with the sequence.
TEST(Rfc8785Numbers, AgreeWithAMillionPublishedOnes) {
  idem::test::Es6NumberSequence numbers;
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> hash{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
  ASSERT_EQ(EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr), 1);
  const auto hash_so_far = [&hash] {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> copy{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
    std::array<unsigned char, 32> bytes{};
    EVP_MD_CTX_copy_ex(copy.get(), hash.get());
    EVP_DigestFinal_ex(copy.get(), bytes.data(), nullptr);
    std::string hex;
    for (const unsigned char byte : bytes) {
      hex += "0123456789abcdef"[byte >> 4];
      hex += "0123456789abcdef"[byte & 0x0f];
    }
    return hex;
  };
  for (int count = 1; count <= 1'000'000; ++count) {
    const std::uint64_t bits = numbers.next();
    std::array<char, 16> hex{};
    const auto written = std::to_chars(hex.data(), hex.data() + hex.size(), bits, 16);
    std::string line{hex.data(), written.ptr};
    line += ',';
    line += canonical_json(text_of(bits), rfc8785);
    line += '\n';
    EVP_DigestUpdate(hash.get(), line.data(), line.size());
    if (count == 1000) {
      ASSERT_EQ(hash_so_far(), "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687");
    }
  }
  EXPECT_EQ(hash_so_far(), "49415fee2c56c77864931bd3624faad425c3c577d6d74e89a83bc725506dad16");
}

TEST(JsonNumbersBothModes, HaveOneSpelling) {
  const std::vector<std::pair<std::string, std::string>> numbers{
      {"-0", "0"},
      {"-0.0", "0"},
      {"0e5", "0"},
      {"-0E-5", "0"},
      {"0.000e999999999999999999999", "0"},
      {"1290", "1290"},
      {"1290.0", "1290"},
      {"1.29e3", "1290"},
      {"12900e-1", "1290"},
      {"1.29E+3", "1290"},
      {"1290.00e-0", "1290"},
      {"0.00129e6", "1290"},
      {"1e0", "1"},
      {"1e00", "1"},
      {"10e-1", "1"},
      {"-12.50", "-12.5"},
      {"0.5", "0.5"},
      {"5e-1", "0.5"},
      {"0.10", "0.1"},
      {"1e-6", "0.000001"},
      {"1e-7", "1e-7"},
      {"0.0000001", "1e-7"},
      {"1.5e-9", "1.5e-9"},
      {"123456.789", "123456.789"},
      {"0.1000000000000000055511151231257827", "0.1"},
      {"1.000000000000000005", "1"},
      {"333333333.33333329", "333333333.3333333"},
      {"4.50", "4.5"},
      {"2e-3", "0.002"},
      {"1e20", "100000000000000000000"},
      {"1e5", "100000"}};
  for (const auto& [text, expected] : numbers) {
    EXPECT_EQ(canonical_json(text), expected) << text;
    EXPECT_EQ(canonical_json(text, rfc8785), expected) << text;
    EXPECT_EQ(canonical_json('[' + text + ']'), '[' + expected + ']') << text;
  }
}

// std::from_chars tells both ends of the range alike.
TEST(JsonNumbersBothModes, TooSmallIsZero) {
  for (const char* text : {"1e-400", "-1e-400", "2.4703282292062327208e-324", "1e-999999999999999999999",
                           "0.1e-9223372036854775808"}) {
    EXPECT_EQ(canonical_json(text), "0") << text;
    EXPECT_EQ(canonical_json(text, rfc8785), "0") << text;
  }
  EXPECT_EQ(canonical_json("2.4703282292062328e-324"), "5e-324");
  EXPECT_EQ(canonical_json("0." + std::string(400, '0') + "1"), "0");
}

TEST(Rfc8785Numbers, TooLargeIsRefused) {
  for (const std::string& text :
       {std::string{"1e309"}, std::string{"-1e400"}, std::string{"1.7976931348623159e308"},
        std::string{"1e999999999999999999999"}, std::string(310, '9'), std::string(310, '9') + ".5"}) {
    EXPECT_EQ(refusal(text, rfc8785), "0: a number is beyond the range of an IEEE 754 double") << text;
  }
  EXPECT_EQ(canonical_json("1.7976931348623158e308", rfc8785), "1.7976931348623157e+308");
  EXPECT_EQ(canonical_json(std::string(308, '1'), rfc8785), "1.1111111111111111e+307");
}

TEST(ExactIntegers, KeepEveryDigitAtAnyLength) {
  const std::string long_one = "1" + std::string(100'000, '7') + "3";
  for (const std::string& text : {std::string{"9007199254740993"}, std::string{"-9007199254740993"},
                                  std::string{"9223372036854775808"}, std::string{"18446744073709551616"},
                                  std::string{"123456789012345678901234567890"}, long_one, "-" + long_one}) {
    EXPECT_EQ(canonical_json(text), text);
  }
}

TEST(ExactIntegers, AreOneHoweverTheyAreWritten) {
  EXPECT_EQ(canonical_json("9007199254740993.0"), "9007199254740993");
  EXPECT_EQ(canonical_json("9007199254740993e0"), "9007199254740993");
  EXPECT_EQ(canonical_json("9.007199254740993e15"), "9007199254740993");
  EXPECT_EQ(canonical_json("-90071992547409930000e-4"), "-9007199254740993");
  EXPECT_EQ(canonical_json("1e21"), "1" + std::string(21, '0'));
  EXPECT_EQ(canonical_json("0." + std::string(30, '0') + "7e31"), "7");
}

TEST(ExactIntegers, WithFractionOrExponentHaveAtMost400Digits) {
  constexpr const char* reason = "1: an integer written with a fraction or exponent has more than 400 digits";
  EXPECT_EQ(canonical_json("[1e399]"), "[1" + std::string(399, '0') + "]");
  EXPECT_EQ(canonical_json("[-1.5e399]"), "[-15" + std::string(398, '0') + "]");
  EXPECT_EQ(refusal("[1e400]"), reason);
  EXPECT_EQ(refusal("[0.1e401]"), reason);
  EXPECT_EQ(refusal("[1e999999999999999999999]"), reason);
  EXPECT_EQ(refusal("[1e9223372036854775807]"), reason);
  EXPECT_EQ(canonical_json(std::string(400, '9') + ".0"), std::string(400, '9'));
  EXPECT_EQ(refusal("[" + std::string(401, '9') + ".0]"), reason);
}

TEST(ExactIntegers, LongZerosAndExponentsCancelOut) {
  const std::string zeros(1'000'000, '0');
  EXPECT_EQ(canonical_json("0." + zeros + "5e1000001"), "5");
  EXPECT_EQ(canonical_json("5" + zeros + "e-1000001"), "0.5");
  EXPECT_EQ(canonical_json("0." + zeros + "5e1000000", rfc8785), "0.5");
  EXPECT_EQ(canonical_json("5" + zeros + ".0e-1000000", rfc8785), "5");
  EXPECT_EQ(canonical_json("1e-" + zeros + "1"), "0.1");
}

TEST(ExactIntegers, LeaveOtherNumbersToTheDoubles) {
  EXPECT_EQ(canonical_json("9007199254740993.5"), "9007199254740994");
  EXPECT_EQ(refusal(std::string(310, '9') + ".5"), "0: a number is beyond the range of an IEEE 754 double");
  // The nearest double is integral: it is written as the integer that it is, so that the form is its own
  // form.
  EXPECT_EQ(canonical_json("1000000000000000000000.5"), "1" + std::string(21, '0'));
}

}  // namespace
