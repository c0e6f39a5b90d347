#include "idem/json/canonical_json.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "sha256.hpp"
#include "shared_cases.hpp"

namespace {

using namespace std::string_literals;
using idem::canonical_json;
using idem::CanonicalJsonOptions;
using idem::InvalidJson;
using idem::JsonNumbers;

constexpr CanonicalJsonOptions rfc8785{.numbers = JsonNumbers::rfc8785};

/// The offset and reason of a refusal, `27: expected ':'`, or the canonical form of what was accepted.
std::string refusal(std::string_view text, const CanonicalJsonOptions& options = {}) {
  try {
    return "accepted as " + canonical_json(text, options);
  } catch (const InvalidJson& error) {
    return std::to_string(error.offset()) + ": " + error.reason();
  }
}

std::string repeated(std::string_view part, std::size_t times) {
  std::string text;
  text.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

TEST(Rfc8785, AgreesWithTheVectorsOfItsAuthor) {
  const std::filesystem::path folder = idem::test::shared_cases() / "jcs";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "NOT CHECKED: there is no " << folder
                 << "; set IDEM_SHARED_CASES to the folder that holds jcs/";
  }
  const auto content = [](const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    EXPECT_TRUE(file) << path;
    return std::string{std::istreambuf_iterator<char>{file}, {}};
  };
  std::size_t vectors = 0;
  for (const auto& entry : std::filesystem::directory_iterator{folder / "input"}) {
    SCOPED_TRACE(entry.path());
    EXPECT_EQ(canonical_json(content(entry.path()), rfc8785),
              content(folder / "output" / entry.path().filename()));
    ++vectors;
  }
  EXPECT_GE(vectors, 6U);
}

// RFC 8785 §3.2.2 and §3.2.3.
TEST(Rfc8785, AgreesWithTheSamplesOfTheRfc) {
  EXPECT_EQ(canonical_json(R"({
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    })",
                           rfc8785),
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
            "\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
  EXPECT_EQ(
      canonical_json(
          R"({"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh",
                              "1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control",
                              "\u00f6":"Latin Small Letter O With Diaeresis"})"),
      "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With "
      "Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With "
      "Dagesh\"}");
  EXPECT_EQ(idem::test::sha256_hex(canonical_json("{ }")),
            "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
}

// Each pair was put in the order of code points, or of UTF-8 bytes, by some implementation.
TEST(CanonicalJsonOrder, IsThatOfUtf16CodeUnits) {
  const std::vector<std::pair<std::string, std::string>> in_order{{"\U0001F600", "\uFB33"},
                                                                  {"\U0001F600", "\uFF20"},
                                                                  {"\U00010000", "\uFFFF"},
                                                                  {"\U00010000", "\uFFFD"},
                                                                  {"zk\U0001F600", "zk\uFFFD"},
                                                                  {"\U0010FFFF", "\uE000"},
                                                                  {"\uD7FF", "\U00010000"},
                                                                  {"\uD7FF", "\uE000"},
                                                                  {"\U00010000", "\U0001F600"},
                                                                  {"\U0001F600", "\U0001F601"},
                                                                  {"\uE000", "\uFFFF"},
                                                                  {"", "a"},
                                                                  {"a", "aa"},
                                                                  {"A", "a"},
                                                                  {"10", "2"},
                                                                  {"\u007f", "\u0080"},
                                                                  {"~", "\u00e9"},
                                                                  {"a\U0001F600", "a\uFB33"}};
  for (const auto& [first, second] : in_order) {
    const std::string expected = "{\"" + first + "\":1,\"" + second + "\":2}";
    EXPECT_EQ(canonical_json(expected), expected);
    EXPECT_EQ(canonical_json("{\"" + second + "\":2,\"" + first + "\":1}"), expected);
  }
  EXPECT_EQ(idem::test::sha256_hex(canonical_json(R"({"\uff20":1,"\ud83d\ude00":1})")),
            "425159f5c1f0575fbcbf9d05a8f60cde3d040eae5166aa2136657564048651b6");
}

