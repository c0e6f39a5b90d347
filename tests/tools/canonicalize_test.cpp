#include <gtest/gtest.h>

#include "tools/run_idemctl.hpp"

namespace idem::test {
namespace {

using namespace std::string_literals;

Ended canonicalize(const std::string& json) {
  return run_idemctl({"canonicalize"}, {.in = json});
}

void expect_printed(const Ended& run, const std::string& out) {
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, out);
  EXPECT_EQ(run.error, "");
}

TEST(IdemctlCanonicalize, WritesTheCanonicalFormWithoutANewline) {
  expect_printed(canonicalize(" { \"b\" : 1.0e2 , \"a\" : [ true , \"\\u20ac\\/\" ] } \n"),
                 "{\"a\":[true,\"\xe2\x82\xac/\"],\"b\":100}");
}

TEST(IdemctlCanonicalize, OrdersMembersByUtf16CodeUnits) {
  // U+1F600 is a surrogate pair and sorts before U+FB33, though its code point is larger.
  expect_printed(canonicalize(R"({"\ufb33":1,"\ud83d\ude00":2})"),
                 "{\"\xf0\x9f\x98\x80\":2,\"\xef\xac\xb3\":1}");
}

TEST(IdemctlCanonicalize, KeepsEveryDigitOfAnIntegerUnlessRfc8785IsAsked) {
  expect_printed(canonicalize("[9007199254740993]"), "[9007199254740993]");
  expect_printed(run_idemctl({"canonicalize", "--rfc8785"}, {.in = "[9007199254740993]"}),
                 "[9007199254740992]");
}

TEST(IdemctlCanonicalize, WritesNumbersAsEcmaScriptDoes) {
  expect_printed(
      run_idemctl({"canonicalize", "--rfc8785"}, {.in = "[333333333.33333329,1E30,4.50,2e-3,1e-27,-0]"}),
      "[333333333.3333333,1e+30,4.5,0.002,1e-27,0]");
}

TEST(IdemctlCanonicalize, RefusesAMemberNameThatOccursTwice) {
  expect_refused(canonicalize(R"({"a":1,"\u0061":2})"),
                 "invalid JSON at byte 7: a member name occurs twice in one object");
}

TEST(IdemctlCanonicalize, RefusesWhatFollowsTheValue) {
  expect_refused(canonicalize("{}\0"s), "invalid JSON at byte 2: there must be nothing after the value");
  expect_refused(canonicalize("1 2"), "invalid JSON at byte 2: there must be nothing after the value");
}

TEST(IdemctlCanonicalize, RefusesAByteOrderMark) {
  expect_refused(canonicalize("\xef\xbb\xbf{}"), "invalid JSON at byte 0: a byte order mark is not allowed");
}

TEST(IdemctlCanonicalize, RefusesInvalidUtf8AndHalfASurrogatePair) {
  expect_refused(canonicalize("\"\xc3(\""), "invalid JSON at byte 2: invalid UTF-8");
  expect_refused(canonicalize(R"("\ud83d")"), "invalid JSON at byte 1: half a surrogate pair");
}

TEST(IdemctlCanonicalize, RefusesNothingAtAll) {
  expect_refused(canonicalize(""), "invalid JSON at byte 0: the text ends too early");
}

TEST(IdemctlCanonicalize, ToldErrorsHoldNothingOfTheInput) {
  const Ended run = canonicalize("{\"card\":4111111111111111");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.error.find("4111"), std::string::npos);
  EXPECT_EQ(run.error.find("card"), std::string::npos);
}

TEST(IdemctlCanonicalize, RefusesAHundredThousandNestedArrays) {
  expect_refused(canonicalize(std::string(100'000, '[') + std::string(100'000, ']')),
                 "invalid JSON at byte 512: nested deeper than the limit of 512 levels");
}

TEST(IdemctlCanonicalize, StopsReadingWhereTheInputIsTooLong) {
  // It never ends, so that only a bounded read comes back.
  const Ended run = run_idemctl({"canonicalize"}, {.in_file = "/dev/zero"});
  expect_refused(run, "invalid JSON at byte 16777216: the text is longer than the limit of 16777216 bytes");
  EXPECT_LT(run.peak_kib, most_kib);
}

}  // namespace
}  // namespace idem::test
