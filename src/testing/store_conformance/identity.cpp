// Which record a key names, and which request a record is for.
#pragma once

#include "idem/testing/store_conformance/suite.hpp"

namespace idem {
inline namespace v0 {
namespace testing {

// Faults 36, 37, 43: nobody is ever answered with another's response.
TYPED_TEST_P(StoreConformance, IdentityOfPrincipalsAndOperationsThatShareAKeyIsTheirOwn) {
  const std::vector<Key> keys{
      {"alice", "POST /payments", "k"}, {"bob", "POST /payments", "k"},    {"alice", "POST /refunds", "k"},
      {"alice", "POST /payments", "K"}, {"alice", "POST /payments", "k "}, {"Alice", "POST /payments", "k"},
      {"ali", "cePOST /payments", "k"}, {"alice", "POST /payment", "sk"},  {"alice", "k", "POST /payments"},
  };
  for (std::size_t i = 0; i < keys.size(); ++i) {
    SCOPED_TRACE(i);
    this->complete(this->acquire(keys[i]), text_response(200, std::to_string(i)));
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(body_text(expect<Replay>(this->reserve(keys[i])).response), std::to_string(i));
    EXPECT_EQ(this->record(keys[i]).key, keys[i]);
  }
}

// Fault 30: no normalisation.
TYPED_TEST_P(StoreConformance, IdentityOfAKeyIsItsBytes) {
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
    this->complete(this->acquire(this->key(value)), text_response(200, value));
  }
  for (const std::string& value : values) {
    SCOPED_TRACE(value);
    EXPECT_EQ(body_text(expect<Replay>(this->reserve(this->key(value))).response), value);
  }
}

TYPED_TEST_P(StoreConformance, IdentityOfTheLongestKeyIsAccepted) {
  const Key longest{std::string(255, 'p'), std::string(255, 'o'), std::string(255, 'k')};
  this->complete(this->acquire(longest));
  expect<Replay>(this->reserve(longest));
}

// Fault 46.
TYPED_TEST_P(StoreConformance, IdentityThatCannotBeStoredIsInvalidKeyAndTheTransactionUsable) {
  const std::vector<std::string> invalid{"",     std::string(256, 'x'), std::string{"k\0", 2},
                                         "\xff", "\xed\xa0\x80",        "\xc0\x80"};
  auto unit = this->begin();
  for (const std::string& part : invalid) {
    SCOPED_TRACE(part.size());
    for (const Key& key : {Key{part, "o", "k"}, Key{"p", part, "k"}, Key{"p", "o", part}}) {
      EXPECT_THROW((void)unit.store().reserve(key, this->request(), this->options()), InvalidKey);
      EXPECT_THROW((void)unit.store().find(key), InvalidKey);
      EXPECT_THROW(unit.store().resolve(key, {1, random_uuid_v4()}, State::failed, this->answer(),
                                        this->not_charged()),
                   InvalidKey);
    }
  }
  this->expect_usable(unit);
}

TYPED_TEST_P(StoreConformance, IdentityOfARequestIsEveryByteOfItsFingerprint) {
  this->complete(this->acquire(this->key()));
  for (std::size_t i = 1; i < Fingerprint::size; ++i) {
    SCOPED_TRACE(i);
    Fingerprint::Bytes bytes = this->request().bytes();
    bytes[i] ^= std::byte{0x80};
    expect<Mismatch>(this->reserve(this->key(), Fingerprint::from_bytes(bytes)));
  }
}

// In every state: a fingerprint that cannot be compared says nothing about the request.
TYPED_TEST_P(StoreConformance, IdentityUnderAnUnknownSchemeIsFingerprintUnavailableNeverMismatch) {
  this->acquire(this->key("lapsed"));
  this->acquire(this->key("resumable"), this->resumable());
  this->advance(this->lease_time + std::chrono::minutes{1});
  const Lease live = this->acquire(this->key("live"));
  this->complete(this->acquire(this->key("completed")));
  this->fail(this->acquire(this->key("failed")));
  this->mark_unknown(this->acquire(this->key("unknown")));
  const Fingerprint keyed = this->request(1, Fingerprint::hmac_scheme_base + 7);
  for (const char* name : {"live", "lapsed", "resumable", "completed", "failed", "unknown"}) {
    SCOPED_TRACE(name);
    const Record before = this->record(this->key(name));
    for (const ReserveOptions& options :
         {this->options(), this->resumable(), this->under_attempt(live.holder.attempt)}) {
      auto unit = this->begin();
      EXPECT_THROW((void)unit.store().reserve(this->key(name), keyed, options), FingerprintUnavailable);
      unit.commit();
    }
    this->expect_same(before, this->record(this->key(name)));
  }
  auto unit = this->begin();
  EXPECT_THROW((void)unit.store().reserve(this->key("live"), keyed, this->options()), FingerprintUnavailable);
  this->expect_usable(unit);
}

TYPED_TEST_P(StoreConformance, IdentityIsComparedUnderTheRecordsOwnScheme) {
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

  expect_acquired(this->reserve(this->key("unkeyed"), unkeyed(same)), How::fresh);
  expect<InProgress>(this->reserve(this->key("unkeyed"), keyed(same)));
  expect<Mismatch>(this->reserve(this->key("unkeyed"), keyed(other)));
  EXPECT_EQ(this->record(this->key("unkeyed")).fingerprint, unkeyed(same));

  const Lease lease = expect_acquired(this->reserve(this->key("keyed"), keyed(same)), How::fresh).lease;
  EXPECT_EQ(lease.fingerprint, keyed(same));
  this->complete(lease);
  expect<Replay>(this->reserve(this->key("keyed"), later(same)));
  expect<Mismatch>(this->reserve(this->key("keyed"), later(other)));
  auto unit = this->begin();
  EXPECT_THROW((void)unit.store().reserve(this->key("keyed"), unkeyed(same)), FingerprintUnavailable);
}

// The lease carries the stored fingerprint, which the downstream key is derived from, whatever the asker's
// scheme is.
TYPED_TEST_P(StoreConformance, IdentityInALeaseIsTheStoredFingerprint) {
  FingerprintOptions keyed_options;
  keyed_options.hmac = HmacKey{7, std::vector<std::byte>(32, std::byte{1})};
  keyed_options.also_sha256 = true;
  const RequestContent content{.method = "POST", .operation = "/payments", .query = {}, .body = "{}"};
  const Fingerprint unkeyed = Fingerprinter{}(content);
  const Fingerprint keyed = Fingerprinter{keyed_options}(content);
  const Lease first =
      expect_acquired(this->reserve(this->key(), unkeyed, this->resumable()), How::fresh).lease;
  ReserveOptions own = this->options();
  own.attempt = first.holder.attempt;
  EXPECT_EQ(expect_acquired(this->reserve(this->key(), keyed, own), How::again).lease.fingerprint, unkeyed);
  this->advance(this->lease_time + std::chrono::minutes{1});
  EXPECT_EQ(
      expect_acquired(this->reserve(this->key(), keyed, this->resumable()), How::took_over).lease.fingerprint,
      unkeyed);
}

}  // namespace testing
}  // namespace v0
}  // namespace idem
