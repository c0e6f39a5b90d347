// Which record a key names, and which request a record is for.
#include "testing/store_conformance/suite.hpp"

namespace idem {
inline namespace v0 {
namespace testing {
namespace {

CONFORMANCE_TESTS_OF(StoreConformance);

// Faults 36, 37, 43: nobody is ever answered with another's response.
CONFORMANCE_TEST(StoreConformance, IdentityOfPrincipalsAndOperationsThatShareAKeyIsTheirOwn) {
  const std::vector<Key> keys{
      {"alice", "POST /payments", "k"}, {"bob", "POST /payments", "k"},    {"alice", "POST /refunds", "k"},
      {"alice", "POST /payments", "K"}, {"alice", "POST /payments", "k "}, {"Alice", "POST /payments", "k"},
      {"ali", "cePOST /payments", "k"}, {"alice", "POST /payment", "sk"},  {"alice", "k", "POST /payments"},
  };
  for (std::size_t i = 0; i < keys.size(); ++i) {
    SCOPED_TRACE(i);
    complete(acquire(keys[i]), text_response(200, std::to_string(i)));
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(body_text(expect<Replay>(reserve(keys[i])).response), std::to_string(i));
    EXPECT_EQ(record(keys[i]).key, keys[i]);
  }
}

// Fault 30: no normalisation.
CONFORMANCE_TEST(StoreConformance, IdentityOfAKeyIsItsBytes) {
  const std::vector<std::string> values{"\xc3\xa9",
                                        "e\xcc\x81",
                                        "\"k\"",
                                        "k",
                                        "k\t",
                                        "k\n",
                                        "%",
                                        "_",
                                        "'",
                                        "\\",
                                        "$1",
                                        std::string(255, 'x'),
                                        std::string(254, 'x')};
  for (const std::string& value : values) {
    SCOPED_TRACE(value);
    complete(acquire(key(value)), text_response(200, value));
  }
  for (const std::string& value : values) {
    SCOPED_TRACE(value);
    EXPECT_EQ(body_text(expect<Replay>(reserve(key(value))).response), value);
  }
}

CONFORMANCE_TEST(StoreConformance, IdentityOfTheLongestKeyIsAccepted) {
  const Key longest{std::string(255, 'p'), std::string(255, 'o'), std::string(255, 'k')};
  complete(acquire(longest));
  expect<Replay>(reserve(longest));
}

// Fault 46.
CONFORMANCE_TEST(StoreConformance, IdentityThatCannotBeStoredIsInvalidKeyAndTheTransactionUsable) {
  const std::vector<std::string> invalid{"",     std::string(256, 'x'), std::string{"k\0", 2},
                                         "\xff", "\xed\xa0\x80",        "\xc0\x80"};
  auto unit = begin();
  for (const std::string& part : invalid) {
    SCOPED_TRACE(part.size());
    for (const Key& key : {Key{part, "o", "k"}, Key{"p", part, "k"}, Key{"p", "o", part}}) {
      EXPECT_THROW((void)unit->store().reserve(key, request(), options()), InvalidKey);
      EXPECT_THROW((void)unit->store().find(key), InvalidKey);
      EXPECT_THROW(unit->store().resolve(key, {1, random_uuid_v4()}, State::failed, answer(), not_charged()),
                   InvalidKey);
    }
  }
  expect_usable(*unit);
}

CONFORMANCE_TEST(StoreConformance, IdentityOfARequestIsEveryByteOfItsFingerprint) {
  complete(acquire(key()));
  for (std::size_t i = 1; i < Fingerprint::size; ++i) {
    SCOPED_TRACE(i);
    Fingerprint::Bytes bytes = request().bytes();
    bytes[i] ^= std::byte{0x80};
    expect<Mismatch>(reserve(key(), Fingerprint::from_bytes(bytes)));
  }
}

// In every state: a fingerprint that cannot be compared says nothing about the request.
CONFORMANCE_TEST(StoreConformance, IdentityUnderAnUnknownSchemeIsFingerprintUnavailableNeverMismatch) {
  acquire(key("lapsed"));
  acquire(key("resumable"), resumable());
  advance(lease_time + std::chrono::minutes{1});
  const Lease live = acquire(key("live"));
  complete(acquire(key("completed")));
  fail(acquire(key("failed")));
  mark_unknown(acquire(key("unknown")));
  const Fingerprint keyed = request(1, Fingerprint::hmac_scheme_base + 7);
  for (const char* name : {"live", "lapsed", "resumable", "completed", "failed", "unknown"}) {
    SCOPED_TRACE(name);
    const Record before = record(key(name));
    for (const ReserveOptions& asked : {options(), resumable(), under_attempt(live.holder.attempt)}) {
      auto unit = begin();
      EXPECT_THROW((void)unit->store().reserve(key(name), keyed, asked), FingerprintUnavailable);
      unit->commit();
    }
    expect_same(before, record(key(name)));
  }
  auto unit = begin();
  EXPECT_THROW((void)unit->store().reserve(key("live"), keyed, options()), FingerprintUnavailable);
  expect_usable(*unit);
}

CONFORMANCE_TEST(StoreConformance, IdentityIsComparedUnderTheRecordsOwnScheme) {
  HmacKey secret{7, std::vector<std::byte>(32, std::byte{1})};
  const Fingerprinter unkeyed;
  FingerprintOptions keyed_options;
  keyed_options.hmac = secret;
  keyed_options.also_sha256 = true;
  const Fingerprinter keyed{keyed_options};
  FingerprintOptions later_options;
  later_options.hmac = HmacKey{8, std::vector<std::byte>(32, std::byte{2})};
  later_options.also_hmac = {secret};
  const Fingerprinter later{later_options};
  const RequestContent same{
      .method = "POST", .operation = "/payments", .query = {}, .body = R"({"cents":1290})"};
  const RequestContent other{
      .method = "POST", .operation = "/payments", .query = {}, .body = R"({"cents":1291})"};

  expect_acquired(reserve(key("unkeyed"), unkeyed(same)), How::fresh);
  expect<InProgress>(reserve(key("unkeyed"), keyed(same)));
  expect<Mismatch>(reserve(key("unkeyed"), keyed(other)));
  EXPECT_EQ(record(key("unkeyed")).fingerprint, unkeyed(same));

  const Lease lease = expect_acquired(reserve(key("keyed"), keyed(same)), How::fresh).lease;
  EXPECT_EQ(lease.fingerprint, keyed(same));
  complete(lease);
  expect<Replay>(reserve(key("keyed"), later(same)));
  expect<Mismatch>(reserve(key("keyed"), later(other)));
  auto unit = begin();
  EXPECT_THROW((void)unit->store().reserve(key("keyed"), unkeyed(same)), FingerprintUnavailable);
}

// The lease carries the stored fingerprint, which the downstream key is derived from, whatever the asker's
// scheme is.
CONFORMANCE_TEST(StoreConformance, IdentityInALeaseIsTheStoredFingerprint) {
  FingerprintOptions keyed_options;
  keyed_options.hmac = HmacKey{7, std::vector<std::byte>(32, std::byte{1})};
  keyed_options.also_sha256 = true;
  const RequestContent content{.method = "POST", .operation = "/payments", .query = {}, .body = "{}"};
  const Fingerprint unkeyed = Fingerprinter{}(content);
  const Fingerprint keyed = Fingerprinter{keyed_options}(content);
  const Lease first = expect_acquired(reserve(key(), unkeyed, resumable()), How::fresh).lease;
  ReserveOptions own = options();
  own.attempt = first.holder.attempt;
  EXPECT_EQ(expect_acquired(reserve(key(), keyed, own), How::again).lease.fingerprint, unkeyed);
  advance(lease_time + std::chrono::minutes{1});
  EXPECT_EQ(expect_acquired(reserve(key(), keyed, resumable()), How::took_over).lease.fingerprint, unkeyed);
}

}  // namespace

void register_identity(const std::string& name, const StoreConformance::MakeFixture& make) {
  register_conformance_cases(name, CONFORMANCE_CASES, make);
}

}  // namespace testing
}  // namespace v0
}  // namespace idem
