#include "idem/response/card_guard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "idem/base/uuid.hpp"
#include "sha256.hpp"
#include "shared_cases.hpp"

namespace {

using namespace std::string_literals;
using idem::CardData;
using idem::find_card_data;

/// "number", "security code" or "nothing".
std::string found(std::string_view text) {
  const auto data = find_card_data(text);
  if (!data) return "nothing";
  return *data == CardData::number ? "number" : "security code";
}

// The numbers that acquirers and issuers publish for tests. They are nobody's.
const std::vector<std::string> cards{
    "4242424242424242", "4000056655665556", "4012888888881881", "5555555555554444",    "2223003122003222",
    "5200828282828210", "5105105105105100", "378282246310005",  "371449635398431",     "6011111111111117",
    "6011000990139424", "6011981111111113", "3056930009020004", "36227206271667",      "6555900000604105",
    "3566002020360505", "6200000000000005", "6200000000000047", "6205500000000000004", "4000000000000002",
    "4000000000009995", "4111111111111111", "4988438843884305", "4166676667666746",    "4646464646464644",
    "4444333322221111", "5100290029002909", "5577000055770004", "5136333333333335",    "5585558555855583",
    "5555444433331111", "5500000000000004", "5424000000000015", "370000000000002",     "4500600000000061",
    "4009348888881881", "2223000048400011", "6304000000000000", "36259600000004",      "30569309025904",
    "38520000023237",   "3530111333300000", "4222222222222"};

// No check digit, a time in ms, a time in microseconds, a time in nanoseconds, nothing.
const std::vector<std::string> traps{"4242424242424241", "1548138160707", "1747919220567223",
                                     "1748000000000000000", "0000000000000000"};

std::string grouped(std::string_view digits, const std::vector<std::size_t>& sizes, char separator) {
  std::string text;
  std::size_t pos = 0;
  for (const std::size_t size : sizes) {
    if (pos >= digits.size()) break;
    if (pos > 0) text += separator;
    text += digits.substr(pos, size);
    pos += size;
  }
  return text;
}

std::string escaped(std::string_view digits, std::string_view before) {
  std::string text;
  for (const char c : digits) (text += before) += c;
  return text;
}

/// A number in every surrounding that it is looked for in.
std::vector<std::string> spellings(const std::string& digits) {
  const auto n = digits.size();
  const std::vector<std::size_t> as_printed = n == 13   ? std::vector<std::size_t>{4, 3, 3, 3}
                                              : n == 14 ? std::vector<std::size_t>{4, 6, 4}
                                              : n == 15 ? std::vector<std::size_t>{4, 6, 5}
                                                        : std::vector<std::size_t>{4, 4, 4, 4, 4};
  const std::vector<std::size_t> fours{4, 4, 4, 4, 4};
  std::vector<std::string> all{
      digits,
      "\"" + digits + "\"",
      R"({"card":{"number":")" + digits + R"(","exp_month":12}})",
      R"({"number":)" + digits + "}",
      R"({"number": )" + digits + R"( , "x":1})",
      "[1," + digits + ",2]",
      "-" + digits,
      digits + ".0",
      R"({"n":)" + digits + ".00}",
      digits.substr(0, 1) + "." + digits.substr(1) + "e" + std::to_string(n - 1),
      "[" + digits.substr(0, 1) + "." + digits.substr(1) + "E+" + std::to_string(n - 1) + "]",
      digits + "e0",
      digits + "000E-3",
      "0." + digits + "e0" + std::to_string(n),
      "test_" + digits,
      "_" + digits + "_",
      "note; pan=" + digits + "; q=1",
      "pan: " + digits + ".",
      "Paid with " + digits + ", thanks",
      "It was " + digits + ". Thanks",
      digits + ".pdf",
      "amount=1290&number=" + digits + "&exp=12%2F27",
      "number=" + grouped(digits, as_printed, '+') + "&x=1",
      "number%3D%22" + digits + "%22",
      "x=%C3%A9%C2%A0" + digits,
      digits + " 12/27 123",
      "1 " + digits,
      "2026-01-31 " + digits,
      digits + " " + digits,
      "<pan>" + digits + "</pan>",
      ";" + digits + "=25121010000012345678?",
      "%B" + digits + "^DOE/JOHN^25121010000012345678?",
      R"("pan\n)" + digits + R"(\n")",
      R"({"payload":"{\"pan\":\")" + digits + R"(\"}"})",
      "\"" + escaped(digits, "\\u003") + "\"",
      "\"" + escaped(digits, "\\\\u003") + "\"",
      R"("\u003)" + digits.substr(0, 1) + digits.substr(1) + "\"",
      escaped(digits, "%3"),
      grouped(digits, as_printed, ' '),
      grouped(digits, as_printed, '-'),
      grouped(digits, fours, ' '),
      R"({"n":")" + grouped(digits, fours, '-') + R"("})",
      "n=" + grouped(digits, as_printed, ' ') + ".",
      "12 " + grouped(digits, as_printed, ' ') + " 12 27 123",
      "1001-" + grouped(digits, as_printed, '-') + "-12",
      "2026-01-31 " + grouped(digits, as_printed, ' '),
      grouped(digits, as_printed, ' ') + " 1227",
      "number=" + grouped(digits, fours, '\x01'),
      "\0\xff"s + digits + "\0\xfe"s,
      "\xc2\xa0" + digits + "\xe2\x82\xac",
  };
  // The one with a separator of its own is encoded.
  for (std::string& text : all) {
    for (std::size_t at = 0; (at = text.find('\x01', at)) != std::string::npos;) text.replace(at, 1, "%20");
  }
  return all;
}

