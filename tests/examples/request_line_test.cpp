#include "request_line.hpp"

#include <gtest/gtest.h>

#include <string>

namespace payments {
namespace {

std::string line_with_body(const std::string& body) {
  return R"({"principal":"ann","key":"k","body":)" + body + "}";
}

std::string line_with_amount(const std::string& amount) {
  return line_with_body(R"({"amount_cents":)" + amount +
                        R"(,"currency":"EUR","offering_id":"cpp-20","payment_method_token":"tok"})");
}

std::string line_of(const std::string& principal, const std::string& key) {
  return R"({"principal":)" + principal + R"(,"key":)" + key +
         R"(,"body":{"amount_cents":1290,"currency":"EUR","offering_id":"cpp-20","payment_method_token":"tok"}})";
}

idem::Fingerprint fingerprint_of(const std::string& line) {
  return RequestLineReader{}.read(line).command.fingerprint;
}

std::string reason(const std::string& line) {
  try {
    (void)RequestLineReader{}.read(line);
    return "accepted";
  } catch (const BadRequest& refused) {
    return refused.what();
  }
}

TEST(RequestLine, IsReadIntoTheKeyAndTheOrder) {
  const PaymentRequest request = RequestLineReader{}.read(line_with_amount("1290"));
  EXPECT_EQ(request.command.key, (idem::Key{"ann", "POST /payments", "k"}));
  EXPECT_EQ(request.order.amount_cents, 1290);
  EXPECT_EQ(request.order.currency, "EUR");
  EXPECT_EQ(request.order.offering_id, "cpp-20");
}

TEST(RequestLine, OneAmountHasOneFingerprintHoweverItIsWritten) {
  const idem::Fingerprint plain = fingerprint_of(line_with_amount("1290"));
  for (const char* spelling : {"1290.0", "1.29e3", "1290.000", "12900e-1", "0.129E+4", "1290e0"}) {
    EXPECT_EQ(fingerprint_of(line_with_amount(spelling)), plain) << spelling;
    EXPECT_EQ(RequestLineReader{}.read(line_with_amount(spelling)).order.amount_cents, 1290) << spelling;
  }
  EXPECT_NE(fingerprint_of(line_with_amount("1291")), plain);
}

TEST(RequestLine, AmountsThatOneDoubleWouldFoldStayDifferent) {
  EXPECT_NE(fingerprint_of(line_with_amount("9007199254740993")),
            fingerprint_of(line_with_amount("9007199254740992")));
  EXPECT_EQ(RequestLineReader{}.read(line_with_amount("9007199254740993")).order.amount_cents,
            9007199254740993);
  EXPECT_EQ(RequestLineReader{}.read(line_with_amount("9223372036854775807")).order.amount_cents,
            9223372036854775807);
}

TEST(RequestLine, OnlyTheFourMembersOfTheBodyMakeTheFingerprint) {
  const idem::Fingerprint plain = fingerprint_of(line_with_amount("1290"));
  EXPECT_EQ(
      fingerprint_of(
          "  { \"trace\": [1], \"body\": { \"payment_method_token\": \"tok\", \"client_time\": \"12:00\",\n"
          "\"offering_id\": \"cpp\\u002d20\", \"currency\": \"EUR\", \"amount_cents\": 1290 },\r"
          "\"key\": \"other\", \"principal\": \"bob\" }\r"),
      plain);
  const auto changed = [](const char* currency, const char* offering, const char* token) {
    return fingerprint_of(line_with_body(std::string{R"({"amount_cents":1290,"currency":")"} + currency +
                                         R"(","offering_id":")" + offering + R"(","payment_method_token":")" +
                                         token + R"("})"));
  };
  EXPECT_EQ(changed("EUR", "cpp-20", "tok"), plain);
  EXPECT_NE(changed("USD", "cpp-20", "tok"), plain);
  EXPECT_NE(changed("EUR", "cpp-23", "tok"), plain);
  EXPECT_NE(changed("EUR", "cpp-20", "tok2"), plain);
}

TEST(RequestLine, WhatIsNotJsonWithOneMeaningIsRefused) {
  EXPECT_EQ(reason(""), "invalid JSON at byte 0: the text ends too early");
  EXPECT_EQ(reason("\r"), "invalid JSON at byte 1: the text ends too early");
  EXPECT_EQ(reason("\xEF\xBB\xBF{}"), "invalid JSON at byte 0: a byte order mark is not allowed");
  for (const std::string& line :
       {std::string{"nope"}, line_with_amount("01290"), line_with_amount("1290,"), line_with_amount("NaN"),
        line_with_amount("1e400"), line_with_amount("1290") + "x",
        line_with_amount("1290") + std::string{'\0'}, line_with_amount("1290").substr(0, 40),
        line_of("\"ann\"", "\"\xFF\""), line_of("\"ann\"", R"("\ud800")"),
        line_of("\"ann\"", R"("k","key":"k2")"), line_with_amount(R"(1290,"amount_cents":1291)"),
        line_with_amount(R"(1290,"amount\u005fcents":1290)"),
        line_with_amount(R"(1290,"ignored":{"a":1,"a":2})"),
        line_with_amount("1290,\"ignored\":" + std::string(100000, '['))}) {
    EXPECT_TRUE(reason(line).starts_with("invalid JSON at byte ")) << line.substr(0, 120);
  }
}

TEST(RequestLine, LongerThanTheLimitIsRefused) {
  const RequestLineReader reader;
  const std::string line(reader.max_line_bytes() + 1, ' ');
  EXPECT_EQ(reason(line),
            "invalid JSON at byte 16777216: the text is longer than the limit of 16777216 bytes");
}

TEST(RequestLine, AMissingMemberOrAnotherTypeIsRefusedByName) {
  EXPECT_EQ(reason("null"), "the request must be an object");
  EXPECT_EQ(reason("[]"), "the request must be an object");
  EXPECT_EQ(reason("{}"), "principal is missing");
  EXPECT_EQ(reason(R"({"principal":"ann"})"), "key is missing");
  EXPECT_EQ(reason(R"({"principal":"ann","key":"k"})"), "body is missing");
  EXPECT_EQ(reason(line_of("null", "\"k\"")), "principal must be a string");
  EXPECT_EQ(reason(line_of("\"ann\"", "7")), "key must be a string");
  for (const char* body : {"null", "[]", "\"text\"", "1"})
    EXPECT_EQ(reason(line_with_body(body)), "body must be an object");
  EXPECT_EQ(reason(line_with_body("{}")), "body.amount_cents is missing");
  EXPECT_EQ(reason(line_with_body(R"({"amount_cents":1})")), "body.currency is missing");
  EXPECT_EQ(reason(line_with_body(R"({"amount_cents":1,"currency":"EUR"})")), "body.offering_id is missing");
  EXPECT_EQ(reason(line_with_body(R"({"amount_cents":1,"currency":"EUR","offering_id":"o"})")),
            "body.payment_method_token is missing");
  EXPECT_EQ(reason(line_with_body(
                R"({"amount_cents":1,"currency":5,"offering_id":"o","payment_method_token":"t"})")),
            "body.currency must be a string");
  EXPECT_EQ(reason(line_with_body(
                R"({"amount_cents":1,"currency":"E","offering_id":{},"payment_method_token":"t"})")),
            "body.offering_id must be a string");
  EXPECT_EQ(reason(line_with_body(
                R"({"amount_cents":1,"currency":"E","offering_id":"o","payment_method_token":null})")),
            "body.payment_method_token must be a string");
}

TEST(RequestLine, AnAmountIsAnIntegerFromOneTo64Bits) {
  for (const std::string& amount :
       {std::string{"\"1290\""}, std::string{"12.5"}, std::string{"0"}, std::string{"-0.0"},
        std::string{"-1"}, std::string{"-1290"}, std::string{"true"}, std::string{"null"},
        std::string{"[1290]"}, std::string{"{}"}, std::string{"9223372036854775808"},
        std::string{"18446744073709551615"}, std::string{"18446744073709551616"}, std::string{"1e300"}}) {
    EXPECT_EQ(reason(line_with_amount(amount)),
              "body.amount_cents must be an integer from 1 to 9223372036854775807")
        << amount;
  }
  // Longer than a double can say, and still an integer for idem.
  EXPECT_EQ(reason(line_with_amount(std::string(500, '9'))), "a number is too large");
}

std::string line_with_redelivery(const std::string& value) {
  const std::string line = line_with_amount("1290");
  return line.substr(0, line.size() - 1) + R"(,"redeliver_event":)" + value + "}";
}

TEST(RequestLine, ARedeliveryIsAskedForBesideTheBody) {
  const auto read = [](const std::string& line) { return RequestLineReader{}.read(line).redelivery; };
  EXPECT_EQ(read(line_with_amount("1290")), Redelivery::none);
  EXPECT_EQ(read(line_with_redelivery("false")), Redelivery::none);
  EXPECT_EQ(read(line_with_redelivery("true")), Redelivery::same_event);
  EXPECT_EQ(read(line_with_redelivery("\"new_id\"")), Redelivery::new_id);
  EXPECT_EQ(read(line_with_redelivery("\"new\\u005fid\"")), Redelivery::new_id);
  // In the body it is a member like any other.
  EXPECT_EQ(read(line_with_amount(R"(1290,"redeliver_event":true)")), Redelivery::none);
  for (const char* value :
       {"null", "0", "1", "\"\"", "\"true\"", "\"NEW_ID\"", "\"new_id \"", "[]", "[true]", "{}"}) {
    EXPECT_EQ(reason(line_with_redelivery(value)), "redeliver_event must be true, false or \"new_id\"")
        << value;
  }
  EXPECT_TRUE(
      reason(line_with_redelivery(R"(true,"redeliver_event":true)")).starts_with("invalid JSON at byte "));
}

TEST(RequestLine, ARedeliveryIsNotAPartOfTheFingerprint) {
  for (const char* value : {"false", "true", "\"new_id\""}) {
    EXPECT_EQ(fingerprint_of(line_with_redelivery(value)), fingerprint_of(line_with_amount("1290"))) << value;
  }
}

TEST(RequestLine, ABadKeyIsRefused) {
  const auto quoted = [](const std::string& text) { return '"' + text + '"'; };
  EXPECT_EQ(reason(line_of("\"ann\"", "\"\"")), "the key is empty: it must have 1 to 255 bytes");
  EXPECT_EQ(reason(line_of("\"\"", "\"k\"")), "the principal is empty: it must have 1 to 255 bytes");
  EXPECT_EQ(reason(line_of("\"ann\"", quoted(std::string(255, 'k')))), "accepted");
  EXPECT_EQ(reason(line_of("\"ann\"", quoted(std::string(256, 'k')))),
            "the key has 256 bytes: at most 255 are allowed");
  EXPECT_EQ(reason(line_of("\"ann\"", R"("a\u0000b")")), "the key holds a NUL byte, which is not allowed");
}

TEST(RequestLine, ATextThatNoColumnCanHoldIsRefused) {
  const auto with_offering = [](const std::string& offering) {
    return reason(line_with_body(R"({"amount_cents":1,"currency":"EUR","offering_id":")" + offering +
                                 R"(","payment_method_token":"t"})"));
  };
  EXPECT_EQ(with_offering(""), "body.offering_id must have 1 to 255 bytes and no NUL");
  EXPECT_EQ(with_offering(R"(a\u0000b)"), "body.offering_id must have 1 to 255 bytes and no NUL");
  EXPECT_EQ(with_offering(std::string(256, 'o')), "body.offering_id must have 1 to 255 bytes and no NUL");
  EXPECT_EQ(with_offering(std::string(255, 'o')), "accepted");
}

}  // namespace
}  // namespace payments
