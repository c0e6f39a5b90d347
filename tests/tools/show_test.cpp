#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <span>

#include "idem/response/aes_gcm_codec.hpp"
#include "postgres/test_database.hpp"
#include "request/key_hash.hpp"
#include "tools/run_idemctl.hpp"

namespace idem::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class IdemctlShow : public ::testing::Test {
 protected:
  [[nodiscard]] Ended show(const Key& of, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"show",       "--database-url",  postgres_test::url_of_server(),
                                   "--schema",   database.schema(), "--principal",
                                   of.principal, "--operation",     of.operation,
                                   "--key",      of.value};
    words.insert(words.end(), more.begin(), more.end());
    return run_idemctl(words);
  }

  // Calls `work` with the store and the lease of the acquired key, and commits.
  template <class Work>
  void acquire(const ReserveOptions& options, const Work& work) const {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    auto store = database.backend().store(tx);
    const Reservation reservation = store->reserve(key, fingerprint, options);
    work(*store, std::get<Acquired>(reservation).lease);
    tx.commit();
  }

  postgres_test::TestDatabase database{};
  const Key key{"tenant-1", "POST /payments", "key-1"};
  const Fingerprint fingerprint = Fingerprinter{}({.operation = "POST /payments", .body = R"({"amount":1})"});
};

// The line of a field, without its name; empty where there is none.
std::string field(const Ended& run, const std::string& name) {
  const std::size_t at = ("\n" + run.out).find("\n" + name + "  ");
  if (at == std::string::npos) return {};
  const std::string line = run.out.substr(at, run.out.find('\n', at) - at);
  return line.substr(line.find_first_not_of(' ', name.size()));
}

const std::string time_pattern = "2...-..-..T..:..:..\\.......Z";

TEST_F(IdemctlShow, AnswersNotFoundForAKeyWithoutARecord) {
  const Ended run = show(key);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.error, "idemctl: no record of that principal, operation and key, or it has expired\n");
}