bool in(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

TEST(CardGuard, FindsEveryNumberInEverySurrounding) {
  for (const std::string& card : cards) {
    for (const std::string& text : spellings(card)) EXPECT_EQ(found(text), "number") << text;
  }
}

TEST(CardGuard, LeavesEveryTrapAloneInEverySurrounding) {
  for (const std::string& trap : traps) {
    for (const std::string& text : spellings(trap)) EXPECT_EQ(found(text), "nothing") << text;
  }
}

TEST(CardGuard, AgreesWithTheSharedCases) {
  const std::filesystem::path path = idem::test::shared_cases() / "cards/test-pans.json";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "NOT CHECKED: there is no " << path
                 << "; set IDEM_SHARED_CASES to the folder that holds cards/";
  }
  std::ifstream file{path};
  std::size_t vectors = 0;
  for (const auto& vector : nlohmann::json::parse(file)) {
    const std::string digits = vector.at("pan");
    const bool card = vector.at("luhn").get<bool>() && vector.at("source") != "false-positive";
    for (const std::string& text : spellings(digits)) {
      EXPECT_EQ(found(text), card ? "number" : "nothing") << text;
    }
    EXPECT_TRUE(in(card ? cards : traps, digits)) << digits << " is missing above";
    ++vectors;
  }
  EXPECT_EQ(vectors, cards.size() + traps.size());
}