TEST(CanonicalJsonOrder, IsThatOfTheUnescapedNames) {
  // Escaped, the quote, the backslash and the controls would stand elsewhere.
  EXPECT_EQ(canonical_json(R"({"]":4,"\\":3,"[":2,"\"":1,"!":0,"\n":-1,"\u0001":-2})"),
            R"({"\u0001":-2,"\n":-1,"!":0,"\"":1,"[":2,"\\":3,"]":4})");
}

TEST(CanonicalJsonOrder, ReachesEveryLevelAndLeavesArraysAlone) {
  EXPECT_EQ(canonical_json(
                R"({"b":[3,{"z":1,"y":{"2":[],"1":{}}},1],"a":{"d":0,"c":{"f":1,"e":[{"q":1,"p":2}]}}})"),
            R"({"a":{"c":{"e":[{"p":2,"q":1}],"f":1},"d":0},"b":[3,{"y":{"1":{},"2":[]},"z":1},1]})");
}

TEST(CanonicalJsonStrings, HaveOneSpelling) {
  EXPECT_EQ(canonical_json(R"("\/\u002f\u0041\u00e9\u20AC\uD83D\uDE02")"), "\"//Aé€😂\"");
  EXPECT_EQ(canonical_json(R"("\u0000\u0001\u0007\u0008\u0009\u000A\u000b\u000c\u000D\u001F\u0022\u005C")"),
            R"("\u0000\u0001\u0007\b\t\n\u000b\f\r\u001f\"\\")");
  // Delete, the C1 controls, the line separators and noncharacters stand as they are.
  EXPECT_EQ(canonical_json(R"("\u007f\u0080\u009f\u2028\u2029\uFDD0\uFFFE\uFFFF")"),
            "\"\u007f\u0080\u009f\u2028\u2029\uFDD0\uFFFE\uFFFF\"");
}

TEST(CanonicalJsonStrings, AreNotNormalised) {
  EXPECT_EQ(canonical_json("{\"\u00e9\":\"NFC\",\"e\u0301\":\"NFD\"}"),
            "{\"e\u0301\":\"NFD\",\"\u00e9\":\"NFC\"}");
}

TEST(CanonicalJsonStrings, KeepACharacterThatSpansAnyBlock) {
  const std::string text = '"' + std::string(65534, 'a') + "€\"";
  EXPECT_EQ(canonical_json(text), text);
}

TEST(CanonicalJsonRefuses, DuplicateNames) {
  EXPECT_EQ(refusal(R"({"amount":1,"amount":2})"), "12: a member name occurs twice in one object");
  EXPECT_EQ(refusal(R"({"a":1,"\u0061":1})"), "7: a member name occurs twice in one object");
  EXPECT_EQ(refusal(R"({"b":1,"a":2,"b":3,"b":4})"), "13: a member name occurs twice in one object");
  EXPECT_EQ(refusal(R"({"b":1,"b":2,"a":3,"a":4})"), "7: a member name occurs twice in one object");
  EXPECT_EQ(refusal(R"({"":1,"":2})"), "6: a member name occurs twice in one object");
  EXPECT_EQ(refusal(R"([{"x":{"n":[{"k":1,"l":2,"k":3}]}}])"),
            "25: a member name occurs twice in one object");
  EXPECT_EQ(canonical_json(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]})"),
            R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]})");
}

TEST(CanonicalJsonRefuses, HalfASurrogatePair) {
  EXPECT_EQ(refusal(R"({"k":"\uD800"})"), "6: half a surrogate pair");
  EXPECT_EQ(refusal(R"({"\uDC00":1})"), "2: half a surrogate pair");
  EXPECT_EQ(refusal(R"(["\ude00\ud83d"])"), "2: half a surrogate pair");
  EXPECT_EQ(refusal(R"({"key":"\uD800X"})"), "8: half a surrogate pair");
  EXPECT_EQ(refusal(R"(["ab\ud83d\u0041"])"), "4: half a surrogate pair");
  EXPECT_EQ(refusal(R"(["\ud83d\n"])"), "2: half a surrogate pair");
  EXPECT_EQ(refusal(R"(["\ud83d\ud83d\ude00"])"), "2: half a surrogate pair");
}

