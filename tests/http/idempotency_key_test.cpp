#include "idem/http/idempotency_key.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "idem/base/error.hpp"
#include "unit/shared_cases.hpp"

namespace idem::http {
namespace {

using nlohmann::json;

constexpr KeyHeaderOptions strict{.syntax = KeySyntax::strict};
constexpr KeyHeaderOptions lenient{};

// The key, or the refusal's name in angle brackets.
std::string read(const std::vector<std::string>& lines, const KeyHeaderOptions& options = lenient) {
  const std::vector<std::string_view> views{lines.begin(), lines.end()};
  const auto key = parse_idempotency_key(views, options);
  if (const auto* text = std::get_if<std::string>(&key)) return *text;
  return '<' + std::string{to_string(std::get<KeyRefusal>(key))} + '>';
}

TEST(IdempotencyKey, AStringIsAKeyInBothForms) {
  for (const auto& options : {strict, lenient}) {
    EXPECT_EQ(read({R"("8e03978e-40d5-43e8-bc93-6894a57f9324")"}, options),
              "8e03978e-40d5-43e8-bc93-6894a57f9324");
    EXPECT_EQ(read({R"("a \"b\" \\ c")"}, options), R"(a "b" \ c)");
    EXPECT_EQ(read({R"(  "k"  )"}, options), "k");
    EXPECT_EQ(read({R"("a,b")"}, options), "a,b");
    EXPECT_EQ(read({R"("   ")"}, options), "   ");
  }
}

TEST(IdempotencyKey, ABareKeyIsTheSameKeyWhereItIsAllowed) {
  for (const std::string key : {"8e03978e-40d5-43e8-bc93-6894a57f9324", "clkyoesmbgybucifusbbtdsbohtyuuwz",
                                "1", "order:7/line;1", "a=b", "'k'", "?1", ":aGk=:", "@1659578233"}) {
    EXPECT_EQ(read({key}), key);
    EXPECT_EQ(read({'"' + key + '"'}), key);
    EXPECT_EQ(read({" \t" + key + "\t "}), key);
    EXPECT_EQ(read({key}, strict), "<malformed>");
  }
}

TEST(IdempotencyKey, WhatIsNoOneKeyIsRefused) {
  for (const auto& options : {strict, lenient}) {
    EXPECT_EQ(read({}, options), "<missing>");
    EXPECT_EQ(read({R"("a")", R"("a")"}, options), "<repeated>");
    EXPECT_EQ(read({R"("a")", ""}, options), "<repeated>");
    EXPECT_EQ(read({""}, options), "<empty>");
    EXPECT_EQ(read({"  "}, options), "<empty>");
    EXPECT_EQ(read({R"("")"}, options), "<empty>");
    EXPECT_EQ(read({R"("a", "b")"}, options), "<malformed>");
    EXPECT_EQ(read({"a, b"}, options), "<malformed>");
    EXPECT_EQ(read({"a,b"}, options), "<malformed>");
    EXPECT_EQ(read({"a b"}, options), "<malformed>");
    EXPECT_EQ(read({R"("a)"}, options), "<malformed>");
    EXPECT_EQ(read({R"(a")"}, options), "<malformed>");
    EXPECT_EQ(read({R"("a"b)"}, options), "<malformed>");
    EXPECT_EQ(read({R"("a\b")"}, options), "<malformed>");
    EXPECT_EQ(read({std::string{"a\0b", 3}}, options), "<malformed>");
    EXPECT_EQ(read({std::string{"\"a\0b\"", 5}}, options), "<malformed>");
    EXPECT_EQ(read({"f\xc3\xbc"}, options), "<malformed>");
    EXPECT_EQ(read({"\"f\xc3\xbc\""}, options), "<malformed>");
    EXPECT_EQ(read({"a\x7f"}, options), "<malformed>");
    EXPECT_EQ(read({"\"a\tb\""}, options), "<malformed>");
  }
  EXPECT_EQ(read({"\t\"a\""}, strict), "<malformed>");
}

TEST(IdempotencyKey, TheLimitIsOfTheKeyItself) {
  const std::string longest(255, '"');
  std::string escaped;
  for (const char c : longest) escaped += std::string{'\\', c};
  EXPECT_EQ(read({'"' + escaped + '"'}), longest);
  EXPECT_EQ(read({'"' + escaped + "\\\\\""}), "<too_long>");
  EXPECT_EQ(read({std::string(255, 'k')}), std::string(255, 'k'));
  EXPECT_EQ(read({std::string(256, 'k')}), "<too_long>");
  EXPECT_EQ(read({"12345"}, {.max_bytes = 4}), "<too_long>");
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{256}}) {
    EXPECT_THROW((void)read({"a"}, {.max_bytes = bytes}), InvalidArgument);
  }
}

TEST(IdempotencyKey, ParametersAreReadAndDoNotCount) {
  for (const std::string& parameters :
       {std::string{R"(;v)"}, std::string{R"(; v=1)"}, std::string{R"(;v=-1.5;w="x";*y=tok/en;z=?0)"},
        std::string{R"(;b=:aGk=:;d=@-7;e=%"f%c3%bc")"}}) {
    EXPECT_EQ(read({"\"k\"" + parameters}, strict), "k") << parameters;
  }
  for (const std::string& parameters :
       {std::string{R"( ;v)"}, std::string{";"}, std::string{";V"}, std::string{";v="}, std::string{";v=1."},
        std::string{";v=1.2345"}, std::string{";v=1234567890123456"}, std::string{R"(;v="x)"},
        std::string{";v=:a"}, std::string{";v=?2"}, std::string{";v=@1.5"}, std::string{R"(;e=%"%C3")"},
        std::string{";v=(1)"}, std::string{";v x"}}) {
    EXPECT_EQ(read({"\"k\"" + parameters}, strict), "<malformed>") << parameters;
  }
}

TEST(IdempotencyKey, AClientsHeaderIsReadBack) {
  for (const std::string key : {"k", R"(a "b" \ c)", " ", "8e03978e-40d5"}) {
    EXPECT_EQ(read({serialize_idempotency_key(key)}, strict), key);
  }
  EXPECT_EQ(serialize_idempotency_key(R"(a"b)"), R"("a\"b")");
  for (const std::string& key :
       {std::string{}, std::string(256, 'k'), std::string{"a\nb"}, std::string{"\xc3\xbc"}}) {
    EXPECT_THROW((void)serialize_idempotency_key(key), InvalidKey);
  }
}

// Strings and items by others: each String is a key, and every other type of Item, and what is none, is refused.
TEST(IdempotencyKey, AgreesWithTheVectorsForStructuredFields) {
  const std::filesystem::path folder = idem::test::shared_cases() / "structured-fields";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "NOT CHECKED: there is no " << folder
                 << "; set IDEM_SHARED_CASES to the folder that holds structured-fields/";
  }
  int cases = 0;
  for (const char* name : {"string.json", "item.json", "examples.json"}) {
    for (const json& one : json::parse(std::ifstream{folder / name})) {
      if (one.at("header_type") != "item") continue;
      SCOPED_TRACE(one.at("name"));
      ++cases;
      std::string joined;
      for (const json& line : one.at("raw")) joined += (joined.empty() ? "" : ", ") + line.get<std::string>();
      const std::string told = read({joined}, strict);
      const bool is_string = !one.value("must_fail", false) && one.at("expected").at(0).is_string();
      if (!is_string) {
        EXPECT_TRUE(told == "<malformed>" || told == "<empty>") << told;
        continue;
      }
      const auto expected = one.at("expected").at(0).get<std::string>();
      if (expected.empty()) {
        EXPECT_EQ(told, "<empty>");
      } else {
        EXPECT_EQ(told, expected.size() > 255 ? "<too_long>" : expected);
      }
    }
  }
  EXPECT_GE(cases, 28);
}

}  // namespace
}  // namespace idem::http
