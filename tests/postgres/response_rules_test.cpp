// Stored bodies as they stand in the table, and between processes of other rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <pqxx/pqxx>
#include <span>
#include <string>
#include <utility>

#include "idem/base/error.hpp"
#include "idem/command/execute.hpp"
#include "idem/request/fingerprint.hpp"
#include "idem/response/aes_gcm_codec.hpp"
#include "postgres/test_database.hpp"

namespace idem::postgres_test {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const AesGcmCodec> codec_with(std::uint32_t id, char secret) {
  const std::string bytes(AesSecret::size, secret);
  return std::make_shared<AesGcmCodec>(AesKey{id, AesSecret{std::as_bytes(std::span{bytes})}});
}

class StoredBodies : public ::testing::Test {
 protected:
  // A process of its own rules on the same table.
  [[nodiscard]] postgres::Backend process(ResponseRules rules) const {
    return postgres::Backend{{.names = database.backend().names(), .responses = std::move(rules)}};
  }
  static Request request(std::string key) {
    return {{"alice", "POST /payments", std::move(key)},
            Fingerprinter{}({.operation = "POST /payments", .body = "{}"})};
  }
  Outcome answer(const postgres::Backend& backend, const std::string& key, const Response& response) {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    Outcome outcome = execute(backend, tx, request(key), [&](pqxx::work&, const Lease&) {
      ++runs;
      return completed(response);
    });
    tx.commit();
    return outcome;
  }
  void expect_replay(const postgres::Backend& backend, const std::string& key, const Response& response) {
    const int ran = runs;
    EXPECT_EQ(std::get<Replay>(answer(backend, key, text_response(500, "again"))).response, response) << key;
    EXPECT_EQ(runs, ran);
  }
  // Nothing ran, no row was written, and the transaction was usable.
  void expect_unavailable(const postgres::Backend& backend, const std::string& key, const std::string& why) {
    const int ran = runs;
    const std::string row =
        "SELECT count(*) FROM idem_record WHERE idempotency_key = '" + key + "' AND xmin::text = '";
    const auto connection = database.connect();
    pqxx::work before{*connection};
    const auto version =
        before.exec("SELECT xmin::text FROM idem_record WHERE idempotency_key = '" + key + "'")[0][0]
            .as<std::string>();
    before.commit();
    try {
      (void)answer(backend, key, text_response(500, "again"));
      ADD_FAILURE() << key << " was answered";
    } catch (const BodyUnavailable& unavailable) {
      EXPECT_THAT(unavailable.what(), HasSubstr(why));
    }
    pqxx::work tx{*connection};
    auto store = backend.store(tx);
    EXPECT_THROW((void)store->reserve(request(key).key, request(key).fingerprint), BodyUnavailable);
    EXPECT_THROW((void)store->find(request(key).key), BodyUnavailable);
    EXPECT_EQ(tx.exec("SELECT 1")[0][0].as<int>(), 1);
    tx.commit();
    EXPECT_EQ(database.number(row + version + "'"), 1) << "the row was written";
    EXPECT_EQ(runs, ran);
  }

