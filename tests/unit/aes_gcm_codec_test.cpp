// AES-256-GCM: the envelope, its keys, and what does not verify.
#include "idem/response/aes_gcm_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/hex.hpp"
#include "idem/base/error.hpp"

namespace idem {
namespace {

using ::testing::HasSubstr;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

AesKey key(std::uint32_t id, std::uint8_t first = 0) {
  std::vector<std::byte> secret;
  for (std::uint8_t at = 0; at < 32; ++at) secret.push_back(std::byte(first + at));
  return {id, AesSecret{secret}};
}

// Made by pyca/cryptography 48's AESGCM over the envelope's layout: the secret 00 01 … 1f, the nonce a0 … ab.
const std::string body = R"({"id":"pay_1","amount_cents":1290})";
const std::string record = "which record";
const std::string envelope =
    "0101020304a0a1a2a3a4a5a6a7a8a9aaab9d3a154967f120cf031cd8e22556e2bf1dc32c7ee6e82109f27a55a4459a4738e20b"
    "1e0998f8fec4966021a6d87ba4d7c2e8";
const std::string envelope_of_nothing = "0101020304a0a1a2a3a4a5a6a7a8a9aaab9b6a5fc8234bbb87b7a63f23c72d68fc";

std::string decoded(const AesGcmCodec& codec, const std::vector<std::byte>& stored,
                    const std::string& associated_data = record) {
  return text_of(codec.decode(stored, bytes_of(associated_data)));
}

TEST(AesGcmCodec, DecodesWhatAnotherImplementationMade) {
  const AesGcmCodec codec{key(0x01020304)};
  EXPECT_EQ(codec.name(), "aes-256-gcm");
  EXPECT_EQ(decoded(codec, from_hex(envelope).value()), body);
  EXPECT_EQ(decoded(codec, from_hex(envelope_of_nothing).value()), "");
}

TEST(AesGcmCodec, MakesThatEnvelopeWithANonceOfItsOwn) {
  const AesGcmCodec codec{key(0x01020304)};
  std::vector<std::string> nonces;
  for (const std::string_view text : {std::string_view{body}, std::string_view{body}, std::string_view{}}) {
    const auto stored = codec.encode(bytes_of(text), bytes_of(record));
    EXPECT_EQ(stored.size(), 5 + 12 + text.size() + 16);
    EXPECT_EQ(to_hex(stored).substr(0, 10), "0101020304");
    nonces.push_back(to_hex(stored).substr(10, 24));
    EXPECT_EQ(decoded(codec, stored), text);
  }
  EXPECT_NE(nonces[0], nonces[1]);
  EXPECT_NE(nonces[0], nonces[2]);
}

TEST(AesGcmCodec, AnyByteThatIsChangedIsNoticed) {
  const AesGcmCodec codec{key(0x01020304)};
  const auto whole = from_hex(envelope).value();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto changed = whole;
    changed[at] ^= std::byte{0x01};
    EXPECT_THROW((void)decoded(codec, changed), BodyUnavailable) << at;
  }
  EXPECT_THROW((void)decoded(codec, whole, "another record"), BodyUnavailable);
  EXPECT_THROW((void)decoded(codec, whole, ""), BodyUnavailable);
}

// The id is authenticated by itself: two ids with one secret are still two.
TEST(AesGcmCodec, AnotherIdWithTheSameSecretDoesNotVerify) {
  auto changed = from_hex(envelope).value();
  changed[4] = std::byte{0x05};
  EXPECT_THROW((void)decoded(AesGcmCodec{key(0x01020305)}, changed), BodyUnavailable);
}

TEST(AesGcmCodec, WhatIsTooShortOrOfAnotherVersionIsNoEnvelope) {
  const AesGcmCodec codec{key(0x01020304)};
  const auto whole = from_hex(envelope_of_nothing).value();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW((void)decoded(codec, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}),
                 BodyUnavailable)
        << size;
  }
  auto newer = whole;
  newer[0] = std::byte{0x02};
  try {
    (void)decoded(codec, newer);
    ADD_FAILURE();
  } catch (const BodyUnavailable& unavailable) {
    EXPECT_THAT(unavailable.what(), HasSubstr("no AES-256-GCM envelope of version 1"));
  }
}

TEST(AesGcmCodec, SaysWhichKeyIsMissing) {
  const auto whole = from_hex(envelope).value();
  try {
    (void)decoded(AesGcmCodec{key(1), {key(2)}}, whole);
    ADD_FAILURE();
  } catch (const BodyUnavailable& unavailable) {
    EXPECT_THAT(unavailable.what(), HasSubstr("AES key 16909060, which this process was not given"));
    EXPECT_EQ(unavailable.next_step(), NextStep::stop);
  }
}

TEST(AesGcmCodec, EncodesUnderTheFirstKeyAndDecodesUnderAll) {
  const AesGcmCodec before{key(1, 10)};
  const AesGcmCodec after{key(2, 20), {key(1, 10), key(3, 30)}};
  EXPECT_EQ(decoded(after, before.encode(bytes_of(body), bytes_of(record))), body);
  const auto stored = after.encode(bytes_of(body), bytes_of(record));
  EXPECT_EQ(to_hex(stored).substr(0, 10), "0100000002");
  EXPECT_EQ(decoded(after, stored), body);
  EXPECT_THROW((void)decoded(before, stored), BodyUnavailable);
}

TEST(AesGcmCodec, RefusesAnIdTwiceAndASecretOfAnotherLength) {
  EXPECT_THROW((AesGcmCodec{key(1), {key(1, 9)}}), InvalidArgument);
  EXPECT_THROW((AesGcmCodec{key(1), {key(2), key(2)}}), InvalidArgument);
  for (const std::size_t size : {0U, 16U, 31U, 33U}) {
    EXPECT_THROW(AesSecret{std::vector<std::byte>(size)}, InvalidArgument) << size;
  }
}

TEST(AesGcmCodec, CopesWithALargeBody) {
  const AesGcmCodec codec{key(1)};
  const std::string large(std::size_t{16} << 20, 'x');
  EXPECT_EQ(decoded(codec, codec.encode(bytes_of(large), bytes_of(record))), large);
}

}  // namespace
}  // namespace idem
