// What a codec is given and must be called, and a codec of the caller's own.
#include "idem/response/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/hex.hpp"
#include "idem/base/error.hpp"
#include "idem/command/execute.hpp"
#include "idem/memory/database.hpp"
#include "idem/request/fingerprint.hpp"
#include "idem/response/aes_gcm_codec.hpp"
#include "response/stored_form.hpp"

namespace idem {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

// Stores bodies as they are, under any name, and keeps what it was last told about the record.
class Named final : public BodyCodec {
 public:
  explicit Named(std::string name) : name_{std::move(name)} {}
  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::vector<std::byte> encode(std::span<const std::byte> body,
                                              std::span<const std::byte> associated_data) const override {
    told.assign(associated_data.begin(), associated_data.end());
    return {body.begin(), body.end()};
  }
  [[nodiscard]] std::vector<std::byte> decode(std::span<const std::byte> stored,
                                              std::span<const std::byte> associated_data) const override {
    told.assign(associated_data.begin(), associated_data.end());
    return {stored.begin(), stored.end()};
  }

  mutable std::vector<std::byte> told;

 private:
  std::string name_;
};

// ---- rules

TEST(ResponseRules, CodecsHaveNamesThatCanBeStored) {
  const std::string longest(64, 'a');
  for (const std::string& name : {std::string{"a"}, std::string{"x-9.1+aes-256-gcm"}, longest}) {
    EXPECT_NO_THROW(validate({.codec = std::make_shared<Named>(name)})) << name;
  }
  for (const std::string& name : {std::string{}, std::string{"A"}, std::string{"a b"}, std::string{"a:b"},
                                  std::string{"a\n"}, longest + 'a'}) {
    EXPECT_THROW(validate({.codec = std::make_shared<Named>(name)}), InvalidArgument) << name;
    EXPECT_THROW(validate({.also_decode = {std::make_shared<Named>(name)}}), InvalidArgument) << name;
  }
}

TEST(ResponseRules, NoNameStandsForTwoCodecs) {
  const auto a = std::make_shared<Named>("a");
  EXPECT_THROW(validate({.codec = a, .also_decode = {std::make_shared<Named>("a")}}), InvalidArgument);
  EXPECT_THROW(validate({.also_decode = {a, std::make_shared<Named>("a")}}), InvalidArgument);
  EXPECT_THROW(validate({.also_decode = {nullptr}}), InvalidArgument);
  EXPECT_NO_THROW(validate({.codec = a, .also_decode = {std::make_shared<Named>("b")}}));
  EXPECT_THROW((memory::Database{std::make_shared<SystemClock>(), nullptr, {.also_decode = {nullptr}}}),
               InvalidArgument);
}

// ---- which record a body belongs to

const Key stored_key{"tenant-1", "POST /payments", "key-1"};
const Response given{201, {{"Location", "/payments/1"}}, bytes_of(R"({"id":"pay_1"})")};

TEST(ResponseRules, ABodyIsBoundToItsKeyStatusAndHeaders) {
  const auto codec = std::make_shared<Named>("aes-256-gcm");
  const ResponseRules rules{.codec = codec};
  (void)detail::as_stored(stored_key, given, 1000, &rules);
  const std::string expected =
      "000000000000000c6964656d20626f6479207631000000000000000874656e616e742d31000000000000000e504f5354202f70"
      "61796d656e747300000000000000056b65792d31000000000000000332303100000000000000084c6f636174696f6e00000000"
      "00"
      "00000b2f7061796d656e74732f31000000000000000c6964656d2d656e636f646564000000000000000b6165732d3235362d67"
      "636d";
  EXPECT_EQ(to_hex(codec->told), expected);
}

// The whole of it, made by pyca/cryptography 48.
TEST(ResponseRules, RestoresWhatAnotherImplementationStored) {
  std::vector<std::byte> secret;
  for (std::uint8_t at = 0; at < 32; ++at) secret.push_back(std::byte{at});
  const ResponseRules rules{.codec = std::make_shared<AesGcmCodec>(AesKey{0x01020304, AesSecret{secret}})};
  const Response stored{
      201,
      {{"Location", "/payments/1"}, {"idem-encoded", "aes-256-gcm"}},
      from_hex("0101020304a0a1a2a3a4a5a6a7a8a9aaab9d3a154967f120cf031cd8e22507440d5838a883dd9130d"
               "c23c6c568359d")
          .value()};
  Response restored = stored;
  detail::restore(stored_key, restored, &rules);
  EXPECT_EQ(restored, given);

  // Moved to another record, or with another status or header.
  for (const Key& key : {Key{"tenant-2", stored_key.operation, stored_key.value},
                         Key{stored_key.principal, "POST /refunds", stored_key.value},
                         Key{stored_key.principal, stored_key.operation, "key-2"}}) {
    Response moved = stored;
    EXPECT_THROW(detail::restore(key, moved, &rules), BodyUnavailable);
    EXPECT_EQ(moved, stored);
  }
  Response changed = stored;
  changed.status = 200;
  EXPECT_THROW(detail::restore(stored_key, changed, &rules), BodyUnavailable);
  changed = stored;
  changed.headers.front().value = "/payments/2";
  EXPECT_THROW(detail::restore(stored_key, changed, &rules), BodyUnavailable);
  changed = stored;
  changed.headers.insert(changed.headers.begin(), {"a", "b"});
  EXPECT_THROW(detail::restore(stored_key, changed, &rules), BodyUnavailable);
}

TEST(ResponseRules, AMarkThatNoVersionWritesIsNotReplayed) {
  Response stored{201, {{"idem-withheld", "some-day"}}, {}};
  EXPECT_EQ(withheld(stored), std::nullopt);
  EXPECT_THROW(detail::restore(stored_key, stored, nullptr), StoredDataError);
}

TEST(ResponseRules, AnUnknownCodecsNameIsToldOnlyWhereItIsOne) {
  for (const auto& [name, told] : {std::pair{"zstd", "the codec zstd"},
                                   std::pair{"\x1b[2J 4111", "a codec that no version could name"}}) {
    Response stored{201, {{"idem-encoded", name}}, {}};
    try {
      detail::restore(stored_key, stored, nullptr);
      ADD_FAILURE();
    } catch (const BodyUnavailable& unavailable) {
      EXPECT_THAT(unavailable.what(), ::testing::HasSubstr(told));
    }
  }
}

// ---- a codec of one's own around another: docs/stored-bodies.md

// Run lengths, as an example of compression: a count from 1 to 255 and the byte, again and again.
class RunLengths final : public BodyCodec {
 public:
  explicit RunLengths(std::shared_ptr<const BodyCodec> inner)
      : inner_{std::move(inner)}, name_{"runs+" + std::string{inner_->name()}} {}

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }

  [[nodiscard]] std::vector<std::byte> encode(std::span<const std::byte> body,
                                              std::span<const std::byte> associated_data) const override {
    std::vector<std::byte> runs;
    while (!body.empty()) {
      std::size_t length = 1;
      while (length < 255 && length < body.size() && body[length] == body.front()) ++length;
      runs.push_back(std::byte(length));
      runs.push_back(body.front());
      body = body.subspan(length);
    }
    return inner_->encode(runs, associated_data);
  }

  [[nodiscard]] std::vector<std::byte> decode(std::span<const std::byte> stored,
                                              std::span<const std::byte> associated_data) const override {
    const std::vector<std::byte> runs = inner_->decode(stored, associated_data);
    if (runs.size() % 2 != 0) throw BodyUnavailable{"the record's body does not end with a whole run"};
    std::vector<std::byte> body;
    for (std::size_t at = 0; at < runs.size(); at += 2) {
      body.insert(body.end(), std::to_integer<std::size_t>(runs[at]), runs[at + 1]);
    }
    return body;
  }

 private:
  std::shared_ptr<const BodyCodec> inner_;
  std::string name_;
};

TEST(ResponseRules, ACallersCompressionWrapsTheEncryption) {
  const std::string secret(AesSecret::size, 's');
  const auto encryption = std::make_shared<AesGcmCodec>(AesKey{1, AesSecret{bytes_of(secret)}});
  memory::Database db{std::make_shared<SystemClock>(),
                      nullptr,
                      {.codec = std::make_shared<RunLengths>(encryption), .also_decode = {encryption}}};
  const Request request{{"p", "op", "k"}, Fingerprinter{}({.operation = "op", .body = "{}"})};
  const Response response = text_response(200, std::string(10000, 'a') + "b");
  auto tx = db.begin();
  const auto run = [&] {
    return execute(db, tx, request, [&](memory::Transaction&, const Lease&) { return completed(response); });
  };
  EXPECT_EQ(std::get<Executed>(run()).response, response);
  EXPECT_EQ(std::get<Replay>(run()).response, response);
  const Response stored = db.store(tx)->find_stored(request.key)->response.value();
  EXPECT_EQ(encoded_by(stored), "runs+aes-256-gcm");
  EXPECT_LT(stored.body.size(), 200U);
}

}  // namespace
}  // namespace idem
