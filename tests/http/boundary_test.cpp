// The boundary over the in-memory backend: every row of its table.
#include "idem/http/boundary.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "idem/call/external_call.hpp"
#include "idem/command/transact.hpp"
#include "idem/memory/database.hpp"
#include "idem/memory/table.hpp"
#include "idem/response/card_guard.hpp"
#include "idem/testing/fake_clock.hpp"

namespace idem::http {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

std::optional<std::string> header(const Response& response, std::string_view name) {
  std::optional<std::string> found;
  for (const Header& each : response.headers) {
    if (each.name != name) continue;
    EXPECT_FALSE(found) << name << " is there twice";
    found = each.value;
  }
  return found;
}

class BoundaryTest : public ::testing::Test {
 protected:
  struct Sent {
    std::vector<std::string> keys{"\"k\""};
    std::string principal = "ann";
    std::string body = R"({"amount":1290})";
    std::string method = "POST";
    std::string query{};
    std::string content_type = "application/json";
  };

  // Counts each look into the database.
  auto begin() {
    return [this] {
      ++begun;
      return database.begin();
    };
  }

  // The service: one row for each run, and an answer that says which run made it.
  Response send(const Sent& sent) { return send(sent, boundary); }
  Response send(const Sent& sent, const Boundary& by) {
    const std::vector<std::string_view> keys{sent.keys.begin(), sent.keys.end()};
    const RequestView view{.method = sent.method,
                           .operation = "POST /payments",
                           .query = sent.query,
                           .content_type = sent.content_type,
                           .body = sent.body,
                           .idempotency_key = keys};
    return by.handle(sent.principal, view, [&](const Request& request, Answer& answer) {
      return transact(database, begin(), request, [&](memory::Transaction& tx, const Lease&) {
        ++runs;
        rows.put(tx, runs, 1);
        // Once: it may send a request itself.
        if (const auto once = std::exchange(in_handler, nullptr)) once(tx);
        Response response = text_response(status, body.value_or("run " + std::to_string(runs)));
        response.headers = {
            {"Content-Type", "text/plain"}, {"Set-Cookie", "s=1"}, {"Location", "/payments/1"}};
        return answer.decide(std::move(response));
      });
    });
  }
  std::size_t effects() {
    auto tx = database.begin();
    return rows.size(tx);
  }
  // The problem's name, status and headers are as they must be.
  static json expect_problem(const Response& response, Problem problem, int status) {
    EXPECT_EQ(response.status, status);
    EXPECT_EQ(header(response, "Content-Type"), "application/problem+json");
    json body = json::parse(body_text(response));
    EXPECT_EQ(body.at("type"), "urn:idem:problem:" + std::string{to_string(problem)});
    EXPECT_EQ(body.at("status"), status);
    EXPECT_NE(body.at("title"), "");
    EXPECT_NE(body.at("detail"), "");
    EXPECT_EQ(problem_of_type(body.at("type").get<std::string>()), problem);
    return body;
  }
  void expect_nothing_was_looked_up() {
    EXPECT_EQ(begun, 0);
    EXPECT_EQ(runs, 0);
  }

  std::shared_ptr<testing::FakeClock> clock = std::make_shared<testing::FakeClock>();
  memory::Database database{clock};
  memory::Table<int, int> rows{database};
  Boundary boundary;
  int begun = 0;
  int runs = 0;
  int status = 201;
  std::optional<std::string> body{};
  std::function<void(memory::Transaction&)> in_handler{};
};

TEST_F(BoundaryTest, TheFirstAnswerIsWholeAndReplayedByteForByte) {
  const Response first = send({});
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(body_text(first), "run 1");
  EXPECT_EQ(header(first, "Set-Cookie"), "s=1");
  EXPECT_EQ(header(first, "Idempotent-Replayed"), std::nullopt);

  const Response again = send({});
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.headers, (std::vector<Header>{{"Content-Type", "text/plain"},
                                                {"Location", "/payments/1"},
                                                {"Idempotent-Replayed", "true"}}));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(effects(), 1U);
}

TEST_F(BoundaryTest, BothFormsOfAKeyAreOneKey) {
  (void)send({});
  EXPECT_EQ(header(send({.keys = {"k"}}), "Idempotent-Replayed"), "true");
  EXPECT_EQ(runs, 1);
}

