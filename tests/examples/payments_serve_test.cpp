// `payments serve` over real HTTP: what each request is answered, and how often the acquirer has charged then.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <future>
#include <nlohmann/json.hpp>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "examples/payments_server.hpp"
#include "examples/tcp.hpp"

namespace idem::examples_test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

std::string problem(const httplib::Response& answer) {
  EXPECT_EQ(answer.get_header_value("Content-Type"), "application/problem+json");
  const json told = json::parse(answer.body);
  EXPECT_EQ(told.at("status"), answer.status);
  const auto type = told.at("type").get<std::string>();
  return type.substr(type.rfind(':') + 1);
}

void expect_problem(const httplib::Response& answer, int status, const std::string& type) {
  EXPECT_EQ(answer.status, status) << answer.body;
  EXPECT_EQ(problem(answer), type);
}

// No answer, as the server ended the connection.
void expect_none(const httplib::Result& result) {
  EXPECT_FALSE(result) << result->status;
}

class PaymentsServe : public PaymentsServer {
 protected:
  // The answer that `first` was, replayed.
  static void expect_replay(const httplib::Response& replay, const httplib::Response& first) {
    EXPECT_EQ(replay.status, first.status);
    EXPECT_EQ(replay.body, first.body);
    EXPECT_EQ(replay.get_header_value("Location"), first.get_header_value("Location"));
    EXPECT_EQ(replay.get_header_value("Content-Type"), first.get_header_value("Content-Type"));
    EXPECT_EQ(replay.get_header_value("Idempotent-Replayed"), "true");
  }
  static std::string payment_in(const httplib::Response& made) {
    return json::parse(made.body).at("payment_id");
  }
  [[nodiscard]] httplib::Result pay_with_fault(const std::string& key, const std::string& fault,
                                               const std::string& text = body()) const {
    return client().Post(
        "/payments", {{"Authorization", "Bearer demo-ann"}, {"Idempotency-Key", key}, {"Demo-Fault", fault}},
        text, "application/json");
  }
  [[nodiscard]] httplib::Result redeliver(const std::string& payment, const std::string& principal) const {
    return client().Post("/demo/payments/" + payment + "/redeliveries",
                         {{"Authorization", "Bearer demo-" + principal}}, "", "application/json");
  }
  // What the payment's charge, the only one, was approved as.
  [[nodiscard]] json approval() const {
    const json ledger = acquirer_.ledger();
    if (ledger.size() != 1) throw std::runtime_error{"there is not one charge"};
    return ledger[0].at("charge_id");
  }
  // Again while it is in progress: somebody else may be at it.
  [[nodiscard]] httplib::Response pay_until_decided(const std::string& key) const {
    const auto end = std::chrono::steady_clock::now() + 60s;
    for (;;) {
      httplib::Response told = pay(key);
      if (told.status != 409 || std::chrono::steady_clock::now() > end) return told;
    }
  }
};

TEST_F(PaymentsServe, ANewPaymentIsCreatedAndItsRetryIsTheSameBytes) {
  serve();
  const auto first = pay("k1");
  EXPECT_EQ(first.status, 201) << first.body;
  const json told = json::parse(first.body);
  EXPECT_EQ(told.at("state"), "authorized");
  EXPECT_EQ(told.at("amount_cents"), 1290);
  EXPECT_EQ(told.at("charge_id"), approval());
  EXPECT_EQ(first.get_header_value("Location"), "/payments/" + told.at("payment_id").get<std::string>());
  EXPECT_EQ(first.get_header_value("Content-Type"), "application/json");
  EXPECT_FALSE(first.has_header("Idempotent-Replayed"));
  expect_replay(pay("k1"), first);
  EXPECT_EQ(charges(), 1U);
  // The service delivers its events by itself.
  postgres_test::wait_until(database_,
                            "SELECT (SELECT count(*) FROM seat) = 1 AND (SELECT count(*) FROM receipt) = 1");
}

