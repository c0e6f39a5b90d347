#include "idem/request/nlohmann_json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using idem::canonical_json;
using nlohmann::json;

constexpr idem::CanonicalJsonOptions rfc8785{.numbers = idem::JsonNumbers::rfc8785};

std::string refusal(const json& value, const idem::CanonicalJsonOptions& options = {}) {
  try {
    return "accepted as " + canonical_json(value, options);
  } catch (const idem::InvalidJson& error) {
    return std::to_string(error.offset()) + ": " + error.reason();
  }
}

TEST(NlohmannJson, HasTheFormOfItsText) {
  for (const char* text : {"null", "true", "-1", "18446744073709551615", "-9223372036854775808", "1290.0",
                           "1.5e-7", "-0.0", "-0", "\"a\\u0000\\n\\\"\\\\é😀\"", "[]", "{}", "[[],{},[1,[2]]]",
                           R"({"b":{"z":1,"y":[{"q":1,"p":2}]},"a":null,"\ufb33":1,"\ud83d\ude00":2})"}) {
    EXPECT_EQ(canonical_json(json::parse(text)), canonical_json(text)) << text;
    EXPECT_EQ(canonical_json(json::parse(text), rfc8785), canonical_json(text, rfc8785)) << text;
  }
}

TEST(NlohmannJson, RefusesNumbersThatMayHaveLostDigits) {
  constexpr const char* reason = "0: an integer beyond 2^53 is held as floating point, so digits may be lost";
  EXPECT_EQ(refusal(json::parse("[18446744073709551616]")), reason);
  EXPECT_EQ(refusal(json::parse("-9223372036854775809")), reason);
  EXPECT_EQ(refusal(json(9007199254740992.0)), reason);
  EXPECT_EQ(refusal(json(-1e300)), reason);
  EXPECT_EQ(canonical_json(json(9007199254740991.0)), "9007199254740991");
  EXPECT_EQ(canonical_json(json(4503599627370495.5)), "4503599627370495.5");
  // In this mode the text's digits would be lost as well.
  EXPECT_EQ(canonical_json(json::parse("18446744073709551616"), rfc8785), "18446744073709552000");
}

TEST(NlohmannJson, RefusesWhatHasNoJsonForm) {
  EXPECT_EQ(refusal(json(std::numeric_limits<double>::quiet_NaN())),
            "0: NaN and infinities have no JSON form");
  EXPECT_EQ(refusal(json(-std::numeric_limits<double>::infinity()), rfc8785),
            "0: NaN and infinities have no JSON form");
  EXPECT_EQ(refusal(json::array({json::binary({1, 2})})), "0: a binary value has no JSON form");
  EXPECT_EQ(refusal(json(json::value_t::discarded)), "0: a discarded value has no JSON form");
  EXPECT_EQ(refusal(json("ab\xff")), "0: a string is not valid UTF-8");
  EXPECT_EQ(refusal(json{{"\xed\xa0\x80", 1}}), "0: a string is not valid UTF-8");
}

TEST(NlohmannJson, KeepsTheLimits) {
  json deep = json::array();
  for (int i = 0; i < 599; ++i) deep = json::array({std::move(deep)});
  EXPECT_EQ(refusal(deep), "0: nested deeper than the limit of 512 levels");
  EXPECT_EQ(canonical_json(deep, {.max_depth = 600}), std::string(600, '[') + std::string(600, ']'));
  EXPECT_EQ(refusal(json("0123456789"), {.max_bytes = 9}),
            "0: a string is longer than the limit of max_bytes");
  EXPECT_EQ(refusal(json("0123456789"), {.max_bytes = 11}),
            "0: the canonical form is longer than the limit of 11 bytes");
}

TEST(NlohmannJson, IsProjectedLikeItsText) {
  const std::vector<std::string> include{"/a", "/c/1"};
  const std::vector<std::string> exclude{"/a/t"};
  const idem::JsonProjection projection{include, exclude};
  constexpr const char* text = R"({"a":{"t":1,"v":2},"b":3,"c":[4,5,6]})";
  EXPECT_EQ(canonical_json(json::parse(text), {}, projection), R"({"a":{"v":2},"c":[5]})");
  EXPECT_EQ(canonical_json(text, {}, projection), R"({"a":{"v":2},"c":[5]})");
}

TEST(NlohmannJson, HasTheFingerprintOfItsText) {
  const idem::Fingerprinter fingerprinter{{.exclude = {"/id"}}};
  constexpr const char* text = R"({"id":7,"amount":12.90,"name":"\u00e9"})";
  const idem::RequestContent without_body{.method = "POST", .operation = "/payments"};
  idem::RequestContent with_body = without_body;
  with_body.body = text;
  EXPECT_EQ(idem::fingerprint(fingerprinter, without_body, json::parse(text)), fingerprinter(with_body));
  EXPECT_THROW(static_cast<void>(idem::fingerprint(fingerprinter, with_body, json::parse(text))),
               idem::InvalidArgument);
  idem::RequestContent plain = without_body;
  plain.content_type = "text/plain";
  EXPECT_THROW(static_cast<void>(idem::fingerprint(fingerprinter, plain, json::parse(text))),
               idem::InvalidArgument);
  EXPECT_THROW(static_cast<void>(idem::fingerprint(idem::Fingerprinter{}, plain, json::parse(text))),
               idem::InvalidArgument);
}

/// Random documents: the same for each run of the tests.
class RandomJson {
 public:
  explicit RandomJson(unsigned seed) : random_{seed} {}

