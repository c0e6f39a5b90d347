// `payments run` and `payments sweep` with the acquirer, each a process of its own.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/payments_program.hpp"
#include "examples/program.hpp"
#include "examples/running_company.hpp"

namespace idem::examples_test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

// A lease that nothing here outlives by itself, and a deadline that only a call which hangs meets.
constexpr auto lease = 10min;

class PaymentsAcquirer : public PaymentsProgram {
 protected:
  [[nodiscard]] std::vector<std::string> through(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> options{"--acquirer", acquirer_.url(), "--lease-ms", "600000", "--deadline-ms"};
    options.insert(options.end(), more.begin(), more.end());
    if (more.empty()) options.emplace_back("300000");
    return options;
  }
  // For calls that are to meet their deadline.
  [[nodiscard]] std::vector<std::string> impatient(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> options{"3000"};
    options.insert(options.end(), more.begin(), more.end());
    return through(options);
  }
  [[nodiscard]] std::vector<json> charge(const std::string& requests) const {
    return answers(requests, through());
  }
  // The counts of a sweep that ended well.
  [[nodiscard]] json sweep() const {
    std::vector<std::string> words{PAYMENTS, "sweep", "--database-url", url()};
    const auto options = through();
    words.insert(words.end(), options.begin(), options.end());
    return lines_of(run_program(words)).at(0).at("sweep");
  }