TEST_F(BoundaryTest, ADeclineIsStoredAndReplayedAsItself) {
  status = 402;
  const Response first = send({});
  status = 201;
  const Response again = send({});
  EXPECT_EQ(again.status, 402);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(effects(), 1U) << "a decline is a fact, and keeps its rows";
}

TEST_F(BoundaryTest, WhatHasNoKeyIsRefusedBeforeAnythingIsLookedUp) {
  expect_problem(send({.keys = {}}), Problem::key_missing, 400);
  for (const std::vector<std::string>& keys :
       std::vector<std::vector<std::string>>{{"a", "a"},
                                             {"\"a\"", "\"b\""},
                                             {""},
                                             {"\"\""},
                                             {std::string(256, 'k')},
                                             {"a b"},
                                             {std::string{"a\0", 2}}}) {
    expect_problem(send({.keys = keys}), Problem::key_refused, 400);
  }
  expect_problem(send({.principal = ""}), Problem::unauthenticated, 401);
  for (const char* unread : {"{", "{\"a\":1,\"a\":2}", "\xff", "{}{}"}) {
    expect_problem(send({.body = unread}), Problem::request_refused, 400);
  }
  expect_nothing_was_looked_up();
}

TEST_F(BoundaryTest, ARefusalTellsNothingOfTheRequest) {
  const std::string told = std::string{body_text(send({.body = "{\"card\":\"4242424242424242\","}))} +
                           std::string{body_text(send({.keys = {"4242424242424242 4242"}}))};
  EXPECT_EQ(told.find("4242"), std::string::npos) << told;
}

TEST_F(BoundaryTest, AnotherRequestUnderTheKeyIsAMismatch) {
  (void)send({});
  for (const Sent& other : {Sent{.body = R"({"amount":1291})"}, Sent{.method = "PUT"}, Sent{.query = "a=1"},
                            Sent{.content_type = "text/plain"}}) {
    expect_problem(send(other), Problem::key_reused, 422);
  }
  // Spelled in another way.
  EXPECT_EQ(
      send({.body = R"({ "amount" : 1.290e3 })", .content_type = "Application/JSON; charset=utf-8"}).status,
      201);
  EXPECT_EQ(send({.principal = "bob", .body = "{}"}).status, 201) << "another one's key is another key";
  EXPECT_EQ(runs, 2);
}

TEST_F(BoundaryTest, ADuplicateInFlightIsToldToComeBack) {
  std::optional<Response> duplicate;
  in_handler = [&](memory::Transaction&) { duplicate = send({}); };
  EXPECT_EQ(send({}).status, 201);
  ASSERT_TRUE(duplicate);
  expect_problem(*duplicate, Problem::in_progress, 409);
  EXPECT_EQ(header(*duplicate, "Retry-After"), "1");
  EXPECT_EQ(runs, 1);
}

TEST_F(BoundaryTest, StatusesAndTypesAreTheServicesChoice) {
  const Boundary other{{.in_progress_status = 425,
                        .mismatch_status = 409,
                        .problem_types = "https://pay.example/idempotency#",
                        .replayed = {"X-Replayed", "yes"}}};
  std::optional<Response> duplicate;
  in_handler = [&](memory::Transaction&) { duplicate = send({}, other); };
  (void)send({}, other);
  ASSERT_TRUE(duplicate);
  EXPECT_EQ(duplicate->status, 425);
  EXPECT_EQ(header(send({}, other), "X-Replayed"), "yes");
  const Response mismatch = send({.body = "{}"}, other);
  EXPECT_EQ(mismatch.status, 409);
  EXPECT_EQ(json::parse(body_text(mismatch)).at("type"), "https://pay.example/idempotency#key-reused");
}

TEST_F(BoundaryTest, AFailureThatIsNotStoredIsRolledBackAndRunAgain) {
  std::size_t done = 0;
  for (const int failure : {500, 503, 429}) {
    status = failure;
    const Sent sent{.keys = {std::to_string(failure)}};
    const Response first = send(sent);
    EXPECT_EQ(first.status, failure);
    EXPECT_EQ(header(first, "Set-Cookie"), "s=1");
    EXPECT_EQ(effects(), done);
    status = 201;
    EXPECT_EQ(send(sent).status, 201);
    EXPECT_EQ(effects(), ++done);
    EXPECT_EQ(header(send(sent), "Idempotent-Replayed"), "true");
  }
}

