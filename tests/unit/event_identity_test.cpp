#include "idem/event/event_identity.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "idem/base/error.hpp"

namespace idem {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint noon = std::chrono::sys_days{std::chrono::year{2018} / 4 / 5} + 17h + 31min;

TEST(CloudEventIdentity, IsReadFromKafkasHeaders) {
  // The example of the CloudEvents conformance suite.
  const std::vector<Header> headers{
      {"ce_specversion", "1.0"},           {"ce_id", "1234-1234-1234"},
      {"ce_type", "com.example"},          {"ce_source", "/mycontext/subcontext"},
      {"ce_time", "2018-04-05T17:31:00Z"}, {"content-type", "application/json"}};
  EXPECT_EQ(cloud_event_identity(headers), (EventIdentity{"/mycontext/subcontext", "1234-1234-1234", noon}));
}

TEST(CloudEventIdentity, IsReadFromHttpsAndAmqpsHeaders) {
  for (const std::string prefix : {"ce-", "CE-", "cloudEvents_", "cloudEvents:"}) {
    const std::vector<Header> headers{
        {prefix + "specversion", "1.0"}, {prefix + "id", "e1"}, {prefix + "source", "s1"}};
    EXPECT_EQ(cloud_event_identity(headers), (EventIdentity{"s1", "e1", std::nullopt})) << prefix;
  }
  const std::vector<Header> http{{"Ce-SpecVersion", "1.0"}, {"Ce-Id", "e1"}, {"CE-SOURCE", "s1"}};
  EXPECT_EQ(cloud_event_identity(http), (EventIdentity{"s1", "e1", std::nullopt}));
  // Kafka's names have one case.
  EXPECT_EQ(cloud_event_identity(std::vector<Header>{{"CE_specversion", "1.0"}}), std::nullopt);
}

// HTTP binding 1.0, 3.1.3.2. Otherwise one event has two identities, by two routes.
TEST(CloudEventIdentity, IsDecodedWhereHttpCarriesIt) {
  const auto id = [](std::string prefix, std::string value) {
    return cloud_event_identity(std::vector<Header>{{prefix + "specversion", "1.0"},
                                                    {prefix + "id", std::move(value)},
                                                    {prefix + "source", "s"}})
        ->id;
  };
  EXPECT_EQ(id("ce-", "Euro%20%E2%82%AC%20%F0%9F%98%80"), "Euro \u20ac \U0001F600");
  EXPECT_EQ(id("ce-", R"("a b")"), "a b");
  EXPECT_EQ(id("ce-", R"("a \"b\" \\")"), R"(a "b" \)");
  EXPECT_EQ(id("ce-", "100%25"), "100%");
  EXPECT_EQ(id("ce-", "%2541"), "%41");
  EXPECT_EQ(id("ce-", "5%"), "5%");
  EXPECT_EQ(id("ce-", "5%zz%4"), "5%zz%4");
  EXPECT_EQ(id("ce_", "Euro%20"), "Euro%20");
  EXPECT_THROW((void)id("ce-", "%00"), InvalidEvent);
  EXPECT_THROW((void)id("ce-", "%ff"), InvalidEvent);
}

TEST(CloudEventIdentity, TheLastOfRepeatedHeadersCounts) {
  const std::vector<Header> headers{
      {"ce_specversion", "1.0"}, {"ce_id", "first"}, {"ce_source", "s"}, {"ce_id", "last"}};
  EXPECT_EQ(cloud_event_identity(headers)->id, "last");
}

TEST(CloudEventIdentity, IsReadFromTheStructuredForm) {
  EXPECT_EQ(cloud_event_identity(R"({"specversion":"1.0","id":"e1","source":"/s","type":"t",
                                     "time":"2018-04-05T17:31:00Z","data":{"id":"other"}})"),
            (EventIdentity{"/s", "e1", noon}));
  EXPECT_EQ(cloud_event_identity(R"({"specversion":"1.0","id":"e1","source":"/s","time":null})"),
            (EventIdentity{"/s", "e1", std::nullopt}));
}

TEST(CloudEventIdentity, IsAbsentWhereThereIsNoSpecversion) {
  EXPECT_EQ(cloud_event_identity(std::vector<Header>{{"id", "e1"}}), std::nullopt);
  EXPECT_EQ(cloud_event_identity(R"({"id":"e1","source":"s"})"), std::nullopt);
  EXPECT_EQ(cloud_event_identity("[]"), std::nullopt);
  EXPECT_EQ(cloud_event_identity("1"), std::nullopt);
}

TEST(CloudEventIdentity, IsRefusedWhereItIsMalformed) {
  for (const char* const event :
       {R"({"specversion":"0.3","id":"e","source":"s"})", R"({"specversion":1.0,"id":"e","source":"s"})",
        R"({"specversion":"1.0","source":"s"})", R"({"specversion":"1.0","id":"e"})",
        R"({"specversion":"1.0","id":"","source":"s"})", R"({"specversion":"1.0","id":1,"source":"s"})",
        R"({"specversion":"1.0","id":"e","source":"s","time":"yesterday"})",
        R"({"specversion":"1.0","id":"e","source":"s\u0000"})"}) {
    EXPECT_THROW((void)cloud_event_identity(event), InvalidEvent) << event;
  }
  EXPECT_THROW((void)cloud_event_identity(R"({"specversion":"1.0","id":"a","id":"b","source":"s"})"),
               InvalidJson);
  EXPECT_THROW((void)cloud_event_identity("{"), InvalidJson);
}

TEST(HeaderIdentity, IsThatOfTheFirstNameThatIsThereAndOfItsLastValue) {
  const std::vector<std::string> names{"id", "message-id"};
  const std::vector<Header> both{{"message-id", "m"}, {"id", "a"}, {"id", "b"}};
  EXPECT_EQ(header_identity(both, names, "topic"), (EventIdentity{"topic", "b", std::nullopt}));
  EXPECT_EQ(header_identity(std::vector<Header>{{"message-id", "m"}}, names, "topic")->id, "m");
  EXPECT_EQ(header_identity(std::vector<Header>{{"ID", "m"}}, names, "topic"), std::nullopt);
  EXPECT_EQ(header_identity({}, names, "topic"), std::nullopt);
  EXPECT_THROW((void)header_identity(std::vector<Header>{{"id", ""}}, names, "topic"), InvalidEvent);
  EXPECT_THROW((void)header_identity(both, names, ""), InvalidEvent);
}

TEST(MemberIdentity, IsAStringOrAnInteger) {
  EXPECT_EQ(member_identity(R"({"meta":{"id":"e1"}})", "/meta/id", "s"),
            (EventIdentity{"s", "e1", std::nullopt}));
  EXPECT_EQ(member_identity(R"({"id":9007199254740993})", "/id", "s")->id, "9007199254740993");
  EXPECT_EQ(member_identity(R"({"id":-5})", "/id", "s")->id, "-5");
  EXPECT_EQ(member_identity(R"([0,{"id":"second"}])", "/1/id", "s")->id, "second");
}

TEST(MemberIdentity, IsAbsentWhereThereIsNoSuchMember) {
  for (const char* const payload : {"{}", R"({"id":null})", "[]", "1", R"({"id2":1})"}) {
    EXPECT_EQ(member_identity(payload, "/id", "s"), std::nullopt) << payload;
  }
  EXPECT_EQ(member_identity("[]", "/0", "s"), std::nullopt);
  EXPECT_EQ(member_identity("[1]", "/01", "s"), std::nullopt);
}

TEST(MemberIdentity, IsRefusedWhereItIsNoNameOrThePointerIsNone) {
  for (const char* const payload : {R"({"id":1.5})", R"({"id":true})", R"({"id":{}})", R"({"id":""})",
                                    R"({"id":99999999999999999999999})"}) {
    EXPECT_THROW((void)member_identity(payload, "/id", "s"), InvalidEvent) << payload;
  }
  EXPECT_THROW((void)member_identity(R"({"id":1,"id":2})", "/id", "s"), InvalidJson);
  EXPECT_THROW((void)member_identity("{}", "id", "s"), InvalidArgument);
}

TEST(EventTime, IsItsOwnOrThatOfAVersion7Uuid) {
  EXPECT_EQ(time_of({"s", "e", noon}), noon);
  EXPECT_EQ(time_of({"s", "e", std::nullopt}), std::nullopt);
  // RFC 9562, appendix A.6.
  const auto of_the_rfc = TimePoint{std::chrono::milliseconds{1645557742000}};
  EXPECT_EQ(time_of({"s", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", std::nullopt}), of_the_rfc);
  EXPECT_EQ(time_of({"s", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", noon}), noon);
  EXPECT_EQ(time_of({"s", "017f22e2-79b0-4cc3-98c4-dc0c0c07398f", std::nullopt}), std::nullopt);
}

}  // namespace
}  // namespace idem