  json value(int depth) {
    switch (below(depth > 0 ? 9 : 6)) {
      case 0:
        return nullptr;
      case 1:
        return below(2) == 1;
      case 2:
        return std::int64_t{static_cast<std::int32_t>(random_())} << below(32);
      case 3:
        return (std::uint64_t{random_()} << 32) | random_();
      case 4:
        return number();
      case 5:
        return text();
      case 6: {
        json array = json::array();
        for (unsigned i = below(5); i > 0; --i) array.push_back(value(depth - 1));
        return array;
      }
      default: {
        json object = json::object();
        for (unsigned i = below(6); i > 0; --i) object[text()] = value(depth - 1);
        return object;
      }
    }
  }

  /// A text of `value`: members in any order, characters escaped or not, blanks anywhere.
  std::string spelling(const json& value) {
    if (value.is_string()) return blank() + quoted(value.get<std::string>()) + blank();
    if (value.is_array()) {
      std::string text = blank() + "[";
      for (std::size_t i = 0; i < value.size(); ++i) text += (i > 0 ? "," : "") + spelling(value[i]);
      return text + blank() + "]" + blank();
    }
    if (value.is_object()) {
      std::vector<std::string> members;
      for (const auto& [name, member] : value.items())
        members.push_back(blank() + quoted(name) + blank() + ":" + spelling(member));
      std::shuffle(members.begin(), members.end(), random_);
      std::string text = blank() + "{";
      for (std::size_t i = 0; i < members.size(); ++i) text += (i > 0 ? "," : "") + members[i];
      return text + blank() + "}" + blank();
    }
    return blank() + value.dump() + blank();
  }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }

  double number() {
    const double mantissa = static_cast<double>(static_cast<std::int32_t>(random_())) / 1024;
    return std::ldexp(mantissa, static_cast<int>(below(80)) - 50);
  }

  std::string text() {
    static const std::vector<std::string> pieces{
        "a",         "b",      "Z",       "0",          "/",
        "\"",        "\\",     "\n",      "\x01",       std::string{"\0", 1},
        "\x7f",      "é",      "e\u0301", "€",          "\uD7FF",
        "\uE000",    "\uFB33", "\uFFFF",  "\U00010000", "😀",
        "\U0010FFFF"};
    std::string text;
    for (unsigned i = below(4); i > 0; --i) text += pieces[below(static_cast<unsigned>(pieces.size()))];
    return text;
  }

  std::string quoted(const std::string& text) { return json(text).dump(-1, ' ', below(2) == 1); }
  std::string blank() { return std::vector<std::string>{"", "", " ", "\n\t"}[below(4)]; }

  std::mt19937 random_;
};

std::u16string utf16(const std::string& utf8) {
  std::u16string units;
  for (std::size_t i = 0; i < utf8.size();) {
    const auto lead = static_cast<unsigned char>(utf8[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    char32_t c = length == 1 ? lead : lead & (0xffU >> (length + 1));
    for (std::size_t j = 1; j < length; ++j) c = (c << 6) | (static_cast<unsigned char>(utf8[i + j]) & 0x3fU);
    if (c < 0x10000) {
      units += static_cast<char16_t>(c);
    } else {
      units += static_cast<char16_t>(0xd800 + ((c - 0x10000) >> 10));
      units += static_cast<char16_t>(0xdc00 + ((c - 0x10000) & 0x3ff));
    }
    i += length;
  }
  return units;
}

/// The plainest way to put a document in order: recursive, and with real UTF-16.
std::string plainly_ordered(const json& value) {
  if (value.is_array()) {
    std::string text = "[";
    for (const json& element : value) text += (text.size() > 1 ? "," : "") + plainly_ordered(element);
    return text + "]";
  }
  if (value.is_object()) {
    std::vector<std::pair<std::u16string, std::string>> members;
    for (const auto& [name, member] : value.items()) {
      members.emplace_back(utf16(name), canonical_json(json(name)) + ":" + plainly_ordered(member));
    }
    std::sort(members.begin(), members.end());
    std::string text = "{";
    for (const auto& member : members) text += (text.size() > 1 ? "," : "") + member.second;
    return text + "}";
  }
  return canonical_json(value, rfc8785);
}

TEST(CanonicalJsonProperty, EverySpellingHasTheFormOfTheValueAndTheFormIsItsOwn) {
  RandomJson random{20240229};
  std::size_t objects = 0;
  for (int i = 0; i < 3000; ++i) {
    const json value = random.value(4);
    const std::string text = random.spelling(value);
    SCOPED_TRACE(text);
    ASSERT_EQ(json::parse(text), value);
    const std::string pure = canonical_json(value, rfc8785);
    ASSERT_EQ(canonical_json(text, rfc8785), pure);
    ASSERT_EQ(canonical_json(pure, rfc8785), pure);
    ASSERT_EQ(plainly_ordered(value), pure);
    if (refusal(value).starts_with("0:")) continue;  // a double of 2^53 or more
    const std::string exact = canonical_json(value);
    ASSERT_EQ(canonical_json(text), exact);
    ASSERT_EQ(canonical_json(exact), exact);
    ASSERT_EQ(json::parse(exact), value);
    objects += value.is_object() && value.size() > 1 ? 1U : 0U;
  }
  EXPECT_GT(objects, 300U);  // else the documents prove little
}

TEST(CanonicalJsonProperty, AnyCutOrFlippedByteIsRefusedOrReadAsJson) {
  RandomJson random{7};
  std::mt19937 byte{11};
  for (int i = 0; i < 1000; ++i) {
    std::string text = random.spelling(random.value(3));
    text[byte() % text.size()] = static_cast<char>(byte());
    text.resize(text.size() - byte() % 2);
    try {
      static_cast<void>(canonical_json(text, rfc8785));
      EXPECT_TRUE(json::accept(text)) << text;
    } catch (const idem::InvalidJson& error) {
      EXPECT_LE(error.offset(), text.size());
    }
  }
}

}  // namespace