TEST(CardGuard, LeavesOtherNumbersAlone) {
  for (const std::string& text : {
           ""s,
           "4242"s,
           "42424242424242424242"s,  // 20 digits
           "14242424242424242"s,     // another digit beside it
           "42424242424242421"s,
           "0004242424242424242"s,
           "5942424242424242"s,  // no issuer
           "9792030000000000"s,
           "4000000000000010001"s,  // no check digit
           "1.4242424242424242"s,   // fractions
           "0.4111111111111111"s,
           "[-0.4111111111111111]"s,
           "4242424242424242.5"s,
           "4242424242424242.01"s,
           "10.0.4242424242424242"s,
           "4242424242424242.0.1"s,
           "4.242424242424242e14"s,  // other powers of ten
           "4.242424242424242e16"s,
           "4.2e15"s,
           "fc7c2242-9c99-46de-85ff-6567337055e7"s,  // its end is no power of ten
           "6567337055e7"s,
           "4242424242424242e999999999999999999999"s,
           "4242424242424242e-99999999999999999999"s,
           "2026-01-31T23:59:59.123456789Z"s,
           "20260131235959123"s,
           "Sat, 31 Jan 2026 23:59:59 GMT"s,
           "+4915123456795"s,  // a phone's, and 4915123456795 has a right check digit
           "tel=%2B4915123456795"s,
           "+4915 123 456 795"s,
           "+1 (415) 555-2671"s,
           "4006381330060"s,  // an article's
           "5018374000088"s,
           "978-3-16-148410-0"s,
           "DE89370400440532013000"s,  // IBANs
           "GB82WEST12345698765432"s,
           "NL91ABNA0417164300"s,
           "GB29 LOYD 3096 3412 3456 08"s,
           "DE12 4242 4242 4242 4242 00"s,
           "PAID BY DIRECT DEBIT FROM THE ACCOUNT DE12 4242 4242 4242 4242 00"s,
           "iban=DE12+4242+4242+4242+4242+00"s,
           "0x4242424242424242a"s,
           "a4242424242424242"s,
           "4242424242424242f"s,
           "424242424242424-2"s,
           "4242  4242 4242 4242"s,
           "4242-4242 4242-4242"s,
           "4242,4242,4242,4242"s,
           "4242 4242 4242 42424"s,
           "44242 4242 4242 4242"s,
           "4242 4242 4242 424"s,
           R"(\u4242424242424242)"s,  // a Chinese character, and twelve digits
           "pi_3MtwBwLkdIwHu7ix28a3tqPa"s,
           "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"s,
           "41111111-1111-4111-8111-111111111111"s,
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"s,
       }) {
    EXPECT_EQ(found(text), "nothing") << text;
  }
}

TEST(CardGuard, SkipsWhatStandsBeforeANumber) {
  for (const std::string& text : {
           "DE89 3704 0044 0532 0130 00, 4242 4242 4242 4242"s,
           "DE89 3704 0044 0532 0130 00 4242424242424242"s,
           "DE12 1111 1111 1111 1111 1111 1111 1111 1111 4242 4242 4242 4242"s,
           "1.5 4242 4242 4242 4242"s,
           "4915123456795"s,
           "1 4915 123 456 795"s,
           "+49 151 4242424242424242"s,
           "1111 1111 1111 1111 4242 4242 4242 4242"s,
           "3 11 7 5 9 2 4242-4242-4242-4242"s,
           R"(C:\temp\\\\" 4242424242424242)"s,
           "\\4242424242424242"s,
           "\\u12 4242424242424242"s,
           "%4242424242424242"s,
           "%zz 4242424242424242%"s,
           "4242424242424242\\"s,
           "4242424242424242\\u"s,
           "4242424242424242%"s,
       }) {
    EXPECT_EQ(found(text), "number") << text;
  }
}