// Only a GET has ranges (RFC 9110, 14.2): a payment that was made must not be told as 416, nor half of its answer.
TEST_F(PaymentsServe, ARangeChangesNothing) {
  serve();
  const auto first = pay("k1");
  for (const char* range : {"bytes=0-9", "bytes=0-1,3-4", "bytes=9000-9999"}) {
    const auto again =
        post({{"Authorization", "Bearer demo-ann"}, {"Idempotency-Key", "k1"}, {"Range", range}}, body());
    expect_replay(again, first);
    EXPECT_FALSE(again.has_header("Content-Range"));
  }
  EXPECT_EQ(charges(), 1U);
}

TEST_F(PaymentsServe, WhatDoesNotMakeTheOperationMayChange) {
  serve();
  const auto first = pay("k1");
  expect_replay(pay("k1", R"({"payment_method_token":"tok_secret","sent_at":7,"offering_id":"cpp-20",)"
                          R"("currency":"EUR","amount_cents":1.29e3})"),
                first);
  EXPECT_EQ(charges(), 1U);
}

TEST_F(PaymentsServe, ADeclineIsReplayed) {
  serve();
  const auto first = pay("k1", body("1313"));
  EXPECT_EQ(first.status, 402) << first.body;
  EXPECT_EQ(json::parse(first.body).at("state"), "declined");
  // It would approve the same charge now.
  acquirer_.control({{"deduplicate", false}, {"mode", "approve"}});
  expect_replay(pay("k1", body("1313")), first);
  EXPECT_EQ(charges(), 1U);
}

TEST_F(PaymentsServe, AnotherAmountUnderTheKeyIsRefused) {
  serve();
  EXPECT_EQ(pay("k1").status, 201);
  expect_problem(pay("k1", body("1291")), 422, "key-reused");
  EXPECT_EQ(charges(), 1U);
}

TEST_F(PaymentsServe, TheStatusOfAMismatchMayBeChosen) {
  serve({"--status-mismatch", "409"});
  EXPECT_EQ(pay("k1").status, 201);
  expect_problem(pay("k1", body("1291")), 409, "key-reused");
  EXPECT_EQ(charges(), 1U);
}