  // What the acquirer would settle at the end of the day.
  [[nodiscard]] std::string settlement() const {
    std::string csv = "downstream_key,outcome,amount,reference,at\n";
    for (const json& entry : acquirer_.ledger()) {
      csv += entry.at("key").get<std::string>();
      csv += entry.at("outcome") == "approved" ? ",charged," : ",declined,";
      csv += entry.at("amount_cents").dump() + ',' + entry.at("charge_id").get<std::string>() + ',' +
             entry.at("at").get<std::string>() + '\n';
    }
    return csv;
  }
  // The counts of a reconciliation that queues, as everybody may run it.
  [[nodiscard]] json reconcile(const std::string& csv, const std::vector<std::string>& more = {}) const {
    const TemporaryFile file{csv};
    std::vector<std::string> words{IDEMCTL,        "reconcile", "--database-url", url(),
                                   "--downstream", "acquirer",  "--settlement",   file.path(),
                                   "--queue",      "--yes",     "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return lines_of(run_program(words)).back();
  }
  [[nodiscard]] Finished repair() const { return run_program({PAYMENTS, "repair", "--database-url", url()}); }

  void wait_for_charges(std::size_t charges) const {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (acquirer_.ledger().size() < charges) {
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error{"nothing was charged"};
    }
  }
  [[nodiscard]] std::string text(const std::string& sql) const {
    const auto connection = database_.connect();
    pqxx::work tx{*connection};
    const pqxx::result rows = tx.exec(sql);
    return rows.empty() ? "none" : rows[0][0].as<std::string>("null");
  }

  // The state that the only payment is in.
  void expect_payment(const std::string& state) const {
    EXPECT_EQ(database_.number("SELECT count(*) FROM payment"), 1);
    EXPECT_EQ(text("SELECT state FROM payment"), state);
    EXPECT_EQ(
        database_.number("SELECT count(*) FROM payment WHERE (payment_method_token = 'tok_secret') = "
                         "(state = 'PENDING') OR (payment_method_token IS NULL AND state <> 'PENDING')"),
        1);
  }
  // One charge; its approval in the row, in the event and in the answer that is replayed.
  void expect_authorized() const {
    const json ledger = acquirer_.ledger();
    ASSERT_EQ(ledger.size(), 1);
    EXPECT_EQ(ledger[0].at("outcome"), "approved");
    expect_payment("AUTHORIZED");
    EXPECT_EQ(text("SELECT charge_id FROM payment"), ledger[0].at("charge_id").get<std::string>());
    EXPECT_EQ(text("SELECT downstream_key FROM payment"), ledger[0].at("key").get<std::string>());
    EXPECT_EQ(text("SELECT payment_id FROM payment"), ledger[0].at("reference").get<std::string>());
    EXPECT_EQ(text("SELECT string_agg(event_type, ',') FROM idem_outbox"), "PaymentAuthorized");
    const json event = json::parse(text("SELECT convert_from(payload, 'UTF8') FROM idem_outbox"));
    EXPECT_EQ(event, (json{{"payment_id", ledger[0].at("reference")},
                           {"principal", "ann"},
                           {"offering_id", "cpp-20"},
                           {"amount_cents", 1290},
                           {"currency", "EUR"},
                           {"charge_id", ledger[0].at("charge_id")}}));
    const json answer = json::parse(text("SELECT convert_from(response_body, 'UTF8') FROM idem_record"));
    EXPECT_EQ(answer.at("charge_id"), ledger[0].at("charge_id"));
    EXPECT_EQ(answer.at("state"), "authorized");
    EXPECT_EQ(text("SELECT response_status FROM idem_record"), "201");
    EXPECT_EQ(database_.number("SELECT count(*) FROM seat"), 1);
    EXPECT_EQ(database_.number("SELECT count(*) FROM receipt"), 1);
  }

  // A process that waits for the acquirer's answer is killed: it was charged, and nobody knows.
  void kill_after_the_charge() const {
    acquirer_.control({{"mode", "timeout_after"}, {"count", 1}});
    const TemporaryFile file{payment};
    Running doomed{run_of(file, through())};
    wait_for_charges(1);
    EXPECT_EQ(doomed.kill().status, -1);
    expect_payment("PENDING");
  }
  // A process that has the acquirer's answer is killed in its second transaction.
  void kill_before_the_second_commit() const {
    (void)charge("");  // the tables
    database_.execute(R"(
      CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
        PERFORM pg_advisory_xact_lock(hashtext(TG_TABLE_SCHEMA));
        RETURN NEW;
      END$$;
      CREATE TRIGGER hold BEFORE UPDATE ON payment FOR EACH ROW EXECUTE FUNCTION hold())");
    const auto connection = database_.connect();
    pqxx::work holder{*connection};
    holder.exec("SELECT pg_advisory_xact_lock(hashtext('" + database_.schema() + "'))");
    const TemporaryFile file{payment};
    Running doomed{run_of(file, through())};
    const std::string waits = "EXISTS (SELECT FROM pg_stat_activity WHERE " +
                              std::to_string(connection->backendpid()) + " = ANY (pg_blocking_pids(pid)))";
    postgres_test::wait_until(database_, "SELECT " + waits);
    const auto process = text("SELECT pid FROM pg_stat_activity WHERE " +
                              std::to_string(connection->backendpid()) + " = ANY (pg_blocking_pids(pid))");
    EXPECT_EQ(doomed.kill().status, -1);
    holder.commit();
    // The server learns of it when it has something to tell, and rolls back.
    postgres_test::wait_until(database_,
                              "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = " + process + ")");
    EXPECT_EQ(acquirer_.ledger().size(), 1);
    expect_payment("PENDING");
  }

  static inline const std::string payment = request("ann", "k1", "1290") + "\n";
  RunningAcquirer acquirer_;
};

json summary(int charges, int declines, int seats, int receipts, int pending, int unknown, int events) {
  return {{"summary",
           {{"charges", charges},
            {"declines", declines},
            {"seats", seats},
            {"receipts", receipts},
            {"pending", pending},
            {"unknown", unknown},
            {"events", events}}}};
}

json counts(int lapsed, int settled, int unknown, int left) {
  return {
      {"lapsed", lapsed}, {"settled", settled}, {"unknown", unknown}, {"passed_over", left}, {"failed", 0}};
}

TEST_F(PaymentsAcquirer, TheSameKeyTwiceIsOneCallAndTheSameBytes) {
  const auto told = charge(payment + payment);
  expect(told, {{"executed", 201}, {"replayed", 201}});
  EXPECT_EQ(told[0].at("body_sha256"), told[1].at("body_sha256"));
  EXPECT_EQ(told.back(), summary(1, 0, 1, 1, 0, 0, 1));
  expect_authorized();
  // An acquirer that would charge anything, whatever its key.
  acquirer_.control({{"deduplicate", false}});
  const auto again = charge(payment);
  expect(again, {{"replayed", 201}});
  EXPECT_EQ(again[0].at("body_sha256"), told[0].at("body_sha256"));
  expect_authorized();
}

TEST_F(PaymentsAcquirer, AnotherAmountUnderTheKeyIsAMismatchAndNoCall) {
  expect(charge(payment + request("ann", "k1", "1291") + "\n" + request("ann", "k1", "12900") + "\n"),
         {{"executed", 201}, {"mismatch", 422}, {"mismatch", 422}});
  expect_authorized();
}

TEST_F(PaymentsAcquirer, ADeclineIsStoredAndReplayed) {
  const std::string declined = request("ann", "k1", "1313") + "\n";
  const auto told = charge(declined + declined);
  expect(told, {{"executed", 402}, {"replayed", 402}});
  EXPECT_EQ(told[0].at("body_sha256"), told[1].at("body_sha256"));
  EXPECT_EQ(told.back(), summary(0, 1, 0, 0, 0, 0, 1));
  EXPECT_EQ(acquirer_.ledger().size(), 1);
  expect_payment("DECLINED");
  EXPECT_EQ(text("SELECT event_type FROM idem_outbox"), "PaymentDeclined");
  // The acquirer would approve the same charge now.
  acquirer_.control({{"deduplicate", false}, {"mode", "approve"}});
  expect(charge(declined), {{"replayed", 402}});
  EXPECT_EQ(acquirer_.ledger().size(), 1);
}

TEST_F(PaymentsAcquirer, AnAnswerThatIsLostIsAskedForAgainWithTheOriginalApproval) {
  acquirer_.control({{"mode", "drop_answer"}, {"count", 1}});
  const auto first = charge(payment);
  expect(first, {{"in_progress", 409}});
  EXPECT_EQ(first.back(), summary(0, 0, 0, 0, 1, 0, 0));
  expect_payment("PENDING");
  const auto retry = charge(payment);
  expect(retry, {{"executed", 201}});
  EXPECT_EQ(retry.back(), summary(1, 0, 1, 1, 0, 0, 1));
  expect_authorized();
  expect(charge(payment), {{"replayed", 201}});
}

TEST_F(PaymentsAcquirer, AnAcquirerThatIsDownLeavesThePaymentPending) {
  (void)acquirer_.stop();
  expect(charge(payment), {{"in_progress", 409}});
  EXPECT_EQ(sweep(), counts(1, 0, 0, 1));
  acquirer_.restart();
  EXPECT_EQ(sweep(), counts(1, 1, 0, 0));
  expect_authorized();
}

TEST_F(PaymentsAcquirer, AChargeThatIsStillUnderWayIsAskedForUntilItIsDone) {
  acquirer_.control({{"mode", "late"}, {"delay_ms", 600'000}});
  const TemporaryFile file{payment};
  Running doomed{run_of(file, through())};
  wait_for_charges(1);
  EXPECT_EQ(doomed.kill().status, -1);
  database_.advance(lease + 1min);
  // "In progress" is no decision.
  expect(charge(payment), {{"in_progress", 409}});
  EXPECT_EQ(sweep(), counts(1, 0, 0, 1));
  // A new process of the acquirer has the charge in its ledger, and nothing under way.
  (void)acquirer_.kill();
  acquirer_.restart();
  expect(charge(payment), {{"executed", 201}});
  expect_authorized();
}

TEST_F(PaymentsAcquirer, ATimeOutOfOneThatCannotDeduplicateIsUnknownWithoutAnEvent) {
  acquirer_.control({{"mode", "timeout_after"}, {"count", 1}, {"deduplicate", false}});
  const auto first = answers(payment, impatient({"--no-deduplication"}));
  expect(first, {{"unknown", 202}});
  EXPECT_EQ(first.back(), summary(0, 0, 0, 0, 0, 1, 0));
  expect_payment("UNKNOWN");
  wait_for_charges(1);

  database_.advance(lease + 1min);
  const auto retry = answers(payment, impatient({"--no-deduplication"}));
  expect(retry, {{"unknown", 202}});
  EXPECT_EQ(retry[0].at("body_sha256"), first[0].at("body_sha256"));
  EXPECT_EQ(retry.back(), summary(0, 0, 0, 0, 0, 1, 0));
  EXPECT_EQ(sweep(), counts(0, 0, 0, 0)) << "UNKNOWN is reconciliation's";
  expect_payment("UNKNOWN");
  EXPECT_EQ(acquirer_.ledger().size(), 1);
}

json repaired(int queued, int applied, int failed) {
  return {{"queued", queued},
          {"applied", applied},
          {"settled_already", 0},
          {"passed_over", 0},
          {"failed", failed}};
}

TEST_F(PaymentsAcquirer, ReconciliationSettlesAnUnknownPaymentOnceWithItsEvent) {
  acquirer_.control({{"mode", "timeout_after"}, {"count", 1}, {"deduplicate", false}});
  expect(answers(payment, impatient({"--no-deduplication"})), {{"unknown", 202}});
  wait_for_charges(1);
  for (int day = 1; day <= 2; ++day) {
    EXPECT_EQ(reconcile(settlement()).at("queued"), day == 1 ? 1 : 0);
    EXPECT_EQ(lines_of(repair()).at(0).at("repair"), day == 1 ? repaired(1, 1, 0) : repaired(0, 0, 0));
    expect_authorized();
  }
  expect(answers(payment, through({"300000", "--no-deduplication"})), {{"replayed", 201}});
  expect_authorized();
}

TEST_F(PaymentsAcquirer, WhatAClosedSettlementDoesNotHaveIsADecline) {
  acquirer_.control({{"mode", "timeout_before"}, {"count", 1}, {"deduplicate", false}});
  expect(answers(payment, impatient({"--no-deduplication"})), {{"unknown", 202}});
  database_.advance(lease + 10min);
  const std::string other = "downstream_key,outcome,amount,reference,at\nanother,charged,1,ch_1,\n";
  EXPECT_EQ(reconcile(other).at("queued"), 0);
  EXPECT_EQ(
      reconcile(other, {"--closed", "--from", "2020-01-01T00:00:00Z", "--until", "2100-01-01T00:00:00Z"})
          .at("queued"),
      1);
  EXPECT_EQ(lines_of(repair()).at(0).at("repair"), repaired(1, 1, 0));
  expect_payment("DECLINED");
  EXPECT_EQ(text("SELECT charge_id FROM payment"), "null");
  EXPECT_EQ(text("SELECT string_agg(event_type, ',') FROM idem_outbox"), "PaymentDeclined");
  expect(answers(payment, through({"300000", "--no-deduplication"})), {{"replayed", 402}});
  EXPECT_EQ(acquirer_.ledger().size(), 0);
}

TEST_F(PaymentsAcquirer, ASettlementOfAnotherAmountIsLeftToAPerson) {
  acquirer_.control({{"mode", "timeout_after"}, {"count", 1}, {"deduplicate", false}});
  expect(answers(payment, impatient({"--no-deduplication"})), {{"unknown", 202}});
  wait_for_charges(1);
  std::string csv = settlement();
  csv.replace(csv.find(",1290,"), 6, ",1291,");
  EXPECT_EQ(reconcile(csv).at("queued"), 1);
  const Finished failed = repair();
  EXPECT_EQ(failed.status, 1);
  EXPECT_EQ(json::parse(failed.out).at("repair"), repaired(1, 0, 1));
  EXPECT_EQ(failed.err,
            "payments: a payment was left as it was: the settlement has another amount than the payment\n");
  expect_payment("UNKNOWN");
  EXPECT_EQ(database_.number("SELECT count(*) FROM idem_outbox"), 0);
}

TEST_F(PaymentsAcquirer, AProcessKilledAfterTheChargeLeavesItToTheRetry) {
  kill_after_the_charge();
  const auto early = charge(payment);
  expect(early, {{"in_progress", 409}});
  EXPECT_EQ(early.back(), summary(0, 0, 0, 0, 1, 0, 0));
  database_.advance(lease + 1min);
  expect(charge(payment), {{"executed", 201}});
  expect_authorized();
  expect(charge(payment), {{"replayed", 201}});
}

TEST_F(PaymentsAcquirer, AProcessKilledAfterTheChargeLeavesItToTheSweep) {
  kill_after_the_charge();
  EXPECT_EQ(sweep(), counts(0, 0, 0, 0)) << "its lease is live";
  database_.advance(lease + 1min);
  EXPECT_EQ(sweep(), counts(1, 1, 0, 0));
  expect_authorized();
  expect(charge(payment), {{"replayed", 201}});
  expect_authorized();
}

TEST_F(PaymentsAcquirer, AProcessKilledBeforeItsSecondCommitLeavesItToTheRetry) {
  kill_before_the_second_commit();
  expect(charge(payment), {{"in_progress", 409}});
  database_.advance(lease + 1min);
  expect(charge(payment), {{"executed", 201}});
  expect_authorized();
}

TEST_F(PaymentsAcquirer, AProcessKilledBeforeItsSecondCommitLeavesItToTheSweep) {
  kill_before_the_second_commit();
  database_.advance(lease + 1min);
  EXPECT_EQ(sweep(), counts(1, 1, 0, 0));
  expect_authorized();
  expect(charge(payment), {{"replayed", 201}});
}

TEST_F(PaymentsAcquirer, AProcessKilledDuringACallThatCannotBeRepeatedIsUnknown) {
  acquirer_.control({{"mode", "timeout_after"}, {"deduplicate", false}});
  const TemporaryFile file{payment};
  Running doomed{run_of(file, through({"300000", "--no-deduplication"}))};
  wait_for_charges(1);
  EXPECT_EQ(doomed.kill().status, -1);
  expect_payment("PENDING");
  database_.advance(lease + 1min);
  EXPECT_EQ(sweep(), counts(1, 0, 1, 0));
  expect_payment("UNKNOWN");
  const auto retry = charge(payment);
  expect(retry, {{"unknown", 202}});
  EXPECT_EQ(retry.back(), summary(0, 0, 0, 0, 0, 1, 0));
  EXPECT_EQ(acquirer_.ledger().size(), 1);
}

TEST_F(PaymentsAcquirer, TheEventIsDeliveredOnceHoweverOftenItComes) {
  expect(charge(request("ann", "k1", "1290", "cpp-20", "true") + "\n" +
                request("ann", "k1", "1290", "cpp-20", "\"new_id\"") + "\n" +
                request("ann", "k2", "1313", "cpp-20", "true") + "\n"),
         {{"executed", 201, "duplicate"}, {"replayed", 201, "applied"}, {"executed", 402}});
  EXPECT_EQ(database_.number("SELECT count(*) FROM seat"), 1);
  EXPECT_EQ(database_.number("SELECT count(*) FROM receipt"), 1);
}

TEST_F(PaymentsAcquirer, AnEventThatNobodyDeliveredIsDeliveredByTheNext) {
  (void)charge(payment);
  // As a process leaves it that dies right after the payment's commit.
  const std::string lose = "DELETE FROM receipt; DELETE FROM seat; DELETE FROM idem_inbox";
  database_.execute(lose);
  EXPECT_EQ(sweep(), counts(0, 0, 0, 0));
  expect_authorized();
  database_.execute(lose);
  EXPECT_EQ(charge("").back(), summary(1, 0, 1, 1, 0, 0, 1));
  database_.execute(lose);
  EXPECT_EQ(charge(payment).back(), summary(1, 0, 1, 1, 0, 0, 1));
}

TEST_F(PaymentsAcquirer, AnEventThatLayInTheOutboxBeyondTheHorizonIsDelivered) {
  (void)charge("");  // the tables
  // Of 2023.
  database_.execute(R"(
    INSERT INTO payment (payment_id, principal, offering_id, amount_cents, currency, state)
      VALUES ('01890000-0000-7000-8000-000000000000', 'ann', 'cpp-20', 1290, 'EUR', 'AUTHORIZED');
    INSERT INTO idem_outbox (event_id, shard, aggregate_type, aggregate_id, event_type, payload, headers, created_at)
      VALUES ('01890000-0000-7000-8000-000000000001', 0, 'payment', '01890000-0000-7000-8000-000000000000',
              'PaymentAuthorized', '', '', '2023-06-27'))");
  EXPECT_EQ(charge("").back(), summary(1, 0, 1, 1, 0, 0, 1));
  EXPECT_EQ(charge("").back(), summary(1, 0, 1, 1, 0, 0, 1));
}

TEST_F(PaymentsAcquirer, TheTokenIsInThePendingPaymentAndNowhereElse) {
  acquirer_.control({{"mode", "drop_answer"}, {"count", 1}});
  const auto count = [&](const std::string& table) {
    return database_.number("SELECT count(*) FROM " + table + " AS row WHERE row::text LIKE '%tok_secret%'");
  };
  const auto in_bytes = [&](const char* table, const char* column) {
    return database_.number(std::string{"SELECT count(*) FROM "} + table +
                            " WHERE position('tok_secret'::bytea in " + column + ") > 0");
  };
  const auto elsewhere = [&] {
    return count("seat") + count("receipt") + count("idem_record") + count("idem_outbox") +
           count("idem_inbox") + in_bytes("idem_record", "response_body") +
           in_bytes("idem_outbox", "payload");
  };
  const Finished first = run(payment, through());
  EXPECT_EQ(count("payment"), 1);
  EXPECT_EQ(elsewhere(), 0);
  const Finished retry = run(payment, through());
  expect_authorized();
  EXPECT_EQ(count("payment"), 0);
  EXPECT_EQ(elsewhere(), 0);
  EXPECT_EQ((first.out + retry.out).find("tok_secret"), std::string::npos);
}

TEST_F(PaymentsAcquirer, ASweepThatCannotSettleAPaymentSaysSoAndGoesOn) {
  acquirer_.control({{"mode", "drop_answer"}, {"count", 2}});
  (void)charge(payment + request("bob", "k1", "1290") + "\n");
  database_.execute(R"(
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'not today'; END$$;
    CREATE TRIGGER refuse BEFORE UPDATE ON payment FOR EACH ROW WHEN (OLD.principal = 'ann')
      EXECUTE FUNCTION refuse())");
  std::vector<std::string> words{PAYMENTS, "sweep", "--database-url", url(), "--acquirer", acquirer_.url()};
  const Finished swept = run_program(words);
  EXPECT_EQ(swept.status, 1);
  EXPECT_EQ(swept.err,
            "payments: a payment was left as it was: the database refused a statement (SQLSTATE P0001)\n");
  EXPECT_EQ(swept.out, R"({"sweep":{"lapsed":2,"settled":1,"unknown":0,"passed_over":0,"failed":1}})"
                       "\n");
  database_.execute("DROP TRIGGER refuse ON payment");
  EXPECT_EQ(sweep(), counts(1, 1, 0, 0));
  EXPECT_EQ(acquirer_.ledger().size(), 2);
}

}  // namespace
}  // namespace idem::examples_test