TEST(CanonicalJsonRefuses, InvalidUtf8AtTheByteThatCannotFollow) {
  const std::vector<std::pair<std::string, std::size_t>> bad{{"\xff", 0},              // never a lead byte
                                                             {"\x80", 0},              // a continuation alone
                                                             {"\xc0\xaf", 0},          // overlong
                                                             {"\xe0\x80\xaf", 1},      // overlong
                                                             {"\xf0\x80\x80\xaf", 1},  // overlong
                                                             {"\xed\xa0\x80", 1},      // a surrogate
                                                             {"\xf4\x90\x80\x80", 1},  // beyond U+10FFFF
                                                             {"\xf5\x80\x80\x80", 0},
                                                             {"\xe2\x82", 2},
                                                             {"\xe2\x28\xa1", 1},
                                                             {"\xf0\x9f\x98", 3},
                                                             {"caf\xe9", 4}};
  for (const auto& [bytes, offset] : bad) {
    EXPECT_EQ(refusal("[\"" + bytes + "\"]"), std::to_string(2 + offset) + ": invalid UTF-8");
    EXPECT_EQ(refusal("{\"" + bytes + "\":1}"), std::to_string(2 + offset) + ": invalid UTF-8");
  }
  EXPECT_EQ(refusal("\xff"), "0: expected a value");
}

TEST(CanonicalJsonRefuses, WhatStandsBesideTheValue) {
  EXPECT_EQ(refusal("{\"a\":1}\0"s), "7: there must be nothing after the value");
  EXPECT_EQ(refusal("{\"a\":1}\0{\"a\":2}"s), "7: there must be nothing after the value");
  EXPECT_EQ(refusal("123\0"s), "3: there must be nothing after the value");
  EXPECT_EQ(refusal("1 \n2"), "3: there must be nothing after the value");
  EXPECT_EQ(refusal("{}}"), "2: there must be nothing after the value");
  EXPECT_EQ(refusal("\"\"\""), "2: there must be nothing after the value");
  EXPECT_EQ(refusal("\xef\xbb\xbf{}"), "0: a byte order mark is not allowed");
  EXPECT_EQ(refusal("\0{}"s), "0: expected a value");
  EXPECT_EQ(refusal(""), "0: the text ends too early");
  EXPECT_EQ(refusal(" \n"), "2: the text ends too early");
}

