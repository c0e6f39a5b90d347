#include "idem/request/fingerprint.hpp"

#include <gtest/gtest.h>

#include "tools/run_idemctl.hpp"

namespace idem::test {
namespace {

/// The line printed, without its end.
std::string printed(const Ended& run) {
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(run.out.size(), 67U);
  EXPECT_EQ(run.out.find('\n'), run.out.size() - 1);
  return run.out.substr(0, run.out.find('\n'));
}

std::string fingerprint_of(const std::string& body, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {"fingerprint", "--operation", "POST /payments"});
  return printed(run_idemctl(options, {.in = body}));
}

TEST(IdemctlFingerprint, IsWhatTheLibraryMakesOfTheSameRequest) {
  const std::string body = R"({"amount_cents":1290})";
  EXPECT_EQ(fingerprint_of(body), Fingerprinter{}({.operation = "POST /payments", .body = body}).hex());
}

TEST(IdemctlFingerprint, TakesMethodAndQueryAsAServiceDoes) {
  const std::string body = R"({"amount_cents":1290})";
  EXPECT_EQ(fingerprint_of(body, {"--method", "POST", "--query", "dry=1"}),
            Fingerprinter{}({.method = "POST", .operation = "POST /payments", .query = "dry=1", .body = body})
                .hex());
  EXPECT_EQ(fingerprint_of(body, {"--method=", "--query="}), fingerprint_of(body));
}

TEST(IdemctlFingerprint, IsOneForEverySpellingOfARequest) {
  const std::string one = fingerprint_of(R"({"amount":1290,"currency":"EUR"})");
  EXPECT_EQ(fingerprint_of(R"({"amount":1290.0,"currency":"EUR"})"), one);
  EXPECT_EQ(fingerprint_of(R"({"amount":1.29e3,"currency":"EUR"})"), one);
  EXPECT_EQ(fingerprint_of(R"({ "currency" : "\u0045UR", "amount" : 1290 })"), one);
}

TEST(IdemctlFingerprint, TellsAbsentNullAndTextApart) {
  EXPECT_NE(fingerprint_of("{}"), fingerprint_of(R"({"a":null})"));
  EXPECT_NE(fingerprint_of(R"({"a":null})"), fingerprint_of(R"({"a":"null"})"));
  EXPECT_NE(fingerprint_of(R"({"a":5})"), fingerprint_of(R"({"a":"5"})"));
}

TEST(IdemctlFingerprint, TellsIntegersBeyondTheDoublesApart) {
  EXPECT_NE(fingerprint_of("9007199254740992"), fingerprint_of("9007199254740993"));
}

TEST(IdemctlFingerprint, TellsOperationsApart) {
  EXPECT_NE(fingerprint_of("{}"),
            printed(run_idemctl({"fingerprint", "--operation=POST /refunds"}, {.in = "{}"})));
}

TEST(IdemctlFingerprint, CountsOnlyIncludedMembers) {
  const std::vector<std::string> include{"--include", "/amount", "--include=/to/account"};
  EXPECT_EQ(fingerprint_of(R"({"amount":1,"to":{"account":7,"name":"A"},"sent":"9:00"})", include),
            fingerprint_of(R"({"amount":1,"to":{"account":7,"name":"B"},"sent":"9:01"})", include));
  EXPECT_NE(fingerprint_of(R"({"amount":1,"to":{"account":7}})", include),
            fingerprint_of(R"({"amount":1,"to":{"account":8}})", include));
}

TEST(IdemctlFingerprint, LeavesExcludedMembersOut) {
  const std::vector<std::string> exclude{"--exclude", "/id", "--exclude", "/meta/ts"};
  EXPECT_EQ(fingerprint_of(R"({"amount":1,"id":"x","meta":{"ts":1}})", exclude),
            fingerprint_of(R"({"amount":1,"id":"y","meta":{"ts":2}})", exclude));
  EXPECT_NE(fingerprint_of(R"({"amount":1,"id":"x"})", exclude),
            fingerprint_of(R"({"amount":2,"id":"x"})", exclude));
}

TEST(IdemctlFingerprint, TakesAnotherContentTypesBytesAsTheyAre) {
  const std::vector<std::string> text{"--content-type", "text/plain; charset=utf-8"};
  EXPECT_NE(fingerprint_of("{}", text), fingerprint_of("{ }", text));
  EXPECT_NE(fingerprint_of("{}", text), fingerprint_of("{}"));
}

TEST(IdemctlFingerprint, RefusesWhatIsNoPointer) {
  expect_refused(run_idemctl({"fingerprint", "--operation", "o", "--include", "amount"}, {.in = "{}"}),
                 "the JSON Pointer \"amount\" must be empty or begin with '/'");
  expect_refused(run_idemctl({"fingerprint", "--operation", "o", "--exclude", "/a~2"}, {.in = "{}"}),
                 "the JSON Pointer \"/a~2\" has a '~' that is not followed by 0 or 1");
  expect_refused(run_idemctl({"fingerprint", "--operation", "o", "--exclude", ""}, {.in = "{}"}),
                 "the JSON Pointer \"\" would exclude the whole document");
}

TEST(IdemctlFingerprint, TellsAWrongPointerOnOneLine) {
  expect_refused(run_idemctl({"fingerprint", "--operation", "o", "--include", "a\nb\x1b[2J"}, {.in = "{}"}),
                 R"(the JSON Pointer "a\x0ab\x1b[2J" must be empty or begin with '/')");
}

TEST(IdemctlFingerprint, RefusesPointersIntoWhatIsNotJson) {
  expect_refused(
      run_idemctl({"fingerprint", "--operation", "o", "--include", "/a", "--content-type", "text/plain"},
                  {.in = "{}"}),
      "the body has to be JSON, of which members are compared, and its content type is another: send "
      "Content-Type: application/json");
}

TEST(IdemctlFingerprint, RefusesBadJson) {
  expect_refused(run_idemctl({"fingerprint", "--operation", "o"}, {.in = "{\"a\":01}"}),
                 "invalid JSON at byte 6: a number must not have leading zeros");
}

TEST(IdemctlFingerprint, StopsReadingWhereTheBodyIsTooLong) {
  const Ended run =
      run_idemctl({"fingerprint", "--operation", "o", "--content-type", "application/octet-stream"},
                  {.in_file = "/dev/zero"});
  expect_refused(run, "standard input is longer than the limit of 16777216 bytes");
  EXPECT_LT(run.peak_kib, most_kib);
}

}  // namespace
}  // namespace idem::test
