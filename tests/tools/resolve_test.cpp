#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "idem/response/aes_gcm_codec.hpp"
#include "postgres/test_database.hpp"
#include "tools/run_idemctl.hpp"

namespace idem::test {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

using Options = std::map<std::string, std::string>;

class IdemctlResolve : public ::testing::Test {
 protected:
  // A record that its holder marked UNKNOWN.
  Lease make_unknown(const ReserveOptions& options = {}) {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    auto store = database.backend().store(tx);
    Lease lease = std::get<Acquired>(store->reserve(key, fingerprint, options)).lease;
    store->mark_unknown(lease, text_response(202, "in doubt"));
    tx.commit();
    return lease;
  }

  // What settles `lease` as COMPLETED; a test changes some of it.
  [[nodiscard]] static Options to_completed(const Lease& lease) {
    return {{"fence", std::to_string(lease.holder.fence)},
            {"attempt", lease.holder.attempt.to_string()},
            {"state", "completed"},
            {"status", "201"},
            {"generation", std::to_string(lease.generation)},
            {"who", "ann@example.com"},
            {"why", "charge 42 is in the file"}};
  }
  [[nodiscard]] static Options to_failed(const Lease& lease) {
    Options options = to_completed(lease);
    options.erase("generation");
    options["state"] = "failed";
    options["status"] = "402";
    options["no-effect"] = "stored-decline";
    return options;
  }
  [[nodiscard]] static Options with(Options options, const std::string& name, const std::string& value) {
    options[name] = value;
    return options;
  }

  [[nodiscard]] Ended resolve(const Options& options, const std::vector<std::string>& more = {"--yes"},
                              const std::string& body = "charged") const {
    std::vector<std::string> words{"resolve",     "--database-url",  postgres_test::url_of_server(),
                                   "--schema",    database.schema(), "--principal",
                                   key.principal, "--operation",     key.operation,
                                   "--key",       key.value};
    for (const auto& [name, value] : options) {
      words.push_back("--" + name);
      words.push_back(value);
    }
    words.insert(words.end(), more.begin(), more.end());
    return run_idemctl(words, {.in = body});
  }

  [[nodiscard]] Record record() const {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    return database.backend().store(tx)->find(key).value();
  }

  // It was refused with one line that holds `reason`, neither key nor body, and the record is UNKNOWN as before.
  void expect_refused_and_unknown(const Ended& run, const std::string& reason) const {
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.error, HasSubstr(reason));
    expect_one_line_without_content(run.error);
    EXPECT_EQ(record().state, State::unknown);
    EXPECT_EQ(record().resolved_by, std::nullopt);
  }
  void expect_one_line_without_content(const std::string& error) const {
    EXPECT_EQ(error.find('\n'), error.size() - 1) << error;
    EXPECT_THAT(error, Not(HasSubstr(key.value)));
    EXPECT_THAT(error, Not(HasSubstr("charged")));
  }

  // Holds the record's row until both of two resolutions wait for it, and returns what they came to.
  [[nodiscard]] std::pair<Ended, Ended> race(const Options& one, const Options& other) const {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    tx.exec("SELECT FROM idem_record FOR UPDATE");
    auto first = std::async(std::launch::async, [&] { return resolve(one); });
    auto second = std::async(std::launch::async, [&] { return resolve(other); });
    postgres_test::wait_until(database,
                              "SELECT count(*) = 2 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
                              "query LIKE '%UPDATE%" +
                                  database.schema() + "%'");
    tx.commit();
    Ended first_end = first.get();
    return {std::move(first_end), second.get()};
  }

  const postgres_test::TestDatabase database{};
  const Key key{"tenant-1", "POST /payments", "private-key-value"};
  const Fingerprint fingerprint = Fingerprinter{}({.operation = "POST /payments", .body = "{}"});
  const std::string time_pattern = "2...-..-..T..:..:..\\.......Z";
};

