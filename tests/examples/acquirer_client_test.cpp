// The payments service's view of the acquirer: a decision, or nothing known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "acquirer_client.hpp"
#include "examples/running_company.hpp"
#include "examples/tcp.hpp"

namespace idem::examples_test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using payments::AcquirerClient;
using payments::AcquirerUnknown;
using payments::Approved;
using payments::Charge;
using payments::Declined;
using ::testing::HasSubstr;
using ::testing::Not;

// For calls that are answered: only one that hangs meets it.
constexpr auto ample = 60s;

Charge order(std::int64_t amount_cents = 1290) {
  return {amount_cents, "EUR", "tok_secret", "order 1"};
}

json answer() {
  return {{"outcome", "approved"},
          {"charge_id", "ch_1"},
          {"key", "a"},
          {"amount_cents", 1290},
          {"currency", "EUR"},
          {"reference", "order 1"},
          {"at", "2026-01-31T23:59:59.000001Z"}};
}

std::string http(int status, const std::string& body) {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

// What the exception says; fails where there is none.
std::string unknown(const AcquirerClient& client, std::chrono::milliseconds deadline = ample,
                    const std::string& key = "a") {
  try {
    const auto decided = client.charge(key, order(), deadline);
    ADD_FAILURE() << (std::holds_alternative<Approved>(decided) ? "approved" : "declined");
    return "";
  } catch (const AcquirerUnknown& refused) {
    return refused.what();
  }
}

TEST(AcquirerClient, TellsTheDecisionAndAgainTheSame) {
  const RunningAcquirer acquirer;
  const AcquirerClient client{acquirer.url()};
  const auto approved = client.charge("a", order(), ample);
  const auto declined = client.charge("b", order(1213), ample);
  const json ledger = acquirer.ledger();
  ASSERT_EQ(ledger.size(), 2);
  EXPECT_EQ(std::get<Approved>(approved), (Approved{ledger[0].at("charge_id"), ledger[0].at("at")}));
  EXPECT_EQ(std::get<Declined>(declined), (Declined{ledger[1].at("charge_id"), ledger[1].at("at")}));
  EXPECT_EQ(client.charge("a", order(), ample), approved);
  EXPECT_EQ(client.charge("b", order(1213), ample), declined);
  EXPECT_EQ(acquirer.ledger(), ledger);
}

TEST(AcquirerClient, WhatIsNoDecisionIsUnknownAndTheSameKeyFindsOut) {
  const RunningAcquirer acquirer;
  const AcquirerClient client{acquirer.url()};
  acquirer.control({{"mode", "drop_answer"}, {"count", 1}});
  EXPECT_EQ(unknown(client), "the connection to the acquirer was lost");
  const auto approved = client.charge("a", order(), ample);
  EXPECT_EQ(std::get<Approved>(approved).charge_id,
            acquirer.ledger().at(0).at("charge_id").get<std::string>());
  EXPECT_EQ(acquirer.ledger().size(), 1);
  // The same key for another charge.
  EXPECT_THROW((void)client.charge("a", order(1291), ample), AcquirerUnknown);

  acquirer.control({{"mode", "timeout_after"}});
  EXPECT_EQ(unknown(client, 100ms, "b"), "the acquirer did not answer in time");
  EXPECT_EQ(unknown(client, 0ms, "c"), "the acquirer did not answer in time");
  EXPECT_EQ(unknown(client, -1ms, "c"), "the acquirer did not answer in time");
}

TEST(AcquirerClient, AnAcquirerThatIsDownIsUnknown) {
  RunningAcquirer acquirer;
  const AcquirerClient client{acquirer.url()};
  (void)acquirer.stop();
  EXPECT_EQ(unknown(client), "there is no connection to the acquirer");
  acquirer.restart();
  EXPECT_TRUE(std::holds_alternative<Approved>(client.charge("a", order(), ample)));
}

TEST(AcquirerClient, ManyThreadsShareOne) {
  constexpr int threads = 16;
  const RunningAcquirer acquirer;
  const AcquirerClient client{acquirer.url()};
  {
    std::vector<std::jthread> running;
    running.reserve(threads);
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&client, i] {
        for (int n = 0; n < 4; ++n) {
          const std::string key = std::to_string(i) + "-" + std::to_string(n / 2);
          EXPECT_TRUE(std::holds_alternative<Approved>(client.charge(key, order(), ample)));
        }
      });
    }
  }
  EXPECT_EQ(acquirer.ledger().size(), 2 * threads);
}

