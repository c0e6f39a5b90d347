#include "idem/request/fingerprint.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "idem/base/error.hpp"

namespace {

using idem::Fingerprint;
using idem::Fingerprinter;
using idem::FingerprintOptions;
using idem::HmacKey;
using idem::RequestContent;

constexpr std::string_view payment = R"({"currency":"EUR","amount":1290})";

RequestContent post(std::string_view body, std::string_view content_type = "application/json") {
  return {
      .method = "POST", .operation = "/payments", .query = "", .content_type = content_type, .body = body};
}

HmacKey hmac_key(std::uint8_t id) {
  HmacKey key{id, {}};
  for (unsigned i = 0; i < 32; ++i) key.secret.push_back(std::byte(i));
  return key;
}

std::string hex(std::string_view body, std::string_view content_type = "application/json") {
  return Fingerprinter{}(post(body, content_type)).hex();
}

// The values were computed by another program (Python's hashlib and hmac) from the documented layout.
TEST(Fingerprint, HasTheDocumentedLayout) {
  EXPECT_EQ(hex(payment), "01b17566c18ae76cd2322f9a5fd9816d3aeee74d91d94813afe05265b4b375c0b0");
  EXPECT_EQ(hex(""), "01852a6be5b013b85724e09c0edbba4911beb76ece00105ecda89da722bc7efe20");
  EXPECT_EQ(hex("hello", "Text/Plain; charset=utf-8"),
            "0199c9fd7e5120f71ecad3dd69cdb51d39bd65f4c9bb7da5b4b274fb90ded98a5f");
  EXPECT_EQ(Fingerprinter{{.json = {.numbers = idem::JsonNumbers::rfc8785}}}(post(payment)).hex(),
            "01c3595e8115f3c11645471bbf95bdb324bca8eac09f73e965c3148c41a6a465f3");
  EXPECT_EQ(Fingerprinter{{.hmac = hmac_key(5)}}(post(payment)).hex(),
            "853b14865187007cb5fddb5d1ba5f1918da07c2386fe142b3a7dabadd925cb41a4");
}

TEST(Fingerprint, TravelsThroughItsBytes) {
  const Fingerprint fingerprint = Fingerprinter{}(post(payment));
  EXPECT_EQ(Fingerprint::from_bytes(fingerprint.bytes()), fingerprint);
  EXPECT_EQ(fingerprint.scheme(), Fingerprint::sha256_scheme);
}

TEST(Fingerprint, RefusesStoredBytesOfAnotherLength) {
  for (const std::size_t size : {0U, 32U, 34U}) {
    EXPECT_THROW(static_cast<void>(Fingerprint::from_bytes(std::vector<std::byte>(size))),
                 idem::StoredDataError);
  }
}

// Other systems hashed the raw text, so a retry with members in another order was a mismatch.
TEST(Fingerprint, IgnoresTheOrderOfMembersAndTheSpelling) {
  const std::string expected = hex(R"({"a":1,"b":{"c":2,"d":3}})");
  EXPECT_EQ(hex(R"({"a":1,"b":{"d":3,"c":2}})"), expected);
  EXPECT_EQ(hex(R"({"b":{"c":2,"d":3},"a":1})"), expected);
  EXPECT_EQ(hex(R"({"b":{"d":3,"c":2},"a":1})"), expected);
  EXPECT_EQ(hex("\n{ \"\\u0061\" : 1.0 ,\t\"b\":{\"c\":20e-1,\"d\":3}}\r\n"), expected);
}

TEST(Fingerprint, KeepsNamesThatDifferOnlyInCase) {
  EXPECT_EQ(hex(R"({"a":1,"A":2})"), hex(R"({"A":2,"a":1})"));
  EXPECT_NE(hex(R"({"a":1,"A":2})"), hex(R"({"a":2,"A":1})"));
}

TEST(Fingerprint, TellsValuesOfDifferentTypesApart) {
  std::set<std::string> hashes;
  const std::vector<const char*> values{"5",      "\"5\"", "true", "\"true\"", "null",  "\"null\"", "[]",
                                        "\"[]\"", "{}",    "\"\"", "0",        "false", "[null]"};
  for (const char* value : values) hashes.insert(hex(R"({"v":)" + std::string{value} + "}"));
  hashes.insert(hex("{}"));
  EXPECT_EQ(hashes.size(), values.size() + 1);

  std::set<std::string> roots;
  for (const char* value : values) roots.insert(hex(value));
  roots.insert(hex(""));
  EXPECT_EQ(roots.size(), values.size() + 1);
}

TEST(Fingerprint, TellsAnExtraMemberApart) {
  EXPECT_NE(hex(R"({"id":1})"), hex(R"({"id":1,"extra":"x"})"));
}

TEST(Fingerprint, DoesNotNormaliseUnicode) {
  EXPECT_NE(hex("\"\u00e9\""), hex("\"e\u0301\""));
}

TEST(Fingerprint, TellsLongIntegersApart) {
  EXPECT_NE(hex("9007199254740993"), hex("9007199254740992"));
  EXPECT_NE(hex("18446744073709551616"), hex("18446744073709551617"));
}

// The two collide under Adler-32, by which another system dropped the second.
TEST(Fingerprint, TellsBodiesOfOneAdler32Apart) {
  EXPECT_NE(hex(R"({"order":9534,"amount":5363})"), hex(R"({"order":7438,"amount":1582})"));
}

TEST(Fingerprint, TellsTheBordersOfThePartsApart) {
  std::set<std::string> hashes;
  const Fingerprinter fingerprinter;
  const std::vector<RequestContent> requests{
      {.method = "POST", .operation = "/a", .query = "", .content_type = "text/plain", .body = "b"},
      {.method = "POST/", .operation = "a", .query = "", .content_type = "text/plain", .body = "b"},
      {.method = "", .operation = "POST/a", .query = "", .content_type = "text/plain", .body = "b"},
      {.method = "POST", .operation = "/", .query = "a", .content_type = "text/plain", .body = "b"},
      {.method = "POST", .operation = "", .query = "/a", .content_type = "text/plain", .body = "b"},
      {.method = "POST", .operation = "/a", .query = "b", .content_type = "text/plain", .body = ""},
      {.method = "POST", .operation = "/a", .query = "", .content_type = "text/plainb", .body = ""},
      {.method = "POST", .operation = "/a", .query = "", .content_type = "text/plai", .body = "nb"},
      {.method = "PUT", .operation = "/a", .query = "", .content_type = "text/plain", .body = "b"}};
  for (const RequestContent& request : requests) hashes.insert(fingerprinter(request).hex());
  EXPECT_EQ(hashes.size(), requests.size());
}

TEST(FingerprintContentType, ReadsEachSpellingOfJsonAsJson) {
  for (const char* type :
       {"application/json", "Application/JSON", "application/json; charset=utf-8", " application/json ;x",
        "text/json", "application/vnd.api+json", "application/problem+JSON;v=1"}) {
    EXPECT_EQ(hex("{ }", type), hex("{}")) << type;
  }
}

TEST(FingerprintContentType, TakesOtherBodiesAsBytes) {
  const std::string_view bytes{"\x00\xff{ }", 5};
  EXPECT_EQ(hex(bytes, "application/octet-stream"), hex(bytes, "APPLICATION/octet-stream; a=b"));
  EXPECT_NE(hex("{ }", "text/plain"), hex("{}", "text/plain"));
  EXPECT_NE(hex("{}", "text/plain"), hex("{}", "text/csv"));
  EXPECT_NE(hex("{}", "text/plain"), hex("{}"));
  EXPECT_NE(hex("{}", "json"), hex("{}"));
  EXPECT_NE(hex("{}", ""), hex("{}"));
  EXPECT_NE(hex("x", "none"), hex("", "none"));
}

TEST(FingerprintContentType, HasNoneWithoutABody) {
  EXPECT_EQ(hex("", "application/json"), hex("", "text/plain"));
  EXPECT_NE(hex(""), hex("null"));
  EXPECT_NE(hex(""), hex("\"\""));
}

TEST(FingerprintSelection, IgnoresWhatEachAttemptMakesAnew) {
  const Fingerprinter fingerprinter{{.exclude = {"/id", "/meta/ts"}}};
  const Fingerprint first = fingerprinter(post(R"({"id":"a1","meta":{"ts":1,"v":2},"amount":5})"));
  EXPECT_EQ(fingerprinter(post(R"({"amount":5,"id":"b7","meta":{"ts":9,"v":2}})")), first);
  EXPECT_EQ(fingerprinter(post(R"({"amount":5,"meta":{"v":2}})")), first);
  EXPECT_NE(fingerprinter(post(R"({"id":"a1","meta":{"ts":1,"v":3},"amount":5})")), first);
  EXPECT_NE(fingerprinter(post(R"({"id":"a1","meta":{"ts":1,"v":2},"amount":6})")), first);
}

TEST(FingerprintSelection, HashesTheIncludedMembersOnly) {
  const Fingerprinter fingerprinter{{.include = {"/amount", "/currency"}}};
  EXPECT_EQ(fingerprinter(post(R"({"amount":5,"currency":"EUR","note":"x"})")),
            fingerprinter(post(R"({"currency":"EUR","amount":5.0})")));
  EXPECT_NE(fingerprinter(post(R"({"amount":5,"currency":null})")), fingerprinter(post(R"({"amount":5})")));
}

TEST(FingerprintSelection, IsRefusedForBodiesThatAreNotJson) {
  const Fingerprinter fingerprinter{{.include = {"/amount"}}};
  EXPECT_THROW(static_cast<void>(fingerprinter(post("amount=5", "application/x-www-form-urlencoded"))),
               idem::InvalidArgument);
  EXPECT_NO_THROW(static_cast<void>(fingerprinter(post("", "text/plain"))));
}

TEST(FingerprintErrors, TellWhereAndWhyAndNeverWhat) {
  try {
    static_cast<void>(Fingerprinter{}(post(R"({"card":"4111111111111111",})")));
    FAIL();
  } catch (const idem::InvalidJson& error) {
    EXPECT_EQ(error.offset(), 27U);
    EXPECT_EQ(error.next_step(), idem::NextStep::stop);
    EXPECT_EQ(std::string{error.what()}, "invalid JSON at byte 27: expected a member name");
  }
}

TEST(FingerprintOptions, AreCheckedAtOnce) {
  const HmacKey short_secret{1, std::vector<std::byte>(15)};
  HmacKey high_id = hmac_key(1);
  high_id.id = 128;
  EXPECT_THROW(Fingerprinter{{.hmac = short_secret}}, idem::InvalidArgument);
  EXPECT_THROW(Fingerprinter{{.hmac = high_id}}, idem::InvalidArgument);
  EXPECT_THROW((Fingerprinter{{.hmac = hmac_key(1), .also_hmac = {hmac_key(1)}}}), idem::InvalidArgument);
  EXPECT_THROW((Fingerprinter{{.also_hmac = {hmac_key(2), hmac_key(2)}}}), idem::InvalidArgument);
  EXPECT_THROW(Fingerprinter{{.include = {"amount"}}}, idem::InvalidArgument);
  EXPECT_THROW(Fingerprinter{{.exclude = {""}}}, idem::InvalidArgument);
}

TEST(FingerprintHmac, DiffersByIdAndSecretAndFromSha256) {
  HmacKey other_secret = hmac_key(1);
  other_secret.secret[0] = std::byte{0xaa};
  const Fingerprint one = Fingerprinter{{.hmac = hmac_key(1)}}(post(payment));
  EXPECT_EQ(one.scheme(), 0x81);
  EXPECT_NE(one, Fingerprinter{{.hmac = other_secret}}(post(payment)));
  EXPECT_NE(one, Fingerprinter{}(post(payment)));
  // The scheme is part of what is hashed: another id changes more than the first byte.
  EXPECT_NE(one.hex().substr(2), Fingerprinter{{.hmac = hmac_key(2)}}(post(payment)).hex().substr(2));
  EXPECT_EQ(Fingerprinter{{.hmac = hmac_key(127)}}(post(payment)).scheme(), 0xff);
}

TEST(FingerprintHmac, RecordsFromBeforeAChangeOfKeysStillMatch) {
  const Fingerprint plain = Fingerprinter{}(post(payment));
  const Fingerprint under_old = Fingerprinter{{.hmac = hmac_key(1)}}(post(payment));
  const Fingerprinter now{{.hmac = hmac_key(2), .also_hmac = {hmac_key(1)}, .also_sha256 = true}};
  const Fingerprint same = now(post(payment));
  const Fingerprint other = now(post(R"({"currency":"EUR","amount":1291})"));
  EXPECT_EQ(same.scheme(), 0x82);
  EXPECT_EQ(same.under(0x81), under_old);
  EXPECT_EQ(same.under(Fingerprint::sha256_scheme), plain);
  EXPECT_EQ(same.under(0x82), same);
  EXPECT_TRUE(same.matches(same));
  EXPECT_TRUE(same.matches(under_old));
  EXPECT_TRUE(same.matches(plain));
  EXPECT_FALSE(other.matches(same));
  EXPECT_FALSE(other.matches(under_old));
  EXPECT_FALSE(other.matches(plain));
}

TEST(FingerprintHmac, AProcessReadyForTheNewKeyMatchesItsRecords) {
  const Fingerprint under_new = Fingerprinter{{.hmac = hmac_key(2)}}(post(payment));
  EXPECT_TRUE(Fingerprinter{{.also_hmac = {hmac_key(2)}}}(post(payment)).matches(under_new));
}

TEST(FingerprintHmac, AnUnknownSchemeIsNeverAMismatch) {
  const Fingerprint mine = Fingerprinter{{.hmac = hmac_key(2)}}(post(payment));
  const Fingerprint stored = Fingerprinter{{.hmac = hmac_key(1)}}(post(payment));
  EXPECT_FALSE(mine.under(0x81));
  EXPECT_THROW(static_cast<void>(mine.matches(stored)), idem::FingerprintUnavailable);
  std::vector<std::byte> later_version(33);
  later_version[0] = std::byte{0x02};
  EXPECT_THROW(static_cast<void>(mine.matches(Fingerprint::from_bytes(later_version))),
               idem::FingerprintUnavailable);
}

}  // namespace
