#include "idem/request/key.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "idem/base/error.hpp"
#include "idem/call/downstream_key.hpp"
#include "request/key_hash.hpp"

namespace {

using namespace std::string_literals;
using idem::Key;

const Key some_key{"tenant-7", "POST /payments", "8e03978e-40d5-43dd-bc93-6894a57f9324"};

std::string refusal(const Key& key) {
  try {
    idem::validate(key);
  } catch (const idem::InvalidKey& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ValidateKey, AcceptsOneTo255Bytes) {
  EXPECT_EQ(refusal({"p", "o", "k"}), "accepted");
  EXPECT_EQ(refusal({std::string(255, 'p'), std::string(255, 'o'), std::string(255, 'k')}), "accepted");
  EXPECT_EQ(refusal({"Grüße", "\xf0\x9f\x98\x80", "\x01 \x7f"}), "accepted");
}

TEST(ValidateKey, NamesThePartAndTheLimit) {
  EXPECT_EQ(refusal({"", "o", "k"}), "the principal is empty: it must have 1 to 255 bytes");
  EXPECT_EQ(refusal({"p", "", "k"}), "the operation is empty: it must have 1 to 255 bytes");
  EXPECT_EQ(refusal({"p", "o", ""}), "the key is empty: it must have 1 to 255 bytes");
  EXPECT_EQ(refusal({"p", "o", std::string(256, 'k')}), "the key has 256 bytes: at most 255 are allowed");
  EXPECT_EQ(refusal({"p", "a\0b"s, "k"}), "the operation holds a NUL byte, which is not allowed");
}

TEST(ValidateKey, RefusesInvalidUtf8) {
  // A continuation alone, an overlong slash, a surrogate, beyond U+10FFFF, cut short, Latin-1.
  for (const char* text : {"\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "caf\xe9"}) {
    EXPECT_EQ(refusal({text, "o", "k"}), "the principal is not valid UTF-8");
    EXPECT_EQ(refusal({"p", "o", text}), "the key is not valid UTF-8");
  }
}

TEST(ValidateKey, NeverShowsTheContent) {
  EXPECT_EQ(refusal({"p", "o", "secret\xff"}).find("secret"), std::string::npos);
  EXPECT_EQ(refusal({"p", "o", "secret" + std::string(300, 'x')}).find("secret"), std::string::npos);
}

TEST(NaturalKey, IsReadableAndTellsThePartsApart) {
  EXPECT_EQ(idem::natural_key({"ab", "cde"}), "2:ab,3:cde,");
  EXPECT_EQ(idem::natural_key("ab", "cde"s), "2:ab,3:cde,");
  EXPECT_NE(idem::natural_key("a", "bc"), idem::natural_key("ab", "c"));
  EXPECT_NE(idem::natural_key("a"), idem::natural_key("a", ""));
  EXPECT_NE(idem::natural_key("", "a"), idem::natural_key("a", ""));
  EXPECT_NE(idem::natural_key("1:a,1:b"), idem::natural_key("a", "b"));
}

TEST(NaturalKey, AcceptsAnEmptyPartButNotNone) {
  EXPECT_EQ(idem::natural_key(""), "0:,");
  EXPECT_THROW(static_cast<void>(idem::natural_key(std::initializer_list<std::string_view>{})),
               idem::InvalidArgument);
}

TEST(NaturalKey, IsHashedWhereNoKeyCanHoldIt) {
  EXPECT_EQ(idem::natural_key(std::string(300, 'x')),
            "sha256:2b624003e3a05e3117bf46fb10c7a4c33fd0384342c60ec3b2818647fe2ca7bc");
  EXPECT_EQ(idem::natural_key(std::string(250, 'x')).substr(0, 4), "250:");  // 255 bytes in all
  EXPECT_EQ(idem::natural_key(std::string(251, 'x')).substr(0, 7), "sha256:");
  EXPECT_EQ(idem::natural_key("a\0b"s).substr(0, 7), "sha256:");
  EXPECT_EQ(idem::natural_key("\xff").substr(0, 7), "sha256:");
  EXPECT_NE(idem::natural_key("\xff", "\xfe\xfd"), idem::natural_key("\xff\xfe", "\xfd"));
}

TEST(NaturalKey, IsAlwaysAValidKey) {
  for (const std::string& part :
       {""s, "a\0b"s, "\xc3"s, std::string(250, 'x'), std::string(251, 'x'), std::string(1 << 20, 'y')}) {
    EXPECT_EQ(refusal({"p", "o", idem::natural_key(part)}), "accepted");
    EXPECT_EQ(refusal({"p", "o", idem::natural_key(part, part)}), "accepted");
    EXPECT_EQ(refusal({"p", "o", idem::step_key(part, part)}), "accepted");
    EXPECT_EQ(refusal({"p", "o", idem::compensation_key(part, part)}), "accepted");
  }
}

TEST(SagaKey, StepCompensationAndNaturalKeyAreNeverEqual) {
  EXPECT_EQ(idem::step_key("saga-1", "charge"), "step:6:saga-1,6:charge,");
  EXPECT_EQ(idem::compensation_key("saga-1", "charge"), "undo:6:saga-1,6:charge,");
  const std::string longer(250, 's');
  EXPECT_EQ(idem::step_key(longer, "t"),
            "step-sha256:1f2610633087a6063714423b5f33a9bfcc33fc6e1dd92ff54a17a12ad0fde259");
  EXPECT_EQ(idem::compensation_key(longer, "t"),
            "undo-sha256:33962185072003038c5d3ea2b84aadfc68f74320833c087c4042464fd4ad8f30");

  std::set<std::string> keys;
  std::size_t made = 0;
  const std::vector<std::string> parts{"",          "a",         "b",    "ab",         "a,1:b",
                                       "step:1:a,", "undo:1:a,", longer, longer + "x", "\xff"};
  for (const std::string& saga : parts) {
    for (const std::string& step : parts) {
      keys.insert(
          {idem::step_key(saga, step), idem::compensation_key(saga, step), idem::natural_key(saga, step)});
      made += 3;
    }
  }
  EXPECT_EQ(keys.size(), made);
}

// The values were computed by another program (Python's hashlib) from the documented layout.
TEST(KeyHash, HasTheDocumentedLayout) {
  const idem::KeyHash hash = idem::hash_key(some_key);
  EXPECT_EQ(hash.id.to_string(), "d44471f2-ebdc-08a7-2c6e-dde558b4a00a");
  EXPECT_EQ(hash.lock, -2861202983586006956);
  const idem::KeyHash other = idem::hash_key({"a", "b", "é"});
  EXPECT_EQ(other.id.to_string(), "84474b8d-f72d-11da-1f91-385be28b9dd7");
  EXPECT_EQ(other.lock, -6692506964131766333);
}

TEST(KeyHash, TellsTheBordersOfThePartsApart) {
  std::set<idem::Uuid> ids;
  for (const Key& key : {Key{"a", "b", "c"}, Key{"ab", "", "c"}, Key{"", "ab", "c"}, Key{"a", "bc", ""},
                         Key{"a", "", "bc"}, Key{"abc", "", ""}, Key{"c", "b", "a"}}) {
    ids.insert(idem::hash_key(key).id);
  }
  EXPECT_EQ(ids.size(), 7U);
}

idem::Fingerprint fingerprint_of(std::string_view body) {
  return idem::Fingerprinter{}({.method = "POST", .operation = "/payments", .query = "", .body = body});
}

TEST(DownstreamKey, IsTheDocumentedUuidV8) {
  EXPECT_EQ(idem::downstream_key(some_key, fingerprint_of(R"({"amount":1290,"currency":"EUR"})")),
            "062c4436-66b4-8d2b-885e-4b2960f46992");
}

TEST(DownstreamKey, DiffersWithEachInput) {
  const auto fingerprint = fingerprint_of("1");
  std::set<std::string> keys;
  for (const Key& key : {Key{"p1", "o", "k"}, Key{"p2", "o", "k"}, Key{"p1", "o2", "k"}, Key{"p1", "o", "k2"},
                         Key{"p1o", "", "k"}}) {
    keys.insert(idem::downstream_key(key, fingerprint));
  }
  keys.insert(idem::downstream_key({"p1", "o", "k"}, fingerprint_of("2")));
  EXPECT_EQ(keys.size(), 6U);
}

TEST(DeterministicUuid, IsTheDocumentedUuidV8AndDiffersByPurpose) {
  EXPECT_EQ(idem::deterministic_uuid(some_key, "receipt").to_string(),
            "fdcb5f17-d278-8fb4-9a4e-46f00b1eb60e");
  EXPECT_NE(idem::deterministic_uuid(some_key, "receipt"), idem::deterministic_uuid(some_key, "payment"));
  EXPECT_NE(idem::deterministic_uuid({"p", "o", "k"}, ""), idem::deterministic_uuid({"p", "o", ""}, "k"));
}

}  // namespace