TEST(CardGuard, FindsSecurityCodes) {
  for (const char* name : {"cvv", "cvc", "cvv2", "cvc2", "csc", "cav2", "cvn", "CVC", "cvvCode",
                           "cardVerificationValue", "card_verification_code", "Card-Security-Code",

                           "securityCode", "security_code", "cardCvv", "card_cvc", "cardCid",
                           "creditCardSecurityCode", "\\u0063vc"}) {
    const std::string member = "\""s + name + "\"";
    for (const std::string& text : {
             "{" + member + ":\"737\"}",
             "{" + member + ":737}",
             "{" + member + ":7373}",
             "{" + member + ": 0737\n}",
             R"({"a":[{"b":{"c":1},)" + member + R"( : "7373" ,"d":2}]})",
             "{" + member + "\n:\n\"737\"}",
             name + "=737"s,
             "a=1&"s + name + "=7373&b=2",
             "a=1&card["s + name + "]=737",
             "a=1&card%5B"s + name + "%5D=737",
             "card."s + name + "=737",
             "a=1; "s + name + "=737",
             "declined with "s + name + ": 737",
             "Content-Disposition: form-data; name=" + member + "\r\n\r\n737\r\n--x",
             "<card><"s + name + ">737</" + name + "></card>",
             "<card "s + name + "='737'/>",
         }) {
      EXPECT_EQ(found(text), "security code") << text;
    }
  }
  EXPECT_EQ(found(R"({"payload":"{\"cvc\":\"737\"}"})"), "security code");
  EXPECT_EQ(found(R"({"payload":"{\"a\":\"{\\\"cvc\\\":\\\"737\\\"}\"}"})"), "security code");
  EXPECT_EQ(found("payload=%7B%22cvc%22%3A%22737%22%7D"), "security code");
  EXPECT_EQ(found("a=1&card+security+code=737"), "security code");
  EXPECT_EQ(found(R"({"Card security code":"737"})"), "security code");
  EXPECT_EQ(found(R"({"cvc":"\u0037\u0033\u0037"})"), "security code");
  EXPECT_EQ(found(std::string(100'000, '[') + R"({"cvc":737})"), "security code");
}

TEST(CardGuard, LeavesOtherMembersAlone) {
  for (const std::string& text : {
           R"({"cvc_check":"pass"})"s,
           R"({"cvc_check":"737"})"s,
           R"({"cvc":null})"s,
           R"({"cvc":""})"s,
           R"({"cvc":"","amount":737})"s,
           R"({"cvv":"***"})"s,
           R"({"cvv":"7**"})"s,
           R"({"cvv":"M"})"s,
           R"({"cvc":true,"x":737})"s,
           R"({"cvc":73})"s,
           R"({"cvc":73737})"s,
           R"({"cvc":737.5})"s,
           R"({"cvc":"737a"})"s,
           R"({"cvc":"a737"})"s,
           R"({"cvc":"737-1"})"s,
           R"({"cvc":[],"n":737})"s,
           R"({"cid":1234,"amount":737})"s,
           R"({"cardcode":"001"})"s,
           R"({"type":"cvc","amount":737})"s,
           R"(["cvc",737])"s,
           R"({"xcvc":737,"cvcx":737})"s,
           R"({"cvccvccvccvccvccvccvccvccvccvccvccvccvccvccvc":737})"s,
           "cid=1234"s,
           "cvc=&amount=737"s,
           "cvc\r\n737"s,
           "the cvc 737"s,
           R"({"failed cvc":737})"s,
       }) {
    EXPECT_EQ(found(text), "nothing") << text;
  }
}

TEST(CardGuard, TellsWhatComesFirst) {
  EXPECT_EQ(found(R"({"cvc":"737","number":"4242424242424242"})"), "security code");
  EXPECT_EQ(found(R"({"number":"4242424242424242","cvc":"737"})"), "number");
}

TEST(CardGuard, NeverNamesTheMatch) {
  const auto message = [](std::string_view whose, std::string_view text) -> std::string {
    try {
      idem::check_no_card_data(whose, text);
    } catch (const idem::CardDataFound& error) {
      EXPECT_EQ(error.next_step(), idem::NextStep::stop);
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(message("the body", "4242424242424242"), "the body holds a card number");
  EXPECT_EQ(message("the header X-Note", "cvc=737"), "the header X-Note holds a card security code");
  EXPECT_EQ(message("the header X-4242424242424242", "cvc=737"), "what was given holds a card security code");
  EXPECT_EQ(message("the body", R"({"amount":1290})"), "nothing");
  EXPECT_EQ(message("the header X-4242424242424242", "1"), "nothing");
  EXPECT_EQ(idem::to_string(CardData::number), "card number");
  EXPECT_EQ(idem::to_string(CardData::security_code), "card security code");
}

using Random = std::mt19937_64;

/// Each run has the same numbers.
Random seeded(std::uint64_t seed) {
  return Random{seed};
}

std::uint64_t below(Random& random, std::uint64_t end) {
  return std::uniform_int_distribution<std::uint64_t>{0, end - 1}(random);
}

template <class Values>
const auto& one_of(const Values& values, Random& random) {
  return values[below(random, values.size())];
}

// Written otherwise than the library does it: from the right, over the digits without the last.
char check_digit(std::string_view digits) {
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const int digit = digits[digits.size() - 1 - i] - '0';
    sum += i % 2 == 1 ? digit : (2 * digit) / 10 + (2 * digit) % 10;
  }
  return static_cast<char>('0' + (10 - sum % 10) % 10);
}

struct Range {
  std::uint64_t first;
  std::uint64_t last;
  std::vector<std::size_t> lengths;
};

// By what the issuers say; no Visa or Maestro of 13 digits, as some of them are an article's.
const std::vector<Range> ranges{{4, 4, {16, 19}},
                                {51, 55, {16}},
                                {2221, 2720, {16}},
                                {34, 34, {15}},
                                {37, 37, {15}},
                                {6011, 6011, {16, 17, 18, 19}},
                                {622126, 622925, {16, 17, 18, 19}},
                                {644, 649, {16, 17, 18, 19}},
                                {65, 65, {16, 17, 18, 19}},
                                {300, 305, {14, 15, 16, 17, 18, 19}},
                                {309, 309, {14, 16, 19}},
                                {36, 36, {14, 16, 19}},
                                {38, 39, {14, 16, 19}},
                                {3528, 3589, {16, 17, 18, 19}},
                                {62, 62, {16, 17, 18, 19}},
                                {5018, 5018, {14, 15, 16, 17, 18, 19}},
                                {5020, 5020, {16, 19}},
                                {5038, 5038, {16, 19}},
                                {5893, 5893, {16, 19}},
                                {6304, 6304, {14, 16, 19}},
                                {6759, 6759, {16, 19}},
                                {6761, 6763, {16, 19}}};

std::string random_card(Random& random) {
  const Range& range = one_of(ranges, random);
  std::string digits = std::to_string(range.first + below(random, range.last - range.first + 1));
  const std::size_t length = one_of(range.lengths, random);
  while (digits.size() < length - 1) digits += static_cast<char>('0' + below(random, 10));
  return digits + check_digit(digits);
}

TEST(CardGuardProperty, FindsAnyCardAtAnyPlaceInAnyBytes) {
  Random random = seeded(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(below(random, 200), '\0');
    for (char& c : text) c = static_cast<char>(below(random, 256));
    // What stands beside the number has to end its surroundings: no letter, digit or half of an escape.
    const std::string card = random_card(random);
    const std::size_t at = below(random, text.size() + 1);
    std::string whole =
        text.substr(0, at) + one_of(std::vector{" "s, "\""s, ":"s, "_"s, "\n"s, "=\t"s}, random);
    whole += card;
    whole += one_of(std::vector{" "s, "\""s, ","s, "_"s, "\n"s, "}"s, ". "s}, random);
    whole += text.substr(at);
    ASSERT_TRUE(find_card_data(whole)) << card;
  }
}

TEST(CardGuardProperty, LeavesAnyOtherCheckDigitAlone) {
  Random random = seeded(2);
  for (int i = 0; i < 20'000; ++i) {
    std::string digits = random_card(random);
    char& last = digits.back();
    last = static_cast<char>('0' + (last - '0' + 1 + static_cast<int>(below(random, 9))) % 10);
    ASSERT_EQ(found(R"({"n":")" + digits + R"("})"), "nothing") << digits;
  }
}

TEST(CardGuardProperty, LeavesOneDigitMistypedAlone) {
  for (const std::string& card : cards) {
    for (std::size_t i = 0; i < card.size(); ++i) {
      std::string other = card;
      other[i] = other[i] == '9' ? '0' : static_cast<char>(other[i] + 1);
      EXPECT_EQ(found(other), "nothing") << other;
    }
  }
}

std::string random_hex(Random& random, std::size_t size) {
  std::string text;
  while (text.size() < size) text += "0123456789abcdef"[below(random, 16)];
  return text;
}

TEST(CardGuardProperty, LeavesUuidsAndHashesAlone) {
  Random random = seeded(3);
  for (int i = 0; i < 10'000; ++i) {
    std::string uuid = random_hex(random, 32);
    for (const std::size_t at : {8U, 13U, 18U, 23U}) uuid.insert(at, "-");
    ASSERT_EQ(found(uuid), "nothing") << uuid;
    ASSERT_EQ(found(R"({"id":")" + uuid + R"("})"), "nothing") << uuid;
    const std::string hash = idem::test::sha256_hex(std::to_string(i));
    ASSERT_EQ(found(hash), "nothing") << hash;
    ASSERT_EQ(found(R"({"sha256":")" + hash + R"("})"), "nothing") << hash;
    ASSERT_EQ(found(random_hex(random, 32)), "nothing");
    ASSERT_EQ(found(random_hex(random, 40)), "nothing");
    std::array<std::byte, 10> bytes{};
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(below(random, 256));
    const std::chrono::sys_time<std::chrono::milliseconds> now{
        std::chrono::milliseconds{1'764'000'000'000 + i}};
    ASSERT_EQ(found(idem::make_uuid_v7(now, bytes).to_string()), "nothing");
  }
}

// What the digits cannot tell: a 64-bit number in hex is all digits once in 1,800, and one in 38 of these is a card's.
TEST(CardGuardProperty, TakesFewNumbersInHexForCards) {
  Random random = seeded(4);
  int mistaken = 0;
  for (int i = 0; i < 200'000; ++i) mistaken += find_card_data(random_hex(random, 16)) ? 1 : 0;
  EXPECT_LE(mistaken, 12);
}

TEST(CardGuardProperty, LeavesTimesAlone) {
  Random random = seeded(5);
  // 20 years around the end of 2026, in microseconds; from May 2040 on these have the digits of a Mastercard.
  constexpr std::uint64_t first = 1'166'000'000'000'000;
  constexpr std::uint64_t mastercards = 2'221'000'000'000'000;
  constexpr std::uint64_t end = 2'428'000'000'000'000;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t at = first + below(random, end - first);
    const std::uint64_t before_2040 = first + below(random, mastercards - first);
    for (const std::string& text :
         {std::to_string(at / 1'000'000), std::to_string(at / 1'000), std::to_string(before_2040),
          std::to_string(at) + "123",
          std::to_string(at / 1'000'000) + "." + std::to_string(at % 1'000'000 + 1'000'000),
          std::to_string(at / 1'000) + ".0"}) {
      ASSERT_EQ(found(text), "nothing") << text;
      ASSERT_EQ(found(R"({"at":)" + text + "}"), "nothing") << text;
    }
  }
  int mistaken = 0;
  for (int i = 0; i < 10'000; ++i) {
    mistaken += find_card_data(std::to_string(mastercards + below(random, end - mastercards))) ? 1 : 0;
  }
  EXPECT_NEAR(mistaken, 1'000, 150);  // one check digit in ten is right
}

TEST(CardGuardProperty, ReadsAnyBytes) {
  Random random = seeded(6);
  const std::string alphabet = "0123456789424242%\\u+- .eEB^\"':=&>[]cvCVn_\n\x80\xff"s + '\0';
  for (int i = 0; i < 50'000; ++i) {
    std::string text(below(random, 60), '\0');
    for (char& c : text) c = one_of(alphabet, random);
    // What stands behind what was found does not count, and a line of its own is not part of what is around it.
    const auto alone = find_card_data(text);
    EXPECT_EQ(find_card_data(text + "\n"), alone);
    if (alone) {
      EXPECT_EQ(find_card_data(text + "\n4242424242424242"), alone);
    }
  }
}

}  // namespace