// The kinds of text that the JSONTestSuite refuses.
TEST(CanonicalJsonRefuses, BadGrammarAtItsFirstByte) {
  const std::vector<std::pair<std::string, std::size_t>> bad{{"[1,]", 3},
                                                             {"[,1]", 1},
                                                             {"[1,,2]", 3},
                                                             {"[1 true]", 3},
                                                             {"[1", 2},
                                                             {"[1}", 2},
                                                             {"]", 0},
                                                             {"[", 1},
                                                             {"[[[", 3},
                                                             {"[\"\"", 3},
                                                             {"[1:2]", 2},
                                                             {"{", 1},
                                                             {"{\"a\"", 4},
                                                             {"{\"a\":", 5},
                                                             {"{\"a\":1", 6},
                                                             {"{\"a\":1,}", 7},
                                                             {"{,}", 1},
                                                             {"{\"a\" 1}", 5},
                                                             {"{\"a\",1}", 4},
                                                             {"{\"a\"::1}", 5},
                                                             {"{a:1}", 1},
                                                             {"{1:1}", 1},
                                                             {"{'a':1}", 1},
                                                             {"{\"a\":1]", 6},
                                                             {"{\"a\":1 \"b\":2}", 7},
                                                             {"{null:null}", 1},
                                                             {"{[]:1}", 1},
                                                             {"{\"a\":1,,\"b\":2}", 7},
                                                             {"True", 0},
                                                             {"nul", 3},
                                                             {"nulL", 3},
                                                             {"truee", 4},
                                                             {"fals e", 4},
                                                             {"undefined", 0},
                                                             {"NaN", 0},
                                                             {"nan", 1},
                                                             {"Infinity", 0},
                                                             {"-Infinity", 1},
                                                             {"-", 1},
                                                             {"--1", 1},
                                                             {"+1", 0},
                                                             {".5", 0},
                                                             {"-.5", 1},
                                                             {"1.", 2},
                                                             {"[1.]", 3},
                                                             {"1.e5", 2},
                                                             {"1e", 2},
                                                             {"1e+", 3},
                                                             {"1E-x", 3},
                                                             {"1e5.5", 3},
                                                             {"01", 1},
                                                             {"-01", 2},
                                                             {"00", 1},
                                                             {"0x10", 1},
                                                             {"1_000", 1},
                                                             {"1 000", 2},
                                                             {"１", 0},
                                                             {"0e", 2},
                                                             {"1.2.3", 3},
                                                             {"1a", 1},
                                                             {"[-]", 2},
                                                             {"[1e]", 3},
                                                             {"\"", 1},
                                                             {"\"a", 2},
                                                             {"'a'", 0},
                                                             {"\"\\", 2},
                                                             {"\"\\x41\"", 2},
                                                             {"\"\\a\"", 2},
                                                             {"\"\\'\"", 2},
                                                             {"\"\\u\"", 3},
                                                             {"\"\\u12G4\"", 5},
                                                             {"\"\\u123\"", 6},
                                                             {"\"\\U0041\"", 2},
                                                             {"\"\\ud83d", 7},
                                                             {"\"\\ud83d\\", 8},
                                                             {"\"\\ud83d\\u12", 11},
                                                             {"\"a\nb\"", 2},
                                                             {"\"\t\"", 1},
                                                             {"\"\x1f\"", 1},
                                                             {"\"a\0b\""s, 2},
                                                             {"// c\n1", 0},
                                                             {"/**/1", 0},
                                                             {"#\n1", 0},
                                                             {"\f1", 0},
                                                             {"\v1", 0},
                                                             {"\xc2\xa0"
                                                              "1",
                                                              0},
                                                             {"[1\f]", 2},
                                                             {"\\n", 0},
                                                             {"*", 0},
                                                             {"<x>", 0}};
  for (const auto& [text, offset] : bad) {
    const std::string answer = refusal(text);
    EXPECT_EQ(answer.substr(0, answer.find(':')), std::to_string(offset)) << text;
  }
}

TEST(CanonicalJsonAccepts, EachKindOfRootAndBlank) {
  const std::vector<std::pair<std::string, std::string>> good{{"null", "null"},
                                                              {" true ", "true"},
                                                              {"\tfalse\r\n", "false"},
                                                              {"0", "0"},
                                                              {"\"\"", "\"\""},
                                                              {"[ ]", "[]"},
                                                              {"{ }", "{}"},
                                                              {"[ 1 , 2 ]", "[1,2]"},
                                                              {"{ \"a\" : [ ] }", "{\"a\":[]}"},
                                                              {"[[],{},[[]]]", "[[],{},[[]]]"},
                                                              {"{\"\":0}", "{\"\":0}"},
                                                              {"[null,1,\"1\",{}]", "[null,1,\"1\",{}]"},
                                                              {"{\"a\":null}", "{\"a\":null}"},
                                                              {"\"\x7f\"", "\"\x7f\""}};
  for (const auto& [text, expected] : good) EXPECT_EQ(canonical_json(text), expected);
}

TEST(CanonicalJsonLimits, NestingCountsArraysAndObjects) {
  const CanonicalJsonOptions two{.max_depth = 2};
  EXPECT_EQ(canonical_json("[{}]", two), "[{}]");
  EXPECT_EQ(refusal("[{\"a\":[]}]", two), "6: nested deeper than the limit of 2 levels");
  EXPECT_EQ(refusal("[1]", {.max_depth = 0}), "0: nested deeper than the limit of 0 levels");
  EXPECT_EQ(canonical_json("1", {.max_depth = 0}), "1");
  const std::string deepest = repeated("[", 512) + repeated("]", 512);
  EXPECT_EQ(canonical_json(deepest), deepest);
}