TEST_F(BoundaryTest, AFailureMayBeStoredWhereThatIsThePolicy) {
  const Boundary storing{{.store = {.server_error = Disposition::store}}};
  status = 500;
  const Response first = send({}, storing);
  status = 201;
  const Response again = send({}, storing);
  EXPECT_EQ(again.status, 500);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(runs, 1);
}

TEST_F(BoundaryTest, WhatTheHandlerThrowsIsTheCallersAndNothingIsStored) {
  in_handler = [](memory::Transaction&) { throw std::runtime_error{"a bug"}; };
  EXPECT_THROW((void)send({}), std::runtime_error);
  EXPECT_EQ(send({}).status, 201);
  EXPECT_EQ(effects(), 1U);
}

TEST_F(BoundaryTest, WhatCannotBeSettledNowIsUnavailable) {
  const std::vector<std::string_view> key{"k"};
  const Response response =
      boundary.handle("ann", {.operation = "op", .content_type = "text/plain", .idempotency_key = key},
                      [](const Request&) -> Outcome { throw CommitUnknown{"lost"}; });
  expect_problem(response, Problem::unavailable, 503);
  EXPECT_EQ(header(response, "Retry-After"), "1");
  EXPECT_THROW(
      (void)boundary.handle("ann", {.operation = "op", .content_type = "text/plain", .idempotency_key = key},
                            [](const Request&) -> Outcome { throw StoredDataError{"no tables"}; }),
      StoredDataError);
}

TEST_F(BoundaryTest, AnUnknownResultIsToldWithTheKey) {
  const std::vector<std::string_view> key{"a\\b"};
  const RequestView view{.operation = "op", .content_type = "text/plain", .idempotency_key = key};
  const Response without = boundary.handle("ann", view, [](const Request&) -> Outcome { return Unknown{}; });
  EXPECT_EQ(expect_problem(without, Problem::unknown, 503).at("idempotency_key"), "a\\b");
  EXPECT_EQ(header(without, "Idempotency-Key"), R"("a\\b")");
  EXPECT_EQ(header(without, "Retry-After"), "60");
  const Boundary accepting{{.unknown_status = 202, .unknown_retry_after = std::chrono::hours{1}}};
  const Response accepted =
      accepting.handle("ann", view, [](const Request&) -> Outcome { return Unknown{}; });
  EXPECT_EQ(accepted.status, 202);
  EXPECT_EQ(header(accepted, "Retry-After"), "3600");

  const Response told = boundary.handle("ann", view, [](const Request&) -> Outcome {
    return Unknown{text_response(202, "not known yet"), {}};
  });
  EXPECT_EQ(told.status, 202);
  EXPECT_EQ(body_text(told), "not known yet");
  EXPECT_EQ(header(told, "Idempotency-Key"), R"("a\\b")");
}

TEST_F(BoundaryTest, ARunWithoutAnAnswerIsSentTheOutcomesOwn) {
  const std::vector<std::string_view> key{"k"};
  Response response = text_response(201, "x");
  response.headers = {{"Set-Cookie", "s=1"}};
  const Response sent =
      boundary.handle("ann", {.operation = "op", .content_type = "text/plain", .idempotency_key = key},
                      [&](const Request& request) -> Outcome {
                        EXPECT_EQ(request.key, (Key{"ann", "op", "k"}));
                        return Executed{State::completed, response, {}};
                      });
  EXPECT_EQ(sent, response);
}

