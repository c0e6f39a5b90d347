#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "idem/json/canonical_json.hpp"

namespace {

using Pointers = std::vector<std::string>;

std::string projected(std::string_view text, const Pointers& include, const Pointers& exclude = {}) {
  return idem::canonical_json(text, {}, idem::JsonProjection{include, exclude});
}

TEST(JsonProjection, KeepsEverythingWithoutPointers) {
  EXPECT_EQ(projected(R"({"b":1,"a":[1,2]})", {}), R"({"a":[1,2],"b":1})");
  EXPECT_TRUE(idem::JsonProjection{}.keeps_everything());
}

TEST(JsonProjection, KeepsWhatIsAtBelowOrOnTheWayToAnIncludedPointer) {
  constexpr std::string_view text = R"({"a":{"b":{"c":1,"d":2},"e":3},"f":{"g":4},"h":5})";
  EXPECT_EQ(projected(text, {"/a/b"}), R"({"a":{"b":{"c":1,"d":2}}})");
  EXPECT_EQ(projected(text, {"/h", "/a/b/d"}), R"({"a":{"b":{"d":2}},"h":5})");
  EXPECT_EQ(projected(text, {"/f/x"}), R"({"f":{}})");
  EXPECT_EQ(projected(text, {"/x"}), "{}");
  EXPECT_EQ(projected(text, {""}), R"({"a":{"b":{"c":1,"d":2},"e":3},"f":{"g":4},"h":5})");
  EXPECT_EQ(projected(text, {"/a", "/a/b"}), R"({"a":{"b":{"c":1,"d":2},"e":3}})");
}

TEST(JsonProjection, ExcludesAfterIncluding) {
  constexpr std::string_view text = R"({"a":{"b":{"c":1,"d":2},"e":3},"f":{"g":4},"h":5})";
  EXPECT_EQ(projected(text, {}, {"/a/b/c", "/h", "/x/y"}), R"({"a":{"b":{"d":2},"e":3},"f":{"g":4}})");
  EXPECT_EQ(projected(text, {"/a"}, {"/a/b"}), R"({"a":{"e":3}})");
  EXPECT_EQ(projected(text, {"/a/b"}, {"/a"}), "{}");
  EXPECT_EQ(projected(text, {"/a/b"}, {"/a/b"}), R"({"a":{}})");
}

TEST(JsonProjection, KeepsAbsentNullAndOtherTypesApart) {
  EXPECT_EQ(projected(R"({"a":null,"z":1})", {"/a"}), R"({"a":null})");
  EXPECT_EQ(projected(R"({"z":1})", {"/a"}), "{}");
  EXPECT_EQ(projected(R"({"a":5})", {"/a/b"}), R"({"a":5})");
  EXPECT_EQ(projected(R"({"a":{}})", {"/a/b"}), R"({"a":{}})");
  EXPECT_EQ(projected(R"([7])", {"/a"}), "[]");
  EXPECT_EQ(projected("7", {"/a"}, {"/b"}), "7");
}

TEST(JsonProjection, CountsElementsInTheWholeArray) {
  EXPECT_EQ(projected("[10,11,12,13]", {"/1", "/3"}), "[11,13]");
  EXPECT_EQ(projected("[10,11,12,13]", {}, {"/0", "/2"}), "[11,13]");
  EXPECT_EQ(projected(R"([{"id":1,"v":2},{"id":3,"v":4}])", {}, {"/0/id", "/1/id"}), R"([{"v":2},{"v":4}])");
  // RFC 6901 §4: no leading zeros, and `-` is behind the last element.
  EXPECT_EQ(projected("[10,11]", {}, {"/00", "/01", "/-", "/1e0"}), "[10,11]");
  EXPECT_EQ(projected(R"({"0":1,"-":2,"01":3})", {}, {"/0", "/-", "/01"}), "{}");
}

// RFC 6901 §5.
TEST(JsonProjection, FindsTheNamesOfTheRfc) {
  constexpr std::string_view text =
      R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8,"~1":9})";
  EXPECT_EQ(projected(text, {"/foo/0"}), R"({"foo":["bar"]})");
  EXPECT_EQ(projected(text, {"/"}), R"({"":0})");
  EXPECT_EQ(projected(text, {"/a~1b"}), R"({"a/b":1})");
  EXPECT_EQ(projected(text, {"/c%d", "/e^f", "/g|h"}), R"({"c%d":2,"e^f":3,"g|h":4})");
  EXPECT_EQ(projected(text, {"/i\\j"}), R"({"i\\j":5})");
  EXPECT_EQ(projected(text, {"/k\"l"}), R"({"k\"l":6})");
  EXPECT_EQ(projected(text, {"/ "}), R"({" ":7})");
  EXPECT_EQ(projected(text, {"/m~0n"}), R"({"m~n":8})");
  EXPECT_EQ(projected(text, {"/~01"}), R"({"~1":9})");
  EXPECT_EQ(projected(R"({"\u00e9":1,"e":2})", {"/é"}), "{\"é\":1}");
}

TEST(JsonProjection, DropsFirstMiddleAndLastCleanly) {
  constexpr std::string_view text = R"({"c":[1],"a":{"y":1,"x":2},"b":"s"})";
  EXPECT_EQ(projected(text, {}, {"/c"}), R"({"a":{"x":2,"y":1},"b":"s"})");
  EXPECT_EQ(projected(text, {}, {"/a"}), R"({"b":"s","c":[1]})");
  EXPECT_EQ(projected(text, {}, {"/b"}), R"({"a":{"x":2,"y":1},"c":[1]})");
  EXPECT_EQ(projected(text, {}, {"/a", "/b", "/c"}), "{}");
  EXPECT_EQ(projected(text, {}, {"/a/x", "/a/y"}), R"({"a":{},"b":"s","c":[1]})");
  // What is dropped may itself hold objects that are out of order, before and after ones that stay.
  EXPECT_EQ(projected(R"([{"b":1,"a":2},{"d":1,"c":{"f":1,"e":2}},{"h":1,"g":2}])", {}, {"/1"}),
            R"([{"a":2,"b":1},{"g":2,"h":1}])");
}

TEST(JsonProjection, StillChecksWhatItDrops) {
  EXPECT_THROW(projected(R"({"a":1,"x":{"b":1,"b":2}})", {"/a"}), idem::InvalidJson);
  EXPECT_THROW(projected(R"({"x":1,"x":2})", {}, {"/x"}), idem::InvalidJson);
  EXPECT_THROW(projected(R"({"x":1e400})", {}, {"/x"}), idem::InvalidJson);
  EXPECT_THROW(projected(R"({"x":"\ud800"})", {}, {"/x"}), idem::InvalidJson);
}

TEST(JsonProjection, RefusesWhatIsNoPointer) {
  for (const char* pointer : {"a", "a/b", " /a", "#/a", "/~", "/a~2", "/a/~x/b", "/\xff"}) {
    EXPECT_THROW(projected("1", {pointer}), idem::InvalidArgument) << pointer;
    EXPECT_THROW(projected("1", {}, {pointer}), idem::InvalidArgument) << pointer;
  }
  EXPECT_THROW(projected("1", {}, {""}), idem::InvalidArgument);
}

}  // namespace