  TestDatabase database{};
  const Response paid{201, {{"Location", "/p/1"}}, text_response(0, "paid 12.90 by alice").body};
  int runs = 0;
};

TEST_F(StoredBodies, AnEncodedOneStandsNowhereInTheTable) {
  (void)answer(process({}), "plain", paid);
  (void)answer(process({.codec = codec_with(7, 'a')}), "encoded", paid);
  const auto rows_with = [&](const std::string& text) {
    return database.number("SELECT count(*) FROM idem_record r WHERE position('" + text +
                           "'::bytea IN response_body) > 0 OR position('" + text +
                           "' IN convert_from(response_headers, 'UTF8')) > 0");
  };
  EXPECT_EQ(rows_with("12.90"), 1) << "the plain one is found";
  EXPECT_EQ(database.number("SELECT count(*) FROM idem_record WHERE idempotency_key = 'encoded' AND "
                            "response_headers = E'Location:/p/1\\nidem-encoded:aes-256-gcm\\n'::bytea AND "
                            "substring(response_body FOR 5) = '\\x0100000007' AND "
                            "octet_length(response_body) = 33 + 19"),
            1);
}

TEST_F(StoredBodies, OneFromBeforeTheCodecIsReplayedAsItIs) {
  (void)answer(process({}), "before", paid);
  const postgres::Backend with_codec = process({.codec = codec_with(7, 'a')});
  expect_replay(with_codec, "before", paid);
  (void)answer(with_codec, "after", paid);
  expect_replay(with_codec, "after", paid);
}

// A deployment in steps: none knows the codec, all know it, some encode, all encode.
TEST_F(StoredBodies, ProcessesThatKnowTheCodecReadWhatOthersEncode) {
  const postgres::Backend encodes = process({.codec = codec_with(7, 'a')});
  const postgres::Backend knows = process({.also_decode = {codec_with(7, 'a')}});
  const postgres::Backend neither = process({});
  (void)answer(encodes, "encoded", paid);
  (void)answer(knows, "plain", paid);
  for (const auto& backend : {encodes, knows}) {
    expect_replay(backend, "encoded", paid);
    expect_replay(backend, "plain", paid);
  }
  expect_replay(neither, "plain", paid);
  expect_unavailable(neither, "encoded", "the codec aes-256-gcm, which this process was not given");
}

TEST_F(StoredBodies, AMissingKeyIsNamed) {
  (void)answer(process({.codec = codec_with(7, 'a')}), "k", paid);
  expect_unavailable(process({.codec = codec_with(8, 'a')}), "k",
                     "AES key 7, which this process was not given");
  expect_unavailable(process({.codec = codec_with(7, 'b')}), "k", "does not verify under AES key 7");
}

TEST_F(StoredBodies, WhatWasTamperedWithIsNotReplayed) {
  const postgres::Backend backend = process({.codec = codec_with(7, 'a')});
  const std::vector<std::pair<std::string, std::string>> changes{
      {"response_body = set_byte(response_body, 20, get_byte(response_body, 20) # 1)", "does not verify"},
      {"response_body = set_byte(response_body, 10, get_byte(response_body, 10) # 1)", "does not verify"},
      {"response_body = response_body || '\\x00'", "does not verify"},
      {"response_body = substring(response_body FROM 1 FOR octet_length(response_body) - 1)",
       "does not verify"},
      {"response_body = ''", "no AES-256-GCM envelope"},
      {"response_body = set_byte(response_body, 0, 2)", "no AES-256-GCM envelope"},
      {"response_status = 402", "does not verify"},
      {"response_headers = E'Location:/p/2\\nidem-encoded:aes-256-gcm\\n'::bytea", "does not verify"},
      {"response_headers = E'Location:/p/1\\nidem-encoded:zstd\\n'::bytea", "the codec zstd"},
  };
  int number = 0;
  for (const auto& [change, why] : changes) {
    SCOPED_TRACE(change);
    const std::string key = std::to_string(++number);
    (void)answer(backend, key, paid);
    std::string update = "UPDATE idem_record SET ";
    update.append(change).append(" WHERE idempotency_key = '").append(key).append("'");
    database.execute(update);
    expect_unavailable(backend, key, why);
  }
}

TEST_F(StoredBodies, OneThatWasMovedToAnotherRecordIsNotReplayed) {
  const postgres::Backend backend = process({.codec = codec_with(7, 'a')});
  (void)answer(backend, "mine", paid);
  (void)answer(backend, "yours", paid);
  database.execute(
      "UPDATE idem_record SET response_body = (SELECT response_body FROM idem_record WHERE idempotency_key = "
      "'yours') WHERE idempotency_key = 'mine'");
  expect_unavailable(backend, "mine", "does not verify under AES key 7");
  expect_replay(backend, "yours", paid);
}

TEST_F(StoredBodies, OneOf16MiBFits) {
  const postgres::Backend backend = process({.codec = codec_with(7, 'a')});
  const Response largest = text_response(200, std::string(std::size_t{16} << 20, 'x'));
  (void)answer(backend, "k", largest);
  EXPECT_EQ(database.number("SELECT octet_length(response_body) FROM idem_record"), (16 << 20) + 33);
  EXPECT_TRUE(std::get<Replay>(answer(backend, "k", paid)).response == largest);
  EXPECT_EQ(runs, 1);
}

TEST_F(StoredBodies, AWithheldOneIsEmptyAndMarked) {
  const postgres::Backend backend{
      {.names = database.backend().names(),
       .max_response_bytes = 50,
       .responses = {.too_large = OnUnstorable::withhold_body, .codec = codec_with(7, 'a')}}};
  const Response large{201, {{"Location", "/p/1"}}, text_response(0, std::string(51, 'x')).body};
  EXPECT_EQ(std::get<Executed>(answer(backend, "k", large)).response, large);
  EXPECT_EQ(
      database.number("SELECT count(*) FROM idem_record WHERE response_body = '' AND response_status = 201 "
                      "AND response_headers = E'Location:/p/1\\nidem-withheld:too-large\\n'::bytea"),
      1);
  // Also where nothing is known of rules.
  const Response kept{201, {{"Location", "/p/1"}, {"idem-withheld", "too-large"}}, {}};
  expect_replay(backend, "k", kept);
  expect_replay(process({}), "k", kept);
}

TEST_F(StoredBodies, RulesThatCannotBeAreRefused) {
  EXPECT_THROW((void)process({.also_decode = {nullptr}}), InvalidArgument);
  EXPECT_THROW((void)process({.codec = codec_with(1, 'a'), .also_decode = {codec_with(2, 'b')}}),
               InvalidArgument);
}

}  // namespace
}  // namespace idem::postgres_test