// What cannot be stored: the first caller gets it, a retry is told that it was done, and nothing runs twice.
TEST_F(BoundaryTest, AnAnswerThatWasNotKeptIsDoneAndNeverRunAgain) {
  memory::Database sparing{clock,
                           nullptr,
                           {.too_large = OnUnstorable::withhold_body,
                            .must_not_store = holds_card_data,
                            .found = OnUnstorable::withhold_body},
                           1000};
  for (const std::string& answer : {std::string(2000, 'x'), std::string{R"({"card":"4242 4242 4242 4242"})"},
                                    std::string{R"({"card":{"cvc":"123"}})"}}) {
    const std::string name = std::to_string(++runs);
    const std::vector<std::string_view> key{name};
    int executed = 0;
    const auto once = [&] {
      return boundary.handle(
          "ann", {.operation = "op", .content_type = "text/plain", .idempotency_key = key},
          [&](const Request& request, Answer& given) {
            return transact(
                sparing, [&] { return sparing.begin(); }, request,
                [&](memory::Transaction&, const Lease&) {
                  ++executed;
                  Response response = text_response(201, answer);
                  response.headers = {{"Content-Type", "application/json"}, {"Location", "/payments/1"}};
                  return given.decide(std::move(response));
                });
          });
    };
    EXPECT_EQ(body_text(once()), answer);
    const Response again = once();
    expect_problem(again, Problem::answer_withheld, 201);
    EXPECT_EQ(header(again, "Location"), "/payments/1");
    EXPECT_EQ(header(again, "Idempotent-Replayed"), "true");
    EXPECT_EQ(again.headers.size(), 3U) << "nothing of idem's own";
    EXPECT_EQ(executed, 1);
  }
}

TEST_F(BoundaryTest, WhereThatIsThePolicyCardDataFailsBeforeAnyEffect) {
  memory::Database strict{clock, nullptr, {.must_not_store = holds_card_data}};
  const std::vector<std::string_view> key{"k"};
  const auto pay = [&](const std::string& answer) {
    return boundary.handle(
        "ann", {.operation = "op", .content_type = "text/plain", .idempotency_key = key},
        [&](const Request& request, Answer& given) {
          return transact(
              strict, [&] { return strict.begin(); }, request,
              [&](memory::Transaction&, const Lease&) { return given.decide(text_response(201, answer)); });
        });
  };
  EXPECT_THROW((void)pay("4242424242424242"), InvalidArgument);
  EXPECT_EQ(strict.record_count(), 0U);
  EXPECT_EQ(pay("paid").status, 201);
}

// An outside call's answer is stored without decide(), headers of one message among the others.
TEST_F(BoundaryTest, HeadersThatWereStoredWithoutThePolicyAreNotReplayed) {
  const std::vector<std::string_view> key{"k"};
  const RequestView view{.operation = "op", .content_type = "text/plain", .idempotency_key = key};
  Response stored = text_response(201, "paid");
  stored.headers = {{"Content-Type", "text/plain"}, {"set-cookie", "s=1"},  {"Date", "now"},
                    {"Connection", "X-Hop, ETag"},  {"X-Hop", "1"},         {"ETag", "e"},
                    {"Location", "/payments/1"},    {"Keep-Alive", "max=1"}};
  const std::vector<Header> kept{{"Content-Type", "text/plain"}, {"Location", "/payments/1"}};
  const auto pay = [&] {
    return boundary.handle("ann", view, [&](const Request& request) {
      return transact(database, begin(), request,
                      [&](memory::Transaction&, const Lease&) { return completed(stored); });
    });
  };
  EXPECT_EQ(pay(), stored);
  std::vector<Header> right = kept;
  right.push_back({"Idempotent-Replayed", "true"});
  EXPECT_EQ(pay().headers, right);

  const Response unknown = boundary.handle("ann", view, [&](const Request&) -> Outcome {
    return Unknown{stored, {}};
  });
  right = kept;
  right.push_back({"Idempotency-Key", "\"k\""});
  right.push_back({"Retry-After", "60"});
  EXPECT_EQ(unknown.headers, right);
}

// The problem that stands in for a body is not encoded as the body was.
TEST_F(BoundaryTest, HeadersOfABodyThatWasNotKeptGoWithIt) {
  Response stored{201, {}, {}};
  stored.headers = {{"Content-Encoding", "gzip"},
                    {"content-language", "de"},
                    {"ETag", "e"},
                    {"Content-Location", "/1.json"},
                    {"Location", "/1"},
                    {"Last-Modified", "then"},
                    {"Link", "l"},
                    {"idem-withheld", "too-large"}};
  const std::vector<std::string_view> key{"k"};
  const auto replay = [&] {
    return boundary.handle("ann", {.operation = "op", .content_type = "text/plain", .idempotency_key = key},
                           [&](const Request&) -> Outcome {
                             return Replay{State::completed, stored, {}};
                           });
  };
  EXPECT_EQ(replay().headers, (std::vector<Header>{{"Content-Type", "application/problem+json"},
                                                   {"Location", "/1"},
                                                   {"Link", "l"},
                                                   {"Idempotent-Replayed", "true"}}));
  // These have no body, so that the next answer on the connection is not taken for one.
  for (const int bodiless : {204, 205, 304}) {
    stored = {bodiless, {{"Location", "/1"}, {"idem-withheld", "card-data"}}, {}};
    EXPECT_EQ(replay(), (Response{bodiless, {{"Location", "/1"}, {"Idempotent-Replayed", "true"}}, {}}));
  }
}