TEST(CanonicalJsonLimits, AHundredThousandArraysAreRefusedAtTheFirstTooMany) {
  EXPECT_EQ(refusal(repeated("[", 100'000)), "512: nested deeper than the limit of 512 levels");
  EXPECT_EQ(refusal(repeated("{\"a\":", 100'000)), "2560: nested deeper than the limit of 512 levels");
  // Where somebody asks for it, depth costs memory but no stack.
  const std::string deep = repeated("[", 100'000) + repeated("]", 100'000);
  EXPECT_EQ(canonical_json(deep, {.max_depth = 100'000}), deep);
  const std::string objects = repeated("{\"b\":1,\"a\":", 100'000) + "0" + repeated("}", 100'000);
  EXPECT_EQ(canonical_json(objects, {.max_depth = 100'000}),
            repeated("{\"a\":", 100'000) + "0" + repeated(",\"b\":1}", 100'000));
}

TEST(CanonicalJsonLimits, ALongTextIsRefusedBeforeItIsRead) {
  EXPECT_EQ(refusal(std::string(std::size_t{64} << 20, ' ')),
            "16777216: the text is longer than the limit of 16777216 bytes");
  EXPECT_EQ(refusal("[1,2]", {.max_bytes = 4}), "4: the text is longer than the limit of 4 bytes");
  EXPECT_EQ(canonical_json("[1,2]", {.max_bytes = 5}), "[1,2]");
  EXPECT_THROW(static_cast<void>(canonical_json("1", {.max_bytes = (std::size_t{1} << 30) + 1})),
               idem::InvalidArgument);
}

// `1e399` is 5 bytes that become 400.
TEST(CanonicalJsonLimits, AFormThatGrowsTooLongIsRefused) {
  EXPECT_EQ(refusal("[1e99,1]", {.max_bytes = 100}),
            "1: the canonical form is longer than the limit of 100 bytes");
  EXPECT_EQ(refusal("[" + repeated("1e399,", 1'000'000) + "1]"),
            "251029: the canonical form is longer than the limit of 16777216 bytes");
}

// The content of a dropped or reordered part must not be shown either.
TEST(CanonicalJsonErrors, NeverShowTheContent) {
  for (const char* text : {"{\"secret\":1,\"secret\":2}", "[\"secret\\x\"]", "{\"secret\" 1}", "[secret]",
                           "[\"secret\xff\"]", "[111111e400]"}) {
    const std::string answer = refusal(text);
    EXPECT_EQ(answer.find("secret"), std::string::npos);
    EXPECT_EQ(answer.find("111111"), std::string::npos);
    EXPECT_EQ(answer.find("accepted"), std::string::npos);
  }
}

// Sorting each object where it ends would copy the payload once for each of the 512 levels: 8 GiB.
TEST(CanonicalJsonCost, DepthTimesSizeIsNotCopied) {
  const std::string payload = '"' + std::string(std::size_t{15} << 20, 'x') + '"';
  const std::string text = repeated("{\"b\":1,\"a\":", 512) + payload + repeated("}", 512);
  EXPECT_EQ(canonical_json(text), repeated("{\"a\":", 512) + payload + repeated(",\"b\":1}", 512));
}

TEST(CanonicalJsonCost, AMillionMembersAndAMillionSmallObjects) {
  std::string text = "{";
  std::string expected = "{";
  for (int i = 999'999; i >= 0; --i)
    text += '"' + std::to_string(1'000'000 + i) + "\":1" + (i > 0 ? "," : "}");
  for (int i = 0; i < 1'000'000; ++i)
    expected += (i > 0 ? ",\"" : "\"") + std::to_string(1'000'000 + i) + "\":1";
  EXPECT_EQ(canonical_json(text), expected + "}");

  EXPECT_EQ(canonical_json("[" + repeated("{\"b\":1,\"a\":1},", 1'000'000) + "1]"),
            "[" + repeated("{\"a\":1,\"b\":1},", 1'000'000) + "1]");
}

TEST(CanonicalJsonCost, NamesWithALongCommonFront) {
  const std::string front(8000, 'n');
  std::string text = "{";
  for (int i = 1999; i >= 1000; --i)
    text += '"' + front + std::to_string(i) + "\":1" + (i > 1000 ? "," : "}");
  const std::string form = canonical_json(text);
  EXPECT_EQ(form.size(), text.size());
  EXPECT_EQ(form.substr(0, 8007), "{\"" + front + "1000\"");
}

}  // namespace