TEST_F(IdemctlShow, ShowsEveryFieldOfASettledRecordButNotItsBody) {
  Holder holder;
  acquire({}, [&](auto& store, const Lease& lease) {
    holder = lease.holder;
    Response response = text_response(201, "abc");
    response.headers = {{"Location", "/payments/1"}, {"ETag", "\"1\""}};
    store.complete(lease, response);
  });
  const Ended run = show(key);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(field(run, "principal"), "tenant-1");
  EXPECT_EQ(field(run, "operation"), "POST /payments");
  EXPECT_EQ(field(run, "key"), "key-1");
  EXPECT_EQ(field(run, "key hash"), hash_key(key).id.to_string());
  EXPECT_EQ(field(run, "fingerprint"), fingerprint.hex());
  EXPECT_EQ(field(run, "state"), "COMPLETED");
  EXPECT_EQ(field(run, "fence"), std::to_string(holder.fence));
  EXPECT_EQ(field(run, "attempt"), holder.attempt.to_string());
  EXPECT_EQ(field(run, "generation"), std::to_string(holder.fence));
  EXPECT_EQ(field(run, "taken over"), "no");
  EXPECT_EQ(field(run, "resumable"), "no");
  EXPECT_EQ(field(run, "downstream"), "-");
  EXPECT_EQ(field(run, "window until"), "-");
  EXPECT_EQ(field(run, "call deadline"), "0 ms");
  EXPECT_EQ(field(run, "sent at"), "-");
  EXPECT_THAT(field(run, "lease until"), MatchesRegex(time_pattern));
  EXPECT_EQ(field(run, "retention"), "259200000 ms");
  EXPECT_EQ(field(run, "response status"), "201");
  EXPECT_THAT(run.out, HasSubstr("response header  Location: /payments/1\nresponse header  ETag: \"1\"\n"));
  // SHA-256 of "abc", from FIPS 180-2.
  EXPECT_EQ(field(run, "response body"),
            "3 bytes, sha256 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_THAT(field(run, "created at"), MatchesRegex(time_pattern));
  EXPECT_THAT(field(run, "finished at"), MatchesRegex(time_pattern));
  EXPECT_THAT(field(run, "expires at"), MatchesRegex(time_pattern));
  EXPECT_EQ(field(run, "resolved by"), "-");
  EXPECT_EQ(field(run, "resolved note"), "-");
}

TEST_F(IdemctlShow, ShowsTheTimesThatAreStored) {
  acquire({}, [](auto& store, const Lease& lease) { store.complete(lease, text_response(200, "")); });
  database.execute(
      "UPDATE idem_record SET created_at = '2024-02-29 23:59:59.000001+00', finished_at = '1969-12-31 "
      "23:59:59.999999+00', expires_at = '2999-01-01 01:00:00+01'");
  const Ended run = show(key);
  EXPECT_EQ(field(run, "created at"), "2024-02-29T23:59:59.000001Z");
  EXPECT_EQ(field(run, "finished at"), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(field(run, "expires at"), "2999-01-01T00:00:00.000000Z");
}

TEST_F(IdemctlShow, ShowsADownstreamAndAnUnknownRecordWithoutAResponse) {
  ReserveOptions options;
  options.resumable = true;
  options.downstream = deduplicates_for("acquirer", std::chrono::hours{24});
  options.call_deadline = std::chrono::seconds{5};
  acquire(options, [](auto& store, const Lease& lease) { store.mark_sent(lease); });
  const Ended run = show(key);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(field(run, "state"), "IN_PROGRESS");
  EXPECT_EQ(field(run, "resumable"), "yes");
  EXPECT_EQ(field(run, "downstream"), "acquirer");
  EXPECT_EQ(field(run, "call deadline"), "5000 ms");
  EXPECT_THAT(field(run, "window until"), MatchesRegex(time_pattern));
  EXPECT_THAT(field(run, "sent at"), MatchesRegex(time_pattern));
  EXPECT_EQ(field(run, "response status"), "-");
  EXPECT_EQ(field(run, "response body"), "");
  EXPECT_EQ(field(run, "finished at"), "-");

  const Ended body = show(key, {"--body"});
  EXPECT_EQ(body.exit_code, 1);
  EXPECT_EQ(body.out, "");
  EXPECT_EQ(body.error, "idemctl: the record has no response\n");
}

TEST_F(IdemctlShow, WritesTheBodyByteForByte) {
  using namespace std::string_literals;
  const std::string bytes = "\0\xff\r\n\x1b[2J \n"s;
  acquire({}, [&](auto& store, const Lease& lease) { store.fail(lease, text_response(402, bytes)); });
  const Ended run = show(key, {"--body"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.out, bytes);
  EXPECT_EQ(field(show(key), "state"), "FAILED");
}

TEST_F(IdemctlShow, SaysThatABodyIsEncodedAndDoesNotWriteIt) {
  const std::string secret(AesSecret::size, 's');
  const postgres::Backend encoding{{.names = database.backend().names(),
                                    .responses = {.codec = std::make_shared<AesGcmCodec>(AesKey{
                                                      7, AesSecret{std::as_bytes(std::span{secret})}})}}};
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  auto store = encoding.store(tx);
  const Reservation reservation = store->reserve(key, fingerprint);
  store->complete(std::get<Acquired>(reservation).lease, text_response(201, "abc"));
  tx.commit();

  const Ended run = show(key);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(field(run, "response status"), "201");
  EXPECT_EQ(field(run, "response header"), "idem-encoded: aes-256-gcm");
  EXPECT_EQ(field(run, "response body"), "body encoded by aes-256-gcm, 36 bytes as stored");
  expect_refused(show(key, {"--body"}), "the body is encoded by aes-256-gcm, which idemctl does not decode");
}

TEST_F(IdemctlShow, SaysThatABodyWasWithheld) {
  for (const bool too_large : {true, false}) {
    const Key of{key.principal, key.operation, too_large ? "large" : "card"};
    const postgres::Backend withholding{
        {.names = database.backend().names(),
         .max_response_bytes = 2,
         .responses = {.too_large = OnUnstorable::withhold_body,
                       .must_not_store = [&](const Response&) { return !too_large; },
                       .found = OnUnstorable::withhold_body}}};
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    auto store = withholding.store(tx);
    const Reservation reservation = store->reserve(of, fingerprint);
    store->complete(std::get<Acquired>(reservation).lease, text_response(201, "abc"));
    tx.commit();
    const Ended run = show(of);
    EXPECT_EQ(run.exit_code, 0) << run.error;
    EXPECT_EQ(field(run, "response body"), too_large ? "withheld: too-large" : "withheld: card-data");
    const Ended body = show(of, {"--body"});
    EXPECT_EQ(body.exit_code, 1);
    EXPECT_EQ(body.out, "");
    EXPECT_EQ(body.error, "idemctl: the response's body was withheld: there is none\n");
  }
}

TEST_F(IdemctlShow, EscapesWhatCouldDriveTheTerminal) {
  acquire({}, [](auto& store, const Lease& lease) {
    store.mark_unknown(lease, {.status = 202, .headers = {{"X", "\x1b[2J\xff"}}, .body = {}});
  });
  database.execute(R"(UPDATE idem_record SET resolved_by = E'a\nb', resolved_note = U&'\00e9 \009b \\')");
  const Ended run = show(key);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(field(run, "state"), "UNKNOWN");
  EXPECT_EQ(field(run, "response header"), R"(X: \x1b[2J\xff)");
  EXPECT_EQ(field(run, "resolved by"), "a\\x0ab");
  EXPECT_EQ(field(run, "resolved note"), "\xc3\xa9 \\xc2\\x9b \\\\");
}

TEST_F(IdemctlShow, ChangesNothing) {
  acquire({.lease = std::chrono::milliseconds{1}}, [](auto&, const Lease&) {});
  database.advance(std::chrono::hours{1});
  // A reservation would turn this lapsed record UNKNOWN.
  EXPECT_EQ(field(show(key), "state"), "IN_PROGRESS");
  EXPECT_EQ(database.number("SELECT state FROM idem_record"), 1);
}

TEST_F(IdemctlShow, AnswersNotFoundForAnExpiredRecord) {
  acquire({}, [](auto& store, const Lease& lease) { store.complete(lease, text_response(200, "")); });
  database.advance(std::chrono::hours{73});
  EXPECT_EQ(show(key).exit_code, 1);
}

TEST_F(IdemctlShow, RefusesAKeyThatCannotBeOne) {
  expect_refused(show({"p", "o", std::string(256, 'k')}), "the key has 256 bytes: at most 255 are allowed");
  const Ended run = show({"p", "o", "\xff"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.error, Not(HasSubstr("\xff")));
}

}  // namespace
}  // namespace idem::test