// "answer-withheld" would say that it is done.
TEST_F(BoundaryTest, AnUnknownWhoseAnswerWasNotKeptIsStillUnknown) {
  const std::vector<std::string_view> key{"k"};
  Response stored{202, {}, {}};
  stored.headers = {{"Content-Type", "application/json"}, {"idem-withheld", "card-data"}};
  const Response told =
      boundary.handle("ann", {.operation = "op", .content_type = "text/plain", .idempotency_key = key},
                      [&](const Request&) -> Outcome {
                        return Unknown{stored, {}};
                      });
  expect_problem(told, Problem::unknown, 503);
  EXPECT_EQ(header(told, "Idempotency-Key"), R"("k")");
}

// What is sent is what the transaction stored, not what an earlier try of it, or another branch, would have.
TEST_F(BoundaryTest, TheFirstCallerIsSentTheDecisionThatWasStored) {
  const std::vector<std::string_view> key{"k"};
  const auto answered_with = [&](const auto& decide) {
    const Response first =
        boundary.handle("ann", {.operation = "op", .content_type = "text/plain", .idempotency_key = key},
                        [&](const Request&, Answer& answer) -> Outcome {
                          Decision decision = decide(answer);
                          return Executed{decision.state(), std::move(decision).response(), {}};
                        });
    return std::string{body_text(first)} + " " + std::to_string(first.status);
  };
  EXPECT_EQ(answered_with([](Answer& answer) {
              (void)answer.decide(text_response(201, "rolled back"));
              return failed(text_response(402, "declined"));
            }),
            "declined 402");
  EXPECT_EQ(answered_with([](Answer& answer) {
              Decision first = answer.decide(text_response(201, "paid"));
              (void)answer.decide(text_response(402, "declined"));
              return first;
            }),
            "paid 201");
  EXPECT_EQ(answered_with([](Answer& answer) {
              try {
                (void)answer.decide(text_response(503, "not now"));
              } catch (const NotStored&) {
              }
              return completed(text_response(201, "paid"));
            }),
            "paid 201");
}

// 202 alone says that it was done.
TEST_F(BoundaryTest, WhatIsInProgressUnder202HasTheKey) {
  const Boundary accepting{{.in_progress_status = 202}};
  const std::vector<std::string_view> key{"k"};
  const Response told =
      accepting.handle("ann", {.operation = "op", .content_type = "text/plain", .idempotency_key = key},
                       [](const Request&) -> Outcome { return InProgress{1500ms}; });
  expect_problem(told, Problem::in_progress, 202);
  EXPECT_EQ(header(told, "Idempotency-Key"), "\"k\"");
  EXPECT_EQ(header(told, "Retry-After"), "2");
}

TEST_F(BoundaryTest, OptionsOutOfBoundsAreRefused) {
  EXPECT_THROW(Boundary{{.in_progress_status = 200}}, InvalidArgument);
  EXPECT_THROW(Boundary{{.mismatch_status = 500}}, InvalidArgument);
  EXPECT_THROW(Boundary{{.unknown_status = 200}}, InvalidArgument);
  EXPECT_THROW(Boundary{{.unknown_retry_after = std::chrono::seconds{0}}}, InvalidArgument);
  EXPECT_THROW((Boundary{{.key = {.max_bytes = 0}}}), InvalidArgument);
  EXPECT_THROW((Boundary{{.store = {.headers = {"Set-Cookie"}}}}), InvalidArgument);
  EXPECT_THROW((Boundary{{.fingerprint = {.include = {"no pointer"}}}}), InvalidArgument);
  status = 99;
  EXPECT_THROW((void)send({}), InvalidArgument);
}

}  // namespace
}  // namespace idem::http