TEST_F(IdemctlResolve, SettlesAsCompletedWithThisAnswer) {
  using namespace std::string_literals;
  const Lease lease = make_unknown();
  const std::string body = "\0\xff\r\n\x1b[2J \n"s;
  const Ended run = resolve(to_completed(lease),
                            {"--yes", "--header", "Location: /payments/1", "--header", "X:  a:b "}, body);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.error, "");
  EXPECT_THAT(run.out,
              MatchesRegex("settled as COMPLETED with status 201, 2 headers, a body of 10 bytes, sha256 "
                           "[0-9a-f]+: expires at " +
                           time_pattern + "\\. Business rows stay as they are\\.\n"));
  const Record settled = record();
  EXPECT_EQ(settled.state, State::completed);
  Response response = text_response(201, body);
  // As show prints them: what follows the colon and one space is the value.
  response.headers = {{"Location", "/payments/1"}, {"X", " a:b "}};
  EXPECT_EQ(settled.response, response);
  EXPECT_EQ(settled.holder, lease.holder);
  EXPECT_EQ(settled.resolved_by, "ann@example.com");
  EXPECT_EQ(settled.resolved_note, "charge 42 is in the file");
}

TEST_F(IdemctlResolve, SettlesAsCompletedForAChargeMadeAfterTheRecord) {
  const Lease lease = make_unknown();
  database.execute("UPDATE idem_record SET created_at = '2026-01-31 12:00:00.5+00'");
  Options options = to_completed(lease);
  options.erase("generation");
  expect_refused_and_unknown(resolve(with(options, "charged-at", "2026-01-31T12:00:00.499999Z")),
                             "the charge was made before the record");
  expect_refused_and_unknown(resolve(with(options, "charged-at", "2026-01-31T14:00:00.499999+02:00")),
                             "the charge was made before the record");
  const Ended run = resolve(with(options, "charged-at", "2026-01-31T14:00:00.5+02:00"));
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(record().state, State::completed);
}

TEST_F(IdemctlResolve, SettlesAsFailedAndAnEmptyBodyIsOne) {
  const Lease lease = make_unknown({.lease = minutes{1}});
  database.advance(minutes{2});
  const Ended run = resolve(to_failed(lease), {"--yes"}, "");
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(record().state, State::failed);
  EXPECT_EQ(record().response, text_response(402, ""));
}

TEST_F(IdemctlResolve, WithoutYesSaysWhatItWouldDoAndChangesNothing) {
  const Lease lease = make_unknown();
  const Record before = record();
  const long long xmin = database.number("SELECT xmin::text FROM idem_record");
  const Ended run = resolve(to_completed(lease), {"--header", "Location: /payments/1"}, "abc");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(run.error, "");
  // SHA-256 of "abc", from FIPS 180-2.
  EXPECT_EQ(run.out, "would settle as COMPLETED the UNKNOWN record of fence " +
                         std::to_string(lease.holder.fence) + " and attempt " +
                         lease.holder.attempt.to_string() +
                         "\n  principal    tenant-1"
                         "\n  operation    POST /payments"
                         "\n  answer       status 201, 1 header, a body of 3 bytes, sha256 "
                         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
                         "\n  evidence     generation " +
                         std::to_string(lease.generation) +
                         "\n  resolved by  ann@example.com"
                         "\n  because      charge 42 is in the file"
                         "\nnothing was changed. With --yes it is done; business rows stay as they are.\n");
  EXPECT_EQ(record().state, State::unknown);
  EXPECT_EQ(record().response, before.response);
  EXPECT_EQ(record().resolved_by, std::nullopt);
  EXPECT_EQ(database.number("SELECT xmin::text FROM idem_record"), xmin);
}

TEST_F(IdemctlResolve, WithoutYesRefusesWhatItWouldRefuseWithIt) {
  const Lease lease = make_unknown();
  expect_refused_and_unknown(resolve(to_failed(lease), {}), "a call that was sent may still arrive");
  expect_refused_and_unknown(resolve(to_completed(lease), {"--header", ": v"}), "header's name");
}

TEST_F(IdemctlResolve, LetsNothingDriveTheTerminal) {
  const Lease lease = make_unknown();
  const Options options = with(with(to_completed(lease), "who", "a\x1b[2J"), "why", "b\nc");
  const Ended preview = resolve(options, {});
  EXPECT_EQ(preview.exit_code, 3);
  EXPECT_THAT(preview.out, HasSubstr("  resolved by  a\\x1b[2J\n  because      b\\x0ac\n"));
  EXPECT_EQ(resolve(options).exit_code, 0);
  EXPECT_THAT(resolve(options).out, HasSubstr(" by a\\x1b[2J: "));
  EXPECT_THAT(resolve(with(options, "status", "200")).error, HasSubstr(" by a\\x1b[2J: "));
  EXPECT_EQ(record().resolved_by, "a\x1b[2J");
}