TEST_F(PaymentsServe, ADuplicateInFlightIsToldToComeBack) {
  serve();
  acquirer_.control({{"mode", "late"}, {"delay_ms", 600'000}});
  auto first = std::async(std::launch::async, [this] { return pay("k1"); });
  wait_for_charges(1);
  const auto duplicate = pay("k1");
  expect_problem(duplicate, 409, "in-progress");
  EXPECT_EQ(duplicate.get_header_value("Retry-After"), "1");
  EXPECT_EQ(charges(), 1U);
  const auto connection = database_.connect();
  const auto id = pqxx::work{*connection}.exec("SELECT payment_id FROM payment")[0][0].as<std::string>();
  EXPECT_EQ(json::parse(get("/payments/" + id, "ann").body).at("state"), "pending");
  // None is held meanwhile. Sweep and delivery begin one each second, and end it.
  postgres_test::wait_until(
      database_, "SELECT NOT EXISTS (SELECT" + its_sessions() + " AND state LIKE 'idle in transaction%')");

  (void)acquirer_.kill();
  expect_problem(first.get(), 409, "in-progress");
  acquirer_.restart();
  const auto retry = pay_until_decided("k1");
  EXPECT_EQ(retry.status, 201);
  EXPECT_EQ(json::parse(retry.body).at("charge_id"), approval());
}

TEST_F(PaymentsServe, AServerKilledAfterTheApprovalLeavesItToTheRetry) {
  serve();
  acquirer_.control({{"mode", "timeout_after"}, {"count", 1}});
  auto first = std::async(std::launch::async, [this] { return pay("k1"); });
  wait_for_charges(1);
  EXPECT_EQ(server_->kill().status, -1);
  EXPECT_THROW((void)first.get(), std::runtime_error);

  serve();
  expect_problem(pay("k1"), 409, "in-progress");
  database_.advance(lease + 1min);
  const auto retry = pay_until_decided("k1");
  EXPECT_EQ(retry.status, 201) << retry.body;
  EXPECT_EQ(json::parse(retry.body).at("charge_id"), approval());
  expect_replay(pay("k1"), retry);
  EXPECT_EQ(charges(), 1U);
}

TEST_F(PaymentsServe, AServerKilledAfterTheApprovalLeavesItToTheNextOnesSweep) {
  serve();
  acquirer_.control({{"mode", "timeout_after"}, {"count", 1}});
  auto first = std::async(std::launch::async, [this] { return pay("k1"); });
  wait_for_charges(1);
  EXPECT_EQ(server_->kill().status, -1);
  EXPECT_THROW((void)first.get(), std::runtime_error);
  database_.advance(lease + 1min);

  serve();
  // Nobody asks.
  postgres_test::wait_until(database_, "SELECT EXISTS (SELECT FROM payment WHERE state = 'AUTHORIZED')");
  postgres_test::wait_until(database_, "SELECT EXISTS (SELECT FROM seat)");
  const auto retry = pay("k1");
  EXPECT_EQ(retry.status, 201) << retry.body;
  const json told = json::parse(retry.body);
  EXPECT_EQ(told.at("charge_id"), approval());
  EXPECT_EQ(retry.get_header_value("Location"), "/payments/" + told.at("payment_id").get<std::string>());
  EXPECT_EQ(retry.get_header_value("Idempotent-Replayed"), "true");
}

TEST_F(PaymentsServe, ATimeOutOfOneThatCannotDeduplicateIsAcceptedWithTheKey) {
  serve({"--no-deduplication", "--deadline-ms", "3000"});
  acquirer_.control({{"mode", "timeout_after"}, {"count", 1}, {"deduplicate", false}});
  const auto first = pay("k1");
  EXPECT_EQ(first.status, 202) << first.body;
  EXPECT_EQ(json::parse(first.body).at("state"), "unknown");
  EXPECT_EQ(first.get_header_value("Idempotency-Key"), "\"k1\"");
  EXPECT_EQ(first.get_header_value("Retry-After"), "1");
  wait_for_charges(1);
  database_.advance(lease + 1min);
  const auto retry = pay("k1");
  EXPECT_EQ(retry.status, 202);
  EXPECT_EQ(retry.body, first.body);
  EXPECT_EQ(retry.get_header_value("Idempotency-Key"), "\"k1\"");
  EXPECT_EQ(charges(), 1U);
}

TEST_F(PaymentsServe, ARequestWithoutOneKeyIsRefused) {
  serve();
  const std::pair<const char*, const char*> ann{"Authorization", "Bearer demo-ann"};
  expect_problem(post({ann}, body()), 400, "key-missing");
  for (const char* second : {"k2", "k1"}) {
    expect_problem(post({ann, {"Idempotency-Key", "k1"}, {"idempotency-key", second}}, body()), 400,
                   "key-refused");
  }
  expect_problem(pay("k1, k2"), 400, "key-refused");
  expect_problem(pay(std::string(256, 'k')), 400, "key-refused");
  EXPECT_EQ(charges(), 0U);
  EXPECT_EQ(database_.number("SELECT count(*) FROM idem_record"), 0);
}

TEST_F(PaymentsServe, NobodyIsRefused) {
  serve();
  const std::pair<const char*, const char*> key{"Idempotency-Key", "k1"};
  expect_problem(post({key}, body()), 401, "unauthenticated");
  EXPECT_EQ(post({key}, body()).get_header_value("WWW-Authenticate"), "Bearer");
  for (const char* other : {"Basic demo-ann", "Bearer ann", "Bearer demo-", "Bearer demo-a b", "demo-ann"}) {
    expect_problem(post({key, {"Authorization", other}}, body()), 401, "unauthenticated");
  }
  expect_problem(
      post({key, {"Authorization", "Bearer demo-ann"}, {"Authorization", "Bearer demo-bob"}}, body()), 401,
      "unauthenticated");
  EXPECT_EQ(charges(), 0U);
  EXPECT_EQ(database_.number("SELECT count(*) FROM idem_record"), 0);
  EXPECT_EQ(post({key, {"Authorization", "bEARER demo-ann"}}, body()).status, 201);
}

TEST_F(PaymentsServe, ABodyThatIsNoPaymentIsRefused) {
  serve();
  for (const std::string& wrong : {std::string{}, std::string{"{}"}, std::string{"[]"}, std::string{"{"},
                                   body("0"), body("12.5"), body("1,\"amount_cents\":2")}) {
    expect_problem(pay("k1", wrong), 400, "request-refused");
  }
  expect_problem(
      answer(client().Post("/payments", {{"Authorization", "Bearer demo-ann"}, {"Idempotency-Key", "k1"}},
                           body(), "text/plain")),
      400, "request-refused");
  EXPECT_EQ(charges(), 0U);
  EXPECT_EQ(pay("k1").status, 201) << "the key is still free";
}

TEST_F(PaymentsServe, ABareAndAQuotedKeyAreOne) {
  serve();
  const auto first = pay("k1");
  EXPECT_EQ(first.status, 201);
  expect_replay(pay("\"k1\""), first);
  EXPECT_EQ(charges(), 1U);
}

TEST_F(PaymentsServe, APaymentIsShownToItsPrincipalAlone) {
  serve();
  const auto made = pay("k1");
  const std::string path = made.get_header_value("Location");
  const auto shown = get(path, "ann");
  EXPECT_EQ(shown.status, 200);
  EXPECT_EQ(json::parse(shown.body), json::parse(made.body));
  EXPECT_EQ(get(path, "bob").status, 404);
  EXPECT_EQ(get("/payments/01890000-0000-7000-8000-000000000000", "ann").status, 404);
  EXPECT_EQ(get("/payments/x'", "ann").status, 404);
  EXPECT_EQ(get(path, "bob").body, get("/payments/x", "ann").body);
  expect_problem(answer(client().Get(path)), 401, "unauthenticated");
  // The same key of another is another payment.
  EXPECT_EQ(post({{"Authorization", "Bearer demo-bob"}, {"Idempotency-Key", "k1"}}, body()).status, 201);
  EXPECT_EQ(charges(), 2U);
}

TEST_F(PaymentsServe, ABodyThatIsTooLongIsRefused) {
  serve();
  const std::string longest = body() + std::string(65536 - body().size(), ' ');
  EXPECT_EQ(pay("k1", longest + ' ').status, 413);
  EXPECT_EQ(pay("k1", std::string(1'000'000, ' ')).status, 413);
  EXPECT_EQ(charges(), 0U);
  const Connection chunked{server_url_};
  ASSERT_TRUE(chunked.send(
      "POST /payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer demo-ann\r\n"
      "Content-Type: application/json\r\nIdempotency-Key: k1\r\nTransfer-Encoding: chunked\r\n\r\n"
      "10001\r\n" +
      longest + " \r\n0\r\n\r\n"));
  const std::string refused = chunked.receive_all();
  EXPECT_EQ(refused.find("HTTP/1.1 413"), 0U) << refused;
  EXPECT_EQ(charges(), 0U);
  EXPECT_EQ(pay("k1", longest).status, 201);
}

// Sixty-four of these would take every thread.
TEST_F(PaymentsServe, ABodyThatDoesNotEndIsGivenUp) {
  serve();
  const std::string head =
      "POST /payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer demo-ann\r\n"
      "Content-Type: application/json\r\nIdempotency-Key: k1\r\n";
  const std::string part(65536, ' ');
  // What the system holds for a reader that is slow comes on top of what is read.
  constexpr int most_parts = 1024;
  for (const auto& [how, piece] : {std::pair{"Transfer-Encoding: chunked", "10000\r\n" + part + "\r\n"},
                                   std::pair{"Content-Length: 1099511627776", part}}) {
    const Connection endless{server_url_};
    ASSERT_TRUE(endless.send(head + how + "\r\n\r\n"));
    int parts = 0;
    while (parts < most_parts && endless.send(piece)) ++parts;
    EXPECT_GE(parts, 16) << how;
    EXPECT_LT(parts, most_parts) << how;
  }
  EXPECT_EQ(charges(), 0U);
  EXPECT_EQ(pay("k1").status, 201);
}

// Behind a proxy that shares its connections, somebody else's request would be answered with it.
TEST_F(PaymentsServe, ABodyThatNobodyReadsIsNotTheNextRequest) {
  serve();
  const std::string hidden = "GET /payments/x HTTP/1.1\r\nHost: x\r\n\r\n";
  for (const std::string method : {"GET", "OPTIONS", "TRACE", "UNHEARD-OF"}) {
    const Connection connection{server_url_};
    ASSERT_TRUE(connection.send(method + " /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                                std::to_string(hidden.size()) + "\r\n\r\n"));
    // An answer, which ends as such a request would.
    EXPECT_EQ(connection.receive_request().find("HTTP/1.1 "), 0U);
    (void)connection.send(hidden);
    EXPECT_EQ(connection.receive_all(), "") << method;
  }
}

TEST_F(PaymentsServe, AMethodThatAPathDoesNotHaveIsToldWhichItHas) {
  serve();
  const auto expect_allow = [](const httplib::Response& told, const std::string& methods) {
    expect_problem(told, 405, "blank");
    EXPECT_EQ(json::parse(told.body).at("title"), "Method Not Allowed");
    EXPECT_EQ(told.get_header_value("Allow"), methods);
  };
  expect_allow(get("/payments", "ann"), "POST");
  expect_allow(answer(client().Delete("/payments/x")), "GET, HEAD");
  expect_allow(answer(client().Post("/healthz", "", "text/plain")), "GET, HEAD");
  expect_problem(get("/nowhere", "ann"), 404, "blank");
}

TEST_F(PaymentsServe, WhatAHandlerThrowsIsAFailureWithoutContent) {
  serve();
  database_.execute(R"(
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$BEGIN PERFORM 'tok_secret'::integer; RETURN NEW; END$$;
    CREATE TRIGGER refuse BEFORE INSERT ON payment FOR EACH ROW EXECUTE FUNCTION refuse())");
  const auto failed = pay("k1");
  EXPECT_EQ(failed.status, 500);
  EXPECT_EQ(failed.get_header_value("Content-Type"), "application/problem+json");
  EXPECT_EQ(failed.body, R"({"type":"about:blank","title":"Internal Server Error","status":500})");
  EXPECT_EQ(charges(), 0U);
  database_.execute("DROP TRIGGER refuse ON payment");
  EXPECT_EQ(pay("k1").status, 201);
  server_->signal(SIGTERM);
  // PostgreSQL's message has the value in its first line.
  EXPECT_EQ(server_->wait_at_most(60s).err,
            "payments: a request failed: the database refused a statement (SQLSTATE 22P02)\n");
}

TEST_F(PaymentsServe, ThePageIsServedWithAPolicy) {
  serve();
  for (const auto& [path, type] : {std::pair{"/", "text/html; charset=utf-8"},
                                   {"/page.css", "text/css; charset=utf-8"},
                                   {"/page.js", "text/javascript; charset=utf-8"}}) {
    const auto file = answer(client().Get(path));
    EXPECT_EQ(file.status, 200) << path;
    EXPECT_EQ(file.get_header_value("Content-Type"), type);
    EXPECT_EQ(file.get_header_value("X-Content-Type-Options"), "nosniff");
    const std::string policy = file.get_header_value("Content-Security-Policy");
    EXPECT_EQ(policy.find("default-src 'none'; script-src 'self';"), 0U) << policy;
    EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  }
  const auto page = answer(client().Get("/"));
  EXPECT_NE(page.body.find("Enroll"), std::string::npos);
}

TEST_F(PaymentsServe, WithoutThePageThereIsNoneAndNoFault) {
  serve({"--no-page"});
  for (const char* path : {"/", "/page.js", "/demo/state"}) {
    EXPECT_EQ(answer(client().Get(path, {{"Authorization", "Bearer demo-ann"}})).status, 404) << path;
  }
  const auto made = pay_with_fault("k1", "kill-after-approval");
  EXPECT_EQ(answer(made).status, 201);
  EXPECT_EQ(answer(pay_with_fault("k2", "drop-answer")).status, 201);
  EXPECT_EQ(answer(redeliver(payment_in(*made), "ann")).status, 404);
}

TEST_F(PaymentsServe, ADroppedAnswerIsReplayed) {
  serve();
  expect_none(pay_with_fault("k1", "drop-answer"));
  EXPECT_EQ(charges(), 1U);
  EXPECT_EQ(database_.number("SELECT count(*) FROM payment WHERE state = 'AUTHORIZED'"), 1);
  const auto retry = pay("k1");
  EXPECT_EQ(retry.status, 201);
  EXPECT_EQ(json::parse(retry.body).at("charge_id"), approval());
  EXPECT_EQ(retry.get_header_value("Idempotent-Replayed"), "true") << "the fault is no part of the request";
  EXPECT_EQ(charges(), 1U);
}

TEST_F(PaymentsServe, AServerThatIsToldToDieAfterTheApprovalDoes) {
  serve();
  // What decides against it, or was decided, kills nobody.
  EXPECT_EQ(answer(pay_with_fault("declined", "kill-after-approval", body("1313"))).status, 402);
  EXPECT_EQ(pay("done").status, 201);
  EXPECT_EQ(answer(pay_with_fault("done", "kill-after-approval")).status, 201);

  expect_none(pay_with_fault("k1", "kill-after-approval"));
  EXPECT_EQ(server_->wait_at_most(60s).signal, SIGKILL);
  EXPECT_EQ(charges(), 3U);
  EXPECT_EQ(database_.number("SELECT count(*) FROM payment WHERE state = 'PENDING'"), 1);

  serve();
  expect_problem(pay("k1"), 409, "in-progress");
  database_.advance(lease + 1min);
  EXPECT_EQ(pay_until_decided("k1").status, 201);
  EXPECT_EQ(charges(), 3U);
}

TEST_F(PaymentsServe, AnUnknownFaultIsRefused) {
  serve();
  for (const char* unknown : {"drop", "Drop-Answer", "drop-answer, kill-after-approval", "none"}) {
    expect_problem(answer(pay_with_fault("k1", unknown)), 400, "request-refused");
  }
  expect_problem(post({{"Authorization", "Bearer demo-ann"},
                       {"Idempotency-Key", "k1"},
                       {"Demo-Fault", "drop-answer"},
                       {"Demo-Fault", "drop-answer"}},
                      body()),
                 400, "request-refused");
  EXPECT_EQ(charges(), 0U);
  EXPECT_EQ(database_.number("SELECT count(*) FROM idem_record"), 0);
}

TEST_F(PaymentsServe, TheStateIsThePrincipalsOwn) {
  serve();
  const auto made = pay("k1");
  EXPECT_EQ(post({{"Authorization", "Bearer demo-bob"}, {"Idempotency-Key", "bobs"}}, body("1313")).status,
            402);
  postgres_test::wait_until(database_, "SELECT EXISTS (SELECT FROM receipt)");
  const auto told = get("/demo/state", "ann");
  EXPECT_EQ(told.status, 200);
  EXPECT_EQ(told.get_header_value("Content-Type"), "application/json");
  EXPECT_EQ(told.get_header_value("Cache-Control"), "no-store");
  EXPECT_EQ(told.body.find("tok_secret"), std::string::npos);
  EXPECT_EQ(told.body.find("bob"), std::string::npos);
  const json state = json::parse(told.body);
  for (const char* list : {"records", "payments", "seats", "receipts", "charges"}) {
    ASSERT_EQ(state.at(list).size(), 1U) << list;
  }
  const json record = state["records"][0];
  EXPECT_EQ(record.at("key"), "k1");
  EXPECT_EQ(record.at("state"), "COMPLETED");
  EXPECT_EQ(record.at("taken_over"), false);
  EXPECT_EQ(record.at("fence"), record.at("generation"));
  const json payment = state["payments"][0];
  EXPECT_EQ(payment.at("payment_id"), payment_in(made));
  EXPECT_EQ(payment.at("state"), "AUTHORIZED");
  EXPECT_EQ(payment.at("amount_cents"), 1290);
  EXPECT_EQ(payment.at("charge_id"), json::parse(made.body).at("charge_id"));
  EXPECT_EQ(state["seats"][0], (json{{"offering_id", "cpp-20"}, {"payment_id", payment_in(made)}}));
  EXPECT_EQ(state["receipts"][0].at("payment_id"), payment_in(made));
  EXPECT_EQ(state["charges"][0].at("charge_id"), payment.at("charge_id"));
  EXPECT_EQ(state["charges"][0].at("reference"), payment_in(made));

  // A decline is a charge that was refused, and no seat.
  const json bobs = json::parse(get("/demo/state", "bob").body);
  EXPECT_EQ(bobs.at("records").at(0).at("state"), "FAILED");
  EXPECT_EQ(bobs.at("charges").at(0).at("outcome"), "declined");
  EXPECT_EQ(bobs.at("seats"), json::array());
  EXPECT_EQ(json::parse(get("/demo/state", "eve").body),
            json::parse(R"({"records":[],"payments":[],"seats":[],"receipts":[],"charges":[]})"));
  expect_problem(answer(client().Get("/demo/state")), 401, "unauthenticated");
}

TEST_F(PaymentsServe, TheStateHasNoTokenWhileAPaymentIsPending) {
  serve();
  acquirer_.control({{"mode", "late"}, {"delay_ms", 600'000}});
  auto first = std::async(std::launch::async, [this] { return pay("k1"); });
  wait_for_charges(1);
  const auto told = get("/demo/state", "ann");
  EXPECT_EQ(told.body.find("tok_secret"), std::string::npos);
  const json state = json::parse(told.body);
  EXPECT_EQ(state.at("payments").at(0).at("state"), "PENDING");
  EXPECT_EQ(state.at("payments").at(0).at("charge_id"), nullptr);
  EXPECT_EQ(state.at("records").at(0).at("state"), "IN_PROGRESS");
  EXPECT_EQ(state.at("records").at(0).at("lapsed"), false);
  const auto left = state.at("records").at(0).at("lease_left_ms").get<long long>();
  EXPECT_GT(left, 0);
  EXPECT_LE(left, std::chrono::milliseconds{lease}.count());
  EXPECT_EQ(state.at("charges").size(), 1U);
  (void)acquirer_.kill();
  expect_problem(first.get(), 409, "in-progress");
  EXPECT_EQ(json::parse(get("/demo/state", "ann").body).at("charges"), nullptr) << "nobody can tell";
}

TEST_F(PaymentsServe, ARedeliveredEventIsADuplicate) {
  serve();
  const std::string id = payment_in(pay("k1"));
  postgres_test::wait_until(database_, "SELECT EXISTS (SELECT FROM receipt)");
  for (int i = 0; i < 2; ++i) {
    const auto told = answer(redeliver(id, "ann"));
    EXPECT_EQ(told.status, 200);
    EXPECT_EQ(told.body, R"({"delivery":"duplicate"})");
  }
  EXPECT_EQ(database_.number("SELECT count(*) FROM seat"), 1);
  EXPECT_EQ(database_.number("SELECT count(*) FROM receipt"), 1);

  EXPECT_EQ(answer(redeliver(id, "bob")).status, 404);
  EXPECT_EQ(answer(redeliver("x", "ann")).status, 404);
  expect_problem(answer(client().Post("/demo/payments/" + id + "/redeliveries")), 401, "unauthenticated");
  EXPECT_EQ(pay("k2", body("1313")).status, 402);
  const auto connection = database_.connect();
  const auto declined = pqxx::work{*connection}
                            .exec("SELECT payment_id FROM payment WHERE state = 'DECLINED'")[0][0]
                            .as<std::string>();
  EXPECT_EQ(answer(redeliver(declined, "ann")).status, 409) << "it has no such event";
}

TEST_F(PaymentsServe, ConnectionsThatDiedAreReplaced) {
  serve();
  // Several, so that the sweep cannot have found the only one.
  constexpr std::size_t number = 4;
  std::vector<std::future<httplib::Response>> paying;
  {
    const auto connection = database_.connect();
    pqxx::work holding{*connection};
    holding.exec(std::string{"LOCK TABLE payment IN EXCLUSIVE MODE"});
    for (std::size_t i = 0; i < number; ++i) {
      paying.push_back(std::async(std::launch::async, [this, i] { return pay("k" + std::to_string(i)); }));
    }
    postgres_test::wait_until(database_, "SELECT (SELECT count(*)" + its_sessions() +
                                             " AND wait_event_type = 'Lock') = " + std::to_string(number));
  }
  std::vector<std::string> payments;
  for (auto& paid : paying) payments.push_back(paid.get().get_header_value("Location"));
  database_.execute("CREATE TABLE ended AS SELECT pid, pg_terminate_backend(pid)" + its_sessions());
  EXPECT_GE(database_.number("SELECT count(*) FROM ended"), static_cast<long long>(number));
  postgres_test::wait_until(
      database_, "SELECT NOT EXISTS (SELECT" + its_sessions() + " AND pid IN (SELECT pid FROM ended))");
  // Its transaction is tried once, so it has to be given a connection that lives; a payment's is tried again.
  for (const std::string& payment : payments) EXPECT_EQ(get(payment, "ann").status, 200) << payment;
  EXPECT_EQ(pay("another").status, 201);
}

TEST_F(PaymentsServe, SignalsEndItWith0) {
  for (const int signal : {SIGTERM, SIGINT}) {
    serve();
    EXPECT_EQ(answer(client().Get("/healthz")).status, 200);
    EXPECT_EQ(answer(client().Get("/nowhere")).status, 404);
    server_->signal(signal);
    const Finished ended = server_->wait_at_most(60s);
    EXPECT_EQ(ended.status, 0);
    EXPECT_EQ(ended.err, "");
  }
}

TEST_F(PaymentsServe, APortIsOneServersAlone) {
  serve();
  const Finished second = run_program({PAYMENTS, "serve", "--listen", server_url_.substr(7), "--database-url",
                                       url(), "--acquirer", acquirer_.url()});
  EXPECT_EQ(second.status, 1);
  EXPECT_EQ(second.out, "");
  EXPECT_EQ(second.err, "payments: cannot listen on 127.0.0.1\n");
}

TEST_F(PaymentsServe, BadUsageExitsWith2) {
  const std::vector<std::vector<std::string>> bad{
      {"--listen", "127.0.0.1:0"},
      {"--listen", "127.0.0.1:0", "--database-url", url()},
      {"--listen", "127.0.0.1", "--database-url", url(), "--acquirer", acquirer_.url()},
      {"--listen", "127.0.0.1:0", "--database-url", url(), "--acquirer", acquirer_.url(), "--status-mismatch",
       "404"},
      {"--listen", "127.0.0.1:0", "--database-url", url(), "--acquirer", acquirer_.url(), "--status-mismatch",
       "x"}};
  for (auto words : bad) {
    words.insert(words.begin(), {PAYMENTS, "serve"});
    const Finished finished = run_program(words);
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  }
}

}  // namespace
}  // namespace idem::examples_test
