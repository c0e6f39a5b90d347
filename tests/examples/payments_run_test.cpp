// `payments run`, as a program.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

#include "examples/payments_program.hpp"
#include "examples/program.hpp"
#include "idem/testing/race.hpp"
#include "postgres/test_database.hpp"
#include "postgres_repository.hpp"

namespace idem::examples_test {
namespace {

using nlohmann::json;

class PaymentsRun : public PaymentsProgram {};

json summary(int charges, int declines, int seats, int receipts) {
  return json::object(
      {{"summary",
        json::object(
            {{"charges", charges}, {"declines", declines}, {"seats", seats}, {"receipts", receipts}})}});
}

TEST_F(PaymentsRun, EveryLineIsAnsweredAndASecondRunOnlyReplays) {
  const std::string requests =
      request("ann", "k1", "1290") + "\n" +    //
      request("ann", "k1", "1290.0") + "\n" +  //
      R"({"body":{"payment_method_token":"tok_secret","note":"x","offering_id":"cpp-20",)"
      R"("currency":"EUR","amount_cents":1.29e3},"key":"k1","principal":"ann"})"
      "\n" +
      request("ann", "k1", "1291") + "\n" +           // another payload
      request("bob", "k1", "1290") + "\n" +           // another principal
      request("ann", "k2", "1313", "sql-1") + "\n" +  // declined
      request("ann", "k2", "1313", "sql-1") + "\n" +  //
      request("ann", "k2", "1300", "sql-1") + "\n" +  // a mismatch with a decline
      request("ann", "k3", "5000") + "\n" +           // a new key for a held seat
      "not json\n" +                                  //
      request("ann", "", "1290") + "\n" +             //
      request("ann", "k4", "\"1290\"") + "\n";
  const auto first = answers(requests);
  expect(first, {{"executed", 201},
                 {"replayed", 201},
                 {"replayed", 201},
                 {"mismatch", 422},
                 {"executed", 201},
                 {"executed", 402},
                 {"replayed", 402},
                 {"mismatch", 422},
                 {"executed", 201},
                 {"invalid", 400},
                 {"invalid", 400},
                 {"invalid", 400}});
  EXPECT_EQ(first.back(), summary(3, 1, 2, 3));
  EXPECT_EQ(first[9].at("reason"), "invalid JSON at byte 1: expected a value");
  EXPECT_EQ(first[10].at("reason"), "the key is empty: it must have 1 to 255 bytes");
  EXPECT_EQ(first[11].at("reason"), "body.amount_cents must be an integer from 1 to 9223372036854775807");
  const auto body = [&](std::size_t line) { return first[line - 1].at("body_sha256"); };
  EXPECT_EQ(body(2), body(1));
  EXPECT_EQ(body(3), body(1));
  EXPECT_NE(body(5), body(1));
  EXPECT_EQ(body(7), body(6));

  const auto second = answers(requests);
  expect(second, {{"replayed", 201},
                  {"replayed", 201},
                  {"replayed", 201},
                  {"mismatch", 422},
                  {"replayed", 201},
                  {"replayed", 402},
                  {"replayed", 402},
                  {"mismatch", 422},
                  {"replayed", 201},
                  {"invalid", 400},
                  {"invalid", 400},
                  {"invalid", 400}});
  EXPECT_EQ(second.back(), first.back());
  for (std::size_t i = 0; i < 12; ++i)
    EXPECT_EQ(second[i].at("body_sha256"), first[i].at("body_sha256")) << i + 1;
}

TEST_F(PaymentsRun, TheHashIsThatOfTheStoredBody) {
  const auto told = answers(request("ann", "k1", "1290") + "\n").front().at("body_sha256").get<std::string>();
  EXPECT_EQ(
      database_.number("SELECT count(*) FROM idem_record WHERE encode(sha256(response_body), 'hex') = '" +
                       told + "'"),
      1);
}

TEST_F(PaymentsRun, LinesAreCountedAsTheyStandInTheFile) {
  const auto told = answers(request("ann", "k1", "1290") + "\r\n" +                 // 1: from Windows
                            "\n" +                                                  // 2: empty
                            "\xEF\xBB\xBF" + request("ann", "k2", "1") + "\n" +     // 3: a byte order mark
                            request("ann", "k3", "1") + std::string{'\0'} + "\n" +  // 4: a NUL
                            request("ann", "\xFF", "1") + "\n" +                    // 5: not UTF-8
                            request("ann", std::string(256, 'k'), "1") + "\n" +     // 6
                            request("ann", std::string(255, 'k'), "2500", "sql-1") + "\n" +  // 7
                            std::string(17 << 20, '[') + "\n" +  // 8: over the limit
                            request("ann", "k1", "1290"));       // 9: no line feed
  expect(told, {{"executed", 201},
                {"invalid", 400},
                {"invalid", 400},
                {"invalid", 400},
                {"invalid", 400},
                {"invalid", 400},
                {"executed", 201},
                {"invalid", 400},
                {"replayed", 201}});
  EXPECT_EQ(told.back(), summary(2, 0, 2, 2));
}

TEST_F(PaymentsRun, AnOlderPaymentTableIsBroughtUpToDate) {
  // As it was before payments went through an acquirer.
  database_.execute(R"(
    CREATE TABLE payment (
      payment_id   uuid        PRIMARY KEY,
      principal    text        NOT NULL,
      offering_id  text        NOT NULL,
      amount_cents bigint      NOT NULL CHECK (amount_cents > 0),
      currency     text        NOT NULL,
      state        text        NOT NULL CHECK (state IN ('AUTHORIZED', 'DECLINED')),
      created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    INSERT INTO payment VALUES (gen_random_uuid(), 'ann', 'sql-1', 1290, 'EUR', 'AUTHORIZED'),
                               (gen_random_uuid(), 'ann', 'sql-1', 1313, 'EUR', 'DECLINED'))");
  EXPECT_EQ(answers(request("ann", "k1", "1290") + "\n").back(), summary(2, 1, 1, 1));
  EXPECT_EQ(
      database_.number("SELECT count(*) FROM payment WHERE downstream_key IS NULL AND charge_id IS NULL"), 3);
  for (const char* state : {"PENDING", "UNKNOWN"}) {
    database_.execute(
        "INSERT INTO payment (payment_id, principal, offering_id, amount_cents, currency, state, "
        "payment_method_token) VALUES (gen_random_uuid(), 'bob', 'sql-1', 1, 'EUR', '" +
        std::string{state} + "', CASE '" + state + "' WHEN 'PENDING' THEN 'tok' END)");
  }
}

TEST_F(PaymentsRun, AnEmptyFileHasOnlyTheSummary) {
  EXPECT_EQ(run("").out, "{\"summary\":{\"charges\":0,\"declines\":0,\"seats\":0,\"receipts\":0}}\n");
}

TEST_F(PaymentsRun, TheTextsOfARequestAreOnlyData) {
  const auto told =
      answers(request("o'brien", "k'); DROP TABLE payment; --", "1290", R"(\\'\u00e9\")") + "\n");
  expect(told, {{"executed", 201}});
  EXPECT_EQ(database_.number(
                R"(SELECT count(*) FROM payment WHERE principal = 'o''brien' AND offering_id = E'\\''é"')"),
            1);
}

TEST_F(PaymentsRun, ThePaymentMethodTokenIsNowhere) {
  const Finished finished = run(request("ann", "k1", "1290") + "\n" + request("ann", "k1", "1291") + "\n");
  EXPECT_EQ(finished.out.find("tok_secret"), std::string::npos);
  for (const char* table : {"payment", "seat", "receipt", "idem_record"}) {
    EXPECT_EQ(database_.number(std::string{"SELECT count(*) FROM "} + table +
                               " AS row WHERE row::text LIKE '%tok_secret%'"),
              0);
  }
  EXPECT_EQ(database_.number(
                "SELECT count(*) FROM idem_record WHERE position('tok_secret'::bytea in response_body) > 0"),
            0);
}

TEST_F(PaymentsRun, SideBySideOnOneFileEachCommandHasItsEffectOnce) {
  std::string requests;
  for (int i = 0; i < 100; ++i)
    requests += request("ann", "k" + std::to_string(i), "1290", "o" + std::to_string(i)) + "\n";
  std::vector<std::vector<json>> told(4);
  idem::testing::race(told.size(), [&](std::size_t i) { told[i] = answers(requests); });
  std::map<std::string, int> outcomes;
  for (const auto& lines : told) {
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) ++outcomes[lines[i].at("outcome").get<std::string>()];
  }
  EXPECT_EQ(outcomes["executed"], 100);
  EXPECT_EQ(outcomes["replayed"] + outcomes["in_progress"], 300);
  EXPECT_EQ(answers("").back(), summary(100, 0, 100, 100));
}

TEST_F(PaymentsRun, ARedeliveredEventIsADuplicateAndUnderANewIdChangesNothing) {
  const auto line = [](const char* key, const char* amount, const char* redeliver_event) {
    return request("ann", key, amount, "cpp-20", redeliver_event) + "\n";
  };
  const std::string requests = line("k1", "1290", "true") +        //
                               line("k1", "1290", "\"new_id\"") +  //
                               line("k1", "1290", "false") +       //
                               line("k1", "1290", "") +            //
                               line("k1", "1290", "true") +        //
                               line("k1", "1291", "true") +        // a mismatch
                               line("k2", "1313", "true") +        // declined
                               line("k2", "1313", "\"new_id\"") +  //
                               line("k3", "1290", "\"new_id\"") +  // a second payment for the seat
                               line("k1", "1290", "null") +        //
                               line("k4", "1290", "\"yes\"");
  const auto first = answers(requests);
  expect(first, {{"executed", 201, "duplicate"},
                 {"replayed", 201, "applied"},
                 {"replayed", 201},
                 {"replayed", 201},
                 {"replayed", 201, "duplicate"},
                 {"mismatch", 422},
                 {"executed", 402},
                 {"replayed", 402},
                 {"executed", 201, "applied"},
                 {"invalid", 400},
                 {"invalid", 400}});
  EXPECT_EQ(first.back(), summary(2, 1, 1, 2));
  EXPECT_EQ(first[9].at("reason"), "redeliver_event must be true, false or \"new_id\"");
  // Two payments and two new ids, of which no refused line has one.
  EXPECT_EQ(database_.number(
                "SELECT count(*) FROM idem_inbox WHERE consumer = 'enrolment' AND source = 'payments'"),
            4);
  EXPECT_EQ(database_.number("SELECT count(*) FROM idem_inbox JOIN payment ON event_id = payment_id::text"),
            2);

  const auto second = answers(requests);
  EXPECT_EQ(second[0].at("redelivery"), "duplicate");
  EXPECT_EQ(second[1].at("redelivery"), "applied");
  EXPECT_EQ(second.back(), first.back());
}

TEST_F(PaymentsRun, SideBySideRedeliveriesLeaveOneSeatAndOneReceiptForEachPayment) {
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    for (const char* redeliver_event : {"true", "\"new_id\""}) {
      requests +=
          request("ann", "k" + std::to_string(i), "1290", "o" + std::to_string(i % 10), redeliver_event) +
          "\n";
    }
  }
  std::vector<std::vector<json>> told(4);
  idem::testing::race(told.size(), [&](std::size_t i) { told[i] = answers(requests); });
  for (const auto& lines : told) {
    ASSERT_EQ(lines.size(), 101);
    for (std::size_t i = 0; i < 100; ++i) {
      if (lines[i].at("status") != 201) continue;  // in progress in another one
      EXPECT_EQ(lines[i].at("redelivery"), i % 2 == 0 ? "duplicate" : "applied");
    }
  }
  EXPECT_EQ(answers("").back(), summary(50, 0, 10, 50));
}

TEST_F(PaymentsRun, AProcessThatIsKilledBeforeTheRedeliveryLeavesItToTheNext) {
  (void)answers("");  // the tables
  // Whoever adds a seat that is there already waits for this lock: a redelivery, never the payment.
  database_.execute(R"(
    CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
      IF EXISTS (SELECT FROM seat WHERE principal = NEW.principal) THEN
        PERFORM pg_advisory_xact_lock(hashtext(TG_TABLE_SCHEMA));
      END IF;
      RETURN NEW;
    END$$;
    CREATE TRIGGER hold BEFORE INSERT ON seat FOR EACH ROW EXECUTE FUNCTION hold())");
  const auto connection = database_.connect();
  pqxx::work holder{*connection};
  holder.exec("SELECT pg_advisory_xact_lock(hashtext('" + database_.schema() + "'))");

  const TemporaryFile file{request("ann", "k1", "1290", "cpp-20", "\"new_id\"") + "\n"};
  Running doomed{{PAYMENTS, "run", "--database-url", url(), "--requests", file.path()}};
  postgres_test::wait_until(database_, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE " +
                                           std::to_string(connection->backendpid()) +
                                           " = ANY (pg_blocking_pids(pid)))");
  EXPECT_EQ(doomed.kill().status, -1);
  EXPECT_EQ(database_.number("SELECT count(*) FROM idem_inbox"), 1);
  holder.commit();

  const auto told = answers(file.content());
  expect(told, {{"replayed", 201, "applied"}});
  EXPECT_EQ(told.back(), summary(1, 0, 1, 1));
}

TEST_F(PaymentsRun, ADuplicateOfAnOpenTransactionIsToldToComeBack) {
  (void)answers(request("ann", "k1", "1290") + "\n");
  // Another process has begun k2 and not committed: the gate on its key is what a duplicate meets.
  const auto connection = database_.connect();
  pqxx::work open{*connection};
  const idem::postgres::Backend backend;
  const Fingerprinter fingerprint;
  (void)backend.store(open)->reserve({"ann", "POST /payments", "k2"},
                                     fingerprint({.method = "", .operation = "", .query = "", .body = "1"}));
  const auto told = answers(request("ann", "k2", "1290") + "\n" + request("ann", "k1", "1290") + "\n");
  EXPECT_EQ(told[0].at("outcome"), "in_progress");
  EXPECT_EQ(told[0].at("status"), 409);
  EXPECT_GT(told[0].at("retry_after_ms").get<int>(), 0);
  EXPECT_EQ(told[1].at("outcome"), "replayed");
}

TEST_F(PaymentsRun, BadUsageIsToldInOneLineAndExitsWith2) {
  const TemporaryFile file{""};
  const std::vector<std::vector<std::string>> bad{
      {PAYMENTS},
      {PAYMENTS, "walk"},
      {PAYMENTS, "run"},
      {PAYMENTS, "run", "--requests", file.path()},
      {PAYMENTS, "run", "--database-url", url()},
      {PAYMENTS, "run", "--database-url", url(), "--requests"},
      {PAYMENTS, "run", "--database-url", url(), "--requests", "/nowhere/r.jsonl"},
      {PAYMENTS, "run", "--database-url", url(), "--requests", "/"},
      {PAYMENTS, "run", "--database-url", "", "--requests", file.path()},
      {PAYMENTS, "run", "--database-url", url(), "--requests", file.path(), "more"},
      run_of(file, {"--lease-ms", "1000"}),  // of no acquirer
      run_of(file, {"--acquirer"}),
      run_of(file, {"--acquirer", "127.0.0.1:1"}),
      run_of(file, {"--acquirer", "http://127.0.0.1:1", "--deadline-ms", "0"}),
      run_of(file, {"--acquirer", "http://127.0.0.1:1", "--deadline-ms", "1s"}),
      run_of(file, {"--acquirer", "http://127.0.0.1:1", "--deadline-ms", "1000", "--lease-ms", "1000"}),
      run_of(file, {"--acquirer", "http://127.0.0.1:1", "--lease-ms", "1"}),
      run_of(file, {"--acquirer", "http://127.0.0.1:1", "--no-deduplication", "--no-deduplication"}),
      {PAYMENTS, "repair"},
      {PAYMENTS, "repair", "--database-url", url(), "--acquirer", "http://127.0.0.1:1"},
      {PAYMENTS, "sweep", "--database-url", url()},
      {PAYMENTS, "sweep", "--database-url", url(), "--acquirer", "http://127.0.0.1:1", "--requests",
       file.path()}};
  for (const auto& words : bad) {
    const Finished finished = run_program(words);
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.out, "");
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  }
}

TEST_F(PaymentsRun, ADatabaseFailureExitsWith1AndDoesNotTellThePassword) {
  const TemporaryFile file{request("ann", "k1", "1290") + "\n"};
  for (const char* database :
       {"postgresql://ann:hunter2@localhost:1/none", "postgres:/ann:hunter2@localhost",
        "postgresql://ann:p@hunter2@localhost:1/none", "postgresql://ann:hunter2/x@localhost:1/none",
        "postgresql://ann:hunter2%zz@localhost:1/none", "host=localhost port=1 password=p hunter2"}) {
    const Finished finished =
        run_program({PAYMENTS, "run", "--database-url", database, "--requests", file.path()});
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.out, "");
    EXPECT_EQ(finished.err, "payments: the database cannot be reached; check --database-url\n");
  }
}

}  // namespace
}  // namespace idem::examples_test