TEST_F(IdemctlResolve, IsSafeToRepeat) {
  const Lease lease = make_unknown();
  ASSERT_EQ(resolve(to_completed(lease)).exit_code, 0);
  const auto first = record();
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--yes"}, {}}) {
    const Ended again = resolve(to_completed(lease), more);
    EXPECT_EQ(again.exit_code, 0) << again.error;
    EXPECT_EQ(again.error, "");
    EXPECT_EQ(again.out, "already settled as COMPLETED with this answer by ann@example.com: nothing to do\n");
  }
  EXPECT_EQ(record().expires_at, first.expires_at);
}

TEST_F(IdemctlResolve, RefusesARecordThatWasResolvedOtherwise) {
  const Lease lease = make_unknown({.lease = minutes{1}});
  database.advance(minutes{2});
  ASSERT_EQ(resolve(to_completed(lease)).exit_code, 0);
  const auto expect_another_answer = [&](const Ended& run) {
    expect_refused(run,
                   "the record is settled already, as COMPLETED with another answer by ann@example.com: "
                   "nothing was changed");
    expect_one_line_without_content(run.error);
  };
  expect_another_answer(resolve(to_completed(lease), {"--yes"}, "charged twice"));
  expect_another_answer(resolve(with(to_completed(lease), "status", "200")));
  expect_another_answer(resolve(to_completed(lease), {"--yes", "--header", "A: b"}));
  expect_refused(resolve(to_failed(lease)),
                 "the record is settled already, as COMPLETED by ann@example.com: nothing was changed");
  EXPECT_EQ(record().response, text_response(201, "charged"));
}

// It cannot tell whether that is the same answer.
TEST_F(IdemctlResolve, RefusesARecordThatWasResolvedWithAnEncodedBody) {
  const Lease lease = make_unknown();
  const std::string secret(AesSecret::size, 's');
  const postgres::Backend encoding{{.names = database.backend().names(),
                                    .responses = {.codec = std::make_shared<AesGcmCodec>(AesKey{
                                                      7, AesSecret{std::as_bytes(std::span{secret})}})}}};
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  encoding.store(tx)->resolve(key, lease.holder, State::completed, text_response(201, "charged"),
                              {.who = "bob", .why = "told so", .generation = lease.generation});
  tx.commit();
  expect_refused(
      resolve(to_completed(lease)),
      "the record is settled already, as COMPLETED by bob, with a body encoded by aes-256-gcm, which "
      "idemctl cannot compare: nothing was changed");
}

// What an operator stores is not encoded, and is replayed by a service that encodes.
TEST_F(IdemctlResolve, SettlesARecordWhoseBodyIsEncodedWithAPlainOne) {
  const std::string secret(AesSecret::size, 's');
  const postgres::Backend encoding{{.names = database.backend().names(),
                                    .responses = {.codec = std::make_shared<AesGcmCodec>(AesKey{
                                                      7, AesSecret{std::as_bytes(std::span{secret})}})}}};
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  auto store = encoding.store(tx);
  const Lease lease = std::get<Acquired>(store->reserve(key, fingerprint)).lease;
  store->mark_unknown(lease, text_response(202, "in doubt"));
  tx.commit();
  EXPECT_EQ(resolve(to_completed(lease)).exit_code, 0);
  pqxx::work later{*connection};
  EXPECT_EQ(std::get<Replay>(encoding.store(later)->reserve(key, fingerprint)).response,
            text_response(201, "charged"));
}

TEST_F(IdemctlResolve, RefusesARecordThatItsSlowWorkerSettled) {
  const Lease lease = make_unknown();
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  database.backend().store(tx)->complete(lease, text_response(201, "charged"));
  tx.commit();
  expect_refused(resolve(to_completed(lease)),
                 "the record is settled already, as COMPLETED by its own holder: nothing was changed");
}

TEST_F(IdemctlResolve, RefusesARecordInProgress) {
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  const Reservation reservation = database.backend().store(tx)->reserve(key, fingerprint);
  tx.commit();
  const Lease lease = std::get<Acquired>(reservation).lease;
  expect_refused(resolve(to_completed(lease)),
                 "the record is IN_PROGRESS: nothing was changed; only an UNKNOWN record is resolved");
  EXPECT_EQ(record().state, State::in_progress);
}