TEST(AcquirerClient, SendsTheKeyAndTheChargeOnce) {
  std::string request;
  const Listener listener{[&](const Connection& connection) {
    request = connection.receive_request();
    (void)connection.send(http(201, answer().dump()));
  }};
  EXPECT_EQ(std::get<Approved>(AcquirerClient{listener.url()}.charge("a", order(), ample)),
            (Approved{"ch_1", "2026-01-31T23:59:59.000001Z"}));
  EXPECT_EQ(listener.connections(), 1);
  EXPECT_TRUE(request.starts_with("POST /charges HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nIdempotency-Key: a\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nHost: " + listener.url().substr(7) + "\r\n"));
  EXPECT_EQ(json::parse(request.substr(request.find("\r\n\r\n"))),
            (json{{"amount_cents", 1290},
                  {"currency", "EUR"},
                  {"payment_method_token", "tok_secret"},
                  {"reference", "order 1"}}));
}

struct Wrong {
  const char* name;
  std::string bytes;
};

std::vector<Wrong> wrong_answers() {
  const auto other = [](const char* member, const json& value, int status = 201) {
    json changed = answer();
    changed[member] = value;
    return http(status, changed.dump());
  };
  const auto less = [](const char* member) {
    json changed = answer();
    changed.erase(member);
    return http(201, changed.dump());
  };
  const std::string good = http(201, answer().dump());
  return {
      {"nothing", ""},
      {"half a status line", "HTTP/1.1 20"},
      {"headers that end", "HTTP/1.1 201 Created\r\nContent-Type: app"},
      {"a body that ends", good.substr(0, good.size() - 1)},
      {"a body of unknown length that ends",
       "HTTP/1.1 201 X\r\nConnection: close\r\n\r\n" + answer().dump().substr(0, 50)},
      {"not HTTP", "tok_secret\r\n\r\n"},
      {"not JSON", http(201, "tok_secret")},
      {"no object", http(201, "[1]")},
      {"no body", http(201, "")},
      {"200", http(200, answer().dump())},
      {"204", "HTTP/1.1 204 X\r\n\r\n"},
      {"a redirect", "HTTP/1.1 307 X\r\nLocation: /charges\r\nContent-Length: 0\r\n\r\n"},
      {"400", http(400, R"({"error":"tok_secret"})")},
      {"401",
       "HTTP/1.1 401 X\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\nContent-Length: 0\r\n\r\n"},
      {"in progress", http(409, R"({"error":"in_progress"})")},
      {"500", http(500, answer().dump())},
      {"503", "HTTP/1.1 503 X\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"},
      {"201 and declined", other("outcome", "declined")},
      {"402 and approved", other("outcome", "approved", 402)},
      {"another outcome", other("outcome", "pending")},
      {"another key", other("key", "b")},
      {"another amount", other("amount_cents", 1291)},
      {"another currency", other("currency", "USD")},
      {"another reference", other("reference", "order 2")},
      {"an id that is no text", other("charge_id", 1)},
      {"an empty id", other("charge_id", "")},
      {"a NUL", other("charge_id", std::string(1, '\0'))},
      {"a long id", other("charge_id", std::string(256, 'c'))},
      {"no outcome", less("outcome")},
      {"no id", less("charge_id")},
      {"no key", less("key")},
      {"no amount", less("amount_cents")},
      {"no time", less("at")},
      {"a long body", other("more", std::string(100'000, 'x'))},
  };
}

TEST(AcquirerClient, WrongAnswersAreUnknownAskedOnceAndNotTold) {
  for (const Wrong& wrong : wrong_answers()) {
    SCOPED_TRACE(wrong.name);
    const Listener listener{[&](const Connection& connection) {
      (void)connection.receive_request();
      (void)connection.send(wrong.bytes);
    }};
    const std::string said = unknown(AcquirerClient{listener.url()});
    EXPECT_THAT(said, HasSubstr("acquirer"));
    EXPECT_THAT(said, Not(HasSubstr("tok_secret")));
    EXPECT_THAT(said, Not(HasSubstr("order")));
    EXPECT_EQ(listener.connections(), 1);
  }
}

TEST(AcquirerClient, AConnectionThatIsResetIsUnknownAndEndsNoProcess) {
  const Listener listener{[](const Connection& connection) { connection.reset_when_closed(); }};
  const AcquirerClient client{listener.url()};
  // Wherever the reset comes: before the headers, between them and the body, after it.
  for (int i = 0; i < 200; ++i) EXPECT_NE(unknown(client), "");
}

// A byte now and then meets no time-out of a single read. It comes to its end, so that a client without a
// deadline would take the answer in the end.
void drip(const Connection& connection, const std::string& before, const std::string& drop,
          const std::string& after) {
  (void)connection.receive_request();
  if (!connection.send(before)) return;
  for (int i = 0; i < 1000; ++i) {
    if (!connection.send(drop)) return;
    std::this_thread::sleep_for(10ms);
  }
  (void)connection.send(after);
}

TEST(AcquirerClient, TheDeadlineHoldsForAServerThatDrips) {
  const std::string body = answer().dump();
  const std::string length = std::to_string(body.size() + 1000);
  struct Case {
    const char* name;
    std::string before;
    std::string drop;
    std::string after;
  };
  for (const Case& slow : {
           Case{"status line", "HTTP/1.1 201 ", "x",
                "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body},
           Case{"headers", "HTTP/1.1 201 X\r\n", "A: b\r\n",
                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body},
           Case{"100", "", "HTTP/1.1 100 Continue\r\n\r\n", http(201, body)},
           Case{"body", "HTTP/1.1 201 X\r\nContent-Length: " + length + "\r\n\r\n", " ", body},
           Case{"chunks", "HTTP/1.1 201 X\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n", "0\r\n\r\n"},
       }) {
    SCOPED_TRACE(slow.name);
    const Listener listener{
        [&](const Connection& connection) { drip(connection, slow.before, slow.drop, slow.after); }};
    EXPECT_EQ(unknown(AcquirerClient{listener.url()}, 300ms), "the acquirer did not answer in time");
  }
}

TEST(AcquirerClient, RefusesWhatItCannotSend) {
  const Listener listener{[](const Connection&) {}};
  const AcquirerClient client{listener.url()};
  for (const std::string& key : {std::string{}, std::string{"a b"}, std::string{"a\r\nb"},
                                 std::string{"a%20b"}, std::string{"\xc3\xa4"}, std::string(256, 'k')}) {
    EXPECT_THROW((void)client.charge(key, order(), ample), std::invalid_argument) << key;
  }
  Charge charge = order();
  charge.payment_method_token = "tok_secret\xff";
  try {
    (void)client.charge("a", charge, ample);
    ADD_FAILURE();
  } catch (const std::invalid_argument& refused) {
    EXPECT_STREQ(refused.what(), "the charge is not UTF-8");
  }
  EXPECT_EQ(listener.connections(), 0);
}

TEST(AcquirerClient, RefusesOtherUrls) {
  for (const char* url : {"", "127.0.0.1:80", "https://127.0.0.1:443", "http://127.0.0.1",
                          "http://127.0.0.1:", "http://:80", "http://127.0.0.1:0", "http://127.0.0.1:65536",
                          "http://127.0.0.1:80/charges", "http://user@host:80", "http://127.0.0.1:8x"}) {
    EXPECT_THROW((void)AcquirerClient{url}, std::invalid_argument) << url;
  }
  (void)AcquirerClient{"http://localhost:80"};
  (void)AcquirerClient{"http://[::1]:80/"};
}

}  // namespace
}  // namespace idem::examples_test
