// Bodies that are compressed: alone, before encryption, and in a record.
#include "idem/zlib/zlib_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hex.hpp"
#include "idem/base/error.hpp"
#include "idem/response/aes_gcm_codec.hpp"

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

std::string message_of(const ZlibCodec& codec, const std::vector<std::byte>& stored) {
  try {
    (void)codec.decode(stored, {});
  } catch (const BodyUnavailable& refused) {
    return refused.what();
  }
  return "decoded";
}

std::shared_ptr<const AesGcmCodec> aes() {
  const std::vector<std::byte> secret(32, std::byte{7});
  return std::make_shared<AesGcmCodec>(AesKey{1, AesSecret{secret}});
}

// Made by CPython's zlib.compress(b'{"id":"pay_1","amount_cents":1290}').
const std::string stream =
    "789cab56ca4c51b2522a48ac8c3754d2514acccd2fcd2b894f4ecd2b2956b23234b234a80500be010ae8";
constexpr std::string_view body = R"({"id":"pay_1","amount_cents":1290})";

TEST(ZlibCodec, DecodesWhatAnotherImplementationMade) {
  const ZlibCodec codec;
  EXPECT_EQ(codec.name(), "zlib");
  EXPECT_EQ(text_of(codec.decode(from_hex(stream).value(), {})), body);
}

TEST(ZlibCodec, WhatItMakesIsSmallerAndComesBack) {
  const ZlibCodec codec;
  std::string large;
  for (int line = 0; line < 100'000; ++line) large += R"({"seat":"row 7"},)";
  const auto stored = codec.encode(bytes_of(large), {});
  EXPECT_LT(stored.size(), large.size() / 50);
  EXPECT_EQ(text_of(codec.decode(stored, {})), large);
  EXPECT_EQ(text_of(codec.decode(codec.encode({}, {}), {})), "");
}

TEST(ZlibCodec, WhatIsNotOneWholeStreamIsUnavailable) {
  const ZlibCodec codec;
  const auto whole = from_hex(stream).value();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(message_of(codec, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}),
                HasSubstr("not one whole zlib stream"))
        << size;
  }
  auto longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_THAT(message_of(codec, longer), HasSubstr("not one whole zlib stream"));
}

TEST(ZlibCodec, AChangedBitNeverMakesAnotherBody) {
  const ZlibCodec codec;
  const auto whole = from_hex(stream).value();
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    auto changed = whole;
    changed[bit / 8] ^= std::byte{1} << bit % 8;
    try {
      // A few bits of a stream fill its last byte.
      EXPECT_EQ(text_of(codec.decode(changed, {})), body) << bit;
    } catch (const BodyUnavailable&) {
    }
  }
}

TEST(ZlibCodec, NothingUnpacksBeyondTheBound) {
  const std::string ten(10, 'a');
  const ZlibCodec of_ten{nullptr, 10};
  EXPECT_EQ(text_of(of_ten.decode(of_ten.encode(bytes_of(ten), {}), {})), ten);
  EXPECT_THROW((void)of_ten.encode(bytes_of(ten + 'a'), {}), InvalidArgument);
  EXPECT_THAT(message_of(of_ten, ZlibCodec{}.encode(bytes_of(ten + 'a'), {})),
              HasSubstr("max_body_bytes, 10"));
  // A thousandth of it on the wire.
  const auto bomb =
      ZlibCodec{nullptr, std::size_t{1} << 28}.encode(std::vector<std::byte>(std::size_t{1} << 26), {});
  EXPECT_THAT(message_of(ZlibCodec{}, bomb), HasSubstr("max_body_bytes"));
  EXPECT_THROW(ZlibCodec(nullptr, 0), InvalidArgument);
  EXPECT_THROW(ZlibCodec(nullptr, (std::size_t{1} << 30) + 1), InvalidArgument);
}

TEST(ZlibCodec, CompressesWhatIsThenEncrypted) {
  const ZlibCodec codec{aes()};
  EXPECT_EQ(codec.name(), "zlib+aes-256-gcm");
  const std::string large(100'000, 'a');
  const auto record = bytes_of("which record");
  const auto stored = codec.encode(bytes_of(large), record);
  EXPECT_LT(stored.size(), 1000U);
  EXPECT_EQ(text_of(codec.decode(stored, record)), large);
  EXPECT_EQ(text_of(ZlibCodec{}.decode(aes()->decode(stored, record), {})), large);
  EXPECT_THROW((void)codec.decode(stored, bytes_of("another record")), BodyUnavailable);
}

}  // namespace
}  // namespace idem