TEST_F(IdemctlResolve, RefusesAnotherFenceOrAttempt) {
  const Lease lease = make_unknown();
  const std::string reason = "the record is not held under this fence and attempt: nothing was changed";
  expect_refused_and_unknown(
      resolve(with(to_completed(lease), "fence", std::to_string(lease.holder.fence + 1))), reason);
  expect_refused_and_unknown(resolve(with(to_completed(lease), "attempt", random_uuid_v4().to_string())),
                             reason);
}

TEST_F(IdemctlResolve, RefusesAnotherGenerationsCharge) {
  const Lease lease = make_unknown();
  expect_refused_and_unknown(
      resolve(with(to_completed(lease), "generation", std::to_string(lease.generation - 1))),
      "the charge carries another generation than the record");
}

TEST_F(IdemctlResolve, RefusesToFailBeforeTheCallsDeadline) {
  const Lease lease = make_unknown({.lease = minutes{10}, .call_deadline = minutes{5}});
  database.advance(minutes{12});
  expect_refused_and_unknown(resolve(to_failed(lease)),
                             "a call that was sent may still arrive; call again after ");
  database.advance(minutes{5});
  EXPECT_EQ(resolve(to_failed(lease)).exit_code, 0);
}

TEST_F(IdemctlResolve, RefusesATextOrAHeaderThatCannotBeStored) {
  const Lease lease = make_unknown();
  expect_refused_and_unknown(resolve(with(to_completed(lease), "who", std::string(256, 'w'))),
                             "resolution's who must be 1 to 255 bytes long");
  expect_refused_and_unknown(resolve(with(to_completed(lease), "why", "\xff")),
                             "resolution's why must be UTF-8 without NUL");
  expect_refused_and_unknown(resolve(to_completed(lease), {"--yes", "--header", "A: b\r\nC: d"}),
                             "no CR, LF or NUL");
}

TEST_F(IdemctlResolve, AnswersNotFoundWhereThereIsNoRecordOrItHasExpired) {
  const Lease lease = make_unknown();
  ASSERT_EQ(resolve(to_completed(lease)).exit_code, 0);
  database.advance(std::chrono::hours{73});
  for (const std::string when : {"expired", "gone"}) {
    SCOPED_TRACE(when);
    const Ended run = resolve(to_completed(lease));
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.error, "idemctl: no record of that principal, operation and key, or it has expired\n");
    database.execute("DELETE FROM idem_record");
  }
}

TEST_F(IdemctlResolve, OneOfTwoWithDifferentAnswersWinsAndTheOtherIsRefused) {
  const Lease lease = make_unknown();
  auto [ann, bob] = race(with(to_completed(lease), "who", "ann"),
                         with(with(to_completed(lease), "who", "bob"), "status", "200"));
  const bool ann_won = ann.exit_code == 0;
  const Ended& winner = ann_won ? ann : bob;
  const Ended& loser = ann_won ? bob : ann;
  EXPECT_EQ(winner.exit_code, 0) << winner.error;
  EXPECT_THAT(winner.out, HasSubstr("settled as COMPLETED with status "));
  expect_refused(loser, "the record is settled already, as COMPLETED with another answer by " +
                            std::string{ann_won ? "ann" : "bob"} + ": nothing was changed");
  EXPECT_EQ(record().resolved_by, ann_won ? "ann" : "bob");
  EXPECT_EQ(record().response, text_response(ann_won ? 201 : 200, "charged"));
}

TEST_F(IdemctlResolve, OneOfTwoWithTheSameAnswerSettlesAndTheOtherFindsItDone) {
  const Lease lease = make_unknown();
  const auto [one, other] = race(to_completed(lease), to_completed(lease));
  EXPECT_EQ(one.exit_code, 0) << one.error;
  EXPECT_EQ(other.exit_code, 0) << other.error;
  const std::string done =
      "already settled as COMPLETED with this answer by ann@example.com: nothing to do\n";
  EXPECT_EQ((one.out == done) + (other.out == done), 1) << one.out << other.out;
}

}  // namespace
}  // namespace idem::test
