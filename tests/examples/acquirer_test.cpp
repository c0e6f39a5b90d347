// The example acquirer, over HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <latch>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "examples/program.hpp"
#include "examples/running_company.hpp"
#include "examples/tcp.hpp"

namespace idem::examples_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

struct Reply {
  int status = 0;  // 0 for none.
  std::string body;

  friend bool operator==(const Reply&, const Reply&) = default;
};

json body(int amount_cents = 1290) {
  return {{"amount_cents", amount_cents},
          {"currency", "EUR"},
          {"payment_method_token", "tok_secret"},
          {"reference", "order 1"}};
}

json with(const char* member, const json& value) {
  json changed = body();
  changed[member] = value;
  return changed;
}

json without(const char* member) {
  json changed = body();
  changed.erase(member);
  return changed;
}

const Reply in_progress{409, R"({"error":"in_progress"})"};
const Reply key_reused{409, R"({"error":"key_reused"})"};

// For programs that refuse to start: one that does start would stay.
Finished run_to_its_end(const std::vector<std::string>& words) {
  return Running{words}.wait_at_most(std::chrono::seconds{60});
}

class Acquirer : public ::testing::Test {
 protected:
  [[nodiscard]] Reply post(const std::string& path, const httplib::Headers& headers,
                           const std::string& text) const {
    httplib::Client client{acquirer_.url()};
    client.set_read_timeout(std::chrono::seconds{60});
    const httplib::Result result = client.Post(path, headers, text, "application/json");
    return result ? Reply{result->status, result->body} : Reply{};
  }

  [[nodiscard]] Reply charge(const std::string& key, const json& charge = body()) const {
    return post("/charges", {{"Idempotency-Key", key}}, charge.dump());
  }

  // Sends the whole request, and leaves the rest to the caller.
  [[nodiscard]] Connection send(const std::string& key) const {
    const std::string text = body().dump();
    Connection connection{acquirer_.url()};
    EXPECT_TRUE(connection.send("POST /charges HTTP/1.1\r\nHost: acquirer\r\nIdempotency-Key: " + key +
                                "\r\nContent-Type: application/json\r\nContent-Length: " +
                                std::to_string(text.size()) + "\r\n\r\n" + text));
    return connection;
  }

  // A charge that the acquirer makes by itself has no other sign than what the acquirer tells.
  static void wait_until(const std::function<bool()>& reached) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    while (!reached()) {
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error{"it does not happen"};
      std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
  }

  [[nodiscard]] std::size_t lines() const { return acquirer_.ledger().size(); }
  [[nodiscard]] bool approves() const { return acquirer_.control(json::object()).at("mode") == "approve"; }

  RunningAcquirer acquirer_;
};

TEST_F(Acquirer, ApprovesAndDeclinesTheAmountsThatEndIn13) {
  const Reply approved = charge("a", body(1290));
  const Reply declined = charge("b", body(1213));

  EXPECT_EQ(approved.status, 201);
  EXPECT_EQ(declined.status, 402);
  const json first = json::parse(approved.body);
  const json second = json::parse(declined.body);
  EXPECT_EQ(first.at("outcome"), "approved");
  EXPECT_EQ(first.at("key"), "a");
  EXPECT_EQ(first.at("amount_cents"), 1290);
  EXPECT_EQ(first.at("currency"), "EUR");
  EXPECT_EQ(first.at("reference"), "order 1");
  EXPECT_THAT(first.at("charge_id").get<std::string>(), ::testing::MatchesRegex("ch_[0-9a-f]+"));
  EXPECT_THAT(first.at("at").get<std::string>(),
              ::testing::MatchesRegex(R"(20..-..-..T..:..:..\.[0-9][0-9][0-9][0-9][0-9][0-9]Z)"));
  EXPECT_EQ(second.at("outcome"), "declined");
  EXPECT_NE(second.at("charge_id"), first.at("charge_id"));
  EXPECT_EQ(acquirer_.ledger(), (json{first, second}));
}

TEST_F(Acquirer, TheSameKeyAgainGetsTheSameBytes) {
  const Reply approved = charge("a", body(1290));
  const Reply declined = charge("b", body(1213));
  EXPECT_EQ(charge("a", body(1290)), approved);
  EXPECT_EQ(charge("b", body(1213)), declined);
  // Other bytes, the same parameters.
  EXPECT_EQ(post("/charges", {{"Idempotency-Key", "a"}},
                 R"({ "reference": "order 1", "other": 1, "payment_method_token": "tok_secret", )"
                 R"("currency": "EUR", "amount_cents": 1290 })"),
            approved);
  EXPECT_EQ(lines(), 2);
}

TEST_F(Acquirer, TheSameKeyWithOtherParametersIsRefused) {
  const Reply first = charge("a");
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(charge("a", with("amount_cents", 1291)), key_reused);
  EXPECT_EQ(charge("a", with("currency", "USD")), key_reused);
  EXPECT_EQ(charge("a", with("payment_method_token", "tok_2")), key_reused);
  EXPECT_EQ(charge("a", with("reference", "order 2")), key_reused);
  // The parts of one parameter count, not their sum.
  EXPECT_EQ(charge("a", {{"amount_cents", 1290},
                         {"currency", "EU"},
                         {"payment_method_token", "Rtok_secret"},
                         {"reference", "order 1"}}),
            key_reused);
  EXPECT_EQ(charge("a"), first);
  EXPECT_EQ(lines(), 1);
}

TEST_F(Acquirer, BadChargesAreRefusedAndChargeNothing) {
  const auto refused = [](const Reply& reply) {
    return reply.status == 400 && json::parse(reply.body).at("error").is_string() &&
           reply.body.find("tok_secret") == std::string::npos;
  };
  const std::string good = body().dump();
  EXPECT_TRUE(refused(post("/charges", {}, good)));
  EXPECT_TRUE(refused(post("/charges", {{"Idempotency-Key", "a"}, {"Idempotency-Key", "b"}}, good)));
  for (const std::string& key :
       {std::string{}, std::string{"a b"}, std::string{"\xc3\xa4"}, std::string(256, 'k')}) {
    EXPECT_TRUE(refused(post("/charges", {{"Idempotency-Key", key}}, good))) << key;
  }
  for (const std::string& text : {std::string{}, std::string{"tok_secret"}, std::string{"[]"}, good + "}",
                                  good.substr(1), std::string{"{\"reference\":\"\xff\"}"}}) {
    EXPECT_TRUE(refused(post("/charges", {{"Idempotency-Key", "a"}}, text))) << text;
  }
  for (const json& wrong :
       {without("amount_cents"), without("currency"), without("payment_method_token"), without("reference"),
        with("amount_cents", 0), with("amount_cents", -1), with("amount_cents", 12.9),
        with("amount_cents", "1290"), with("amount_cents", 9223372036854775808U), with("currency", ""),
        with("currency", nullptr), with("payment_method_token", 1), with("payment_method_token", ""),
        with("reference", json::array()), with("reference", std::string(256, 'r'))}) {
    EXPECT_TRUE(refused(charge("a", wrong))) << wrong;
  }
  EXPECT_EQ(acquirer_.ledger(), json::array());
  EXPECT_EQ(charge("a", with("amount_cents", 9223372036854775807)).status, 201);
}

TEST_F(Acquirer, TellsInJsonWhatItDoesNotKnow) {
  const Reply reply = post("/refunds", {}, "{}");
  EXPECT_EQ(reply.status, 404);
  EXPECT_TRUE(json::parse(reply.body).contains("error"));
}

TEST_F(Acquirer, OfManyAtOnceOneCharges) {
  constexpr int threads = 32;
  std::vector<Reply> replies(threads);
  {
    std::latch start{threads};
    std::vector<std::jthread> running;
    running.reserve(threads);
    for (Reply& reply : replies) {
      running.emplace_back([&] {
        start.arrive_and_wait();
        reply = charge("a");
      });
    }
  }
  const Reply answer = charge("a");
  EXPECT_EQ(answer.status, 201);
  EXPECT_THAT(replies, ::testing::Each(::testing::AnyOf(answer, in_progress)));
  EXPECT_EQ(lines(), 1);
}

TEST_F(Acquirer, ALateKeyIsInProgressUntilItsAnswer) {
  acquirer_.control({{"mode", "late"}, {"delay_ms", 1'000'000'000}, {"count", 1}});
  const Connection first = send("a");
  wait_until([&] { return lines() == 1; });
  EXPECT_EQ(charge("a"), in_progress);
  EXPECT_EQ(charge("a", body(1291)), key_reused);
  EXPECT_TRUE(first.silent());

  acquirer_.control({{"mode", "late"}, {"delay_ms", 1}});
  const Reply late = charge("b");
  EXPECT_EQ(late.status, 201);
  EXPECT_EQ(charge("b"), late);
  EXPECT_EQ(lines(), 2);
}

TEST_F(Acquirer, ALateEffectComesAlthoughTheClientHasLeft) {
  acquirer_.control({{"mode", "late"}, {"effect_after_ms", 200}, {"count", 1}});
  { const Connection gone = send("a"); }
  wait_until([&] { return lines() == 1; });
  wait_until([&] { return charge("a") != in_progress; });
  EXPECT_EQ(charge("a").status, 201);
  EXPECT_EQ(lines(), 1);

  acquirer_.control({{"mode", "late"}, {"effect_after_ms", 1'000'000'000}, {"count", 1}});
  const Connection waits = send("b");
  wait_until([&] { return approves(); });
  EXPECT_EQ(charge("b"), in_progress);
  EXPECT_EQ(lines(), 1);
}

TEST_F(Acquirer, TimeoutBeforeIsARequestThatNeverCame) {
  acquirer_.control({{"mode", "timeout_before"}, {"count", 1}});
  const Connection first = send("a");
  wait_until([&] { return approves(); });
  EXPECT_EQ(acquirer_.ledger(), json::array());
  EXPECT_TRUE(first.silent());
  EXPECT_EQ(charge("a").status, 201);
  EXPECT_EQ(lines(), 1);
  // Also a client that would still read gets nothing.
  first.end_sending();
  EXPECT_EQ(first.receive_all(), "");
}

TEST_F(Acquirer, AfterTimeoutAfterTheSameKeyGetsTheOriginalApproval) {
  acquirer_.control({{"mode", "timeout_after"}});
  const Connection first = send("a");
  wait_until([&] { return lines() == 1; });
  EXPECT_TRUE(first.silent());
  // Without an end to the mode: a key that is known is answered in every mode.
  const Reply again = charge("a");
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(json::array({json::parse(again.body)}), acquirer_.ledger());
  EXPECT_EQ(charge("a"), again);
  first.end_sending();
  EXPECT_EQ(first.receive_all(), "");
}

TEST_F(Acquirer, ADroppedAnswerIsCutAndTheChargeIsMade) {
  acquirer_.control({{"mode", "drop_answer"}, {"count", 2}});
  const Connection first = send("a");
  const std::string cut = first.receive_all();
  EXPECT_THAT(cut, HasSubstr(" 201 "));
  EXPECT_FALSE(cut.ends_with('}'));
  EXPECT_EQ(charge("b", body(1213)).status, 0);
  const json ledger = acquirer_.ledger();
  ASSERT_EQ(ledger.size(), 2);
  const Reply approved = charge("a");
  const Reply declined = charge("b", body(1213));
  EXPECT_EQ(approved.status, 201);
  EXPECT_EQ(declined.status, 402);
  EXPECT_EQ(ledger, (json{json::parse(approved.body), json::parse(declined.body)}));
  EXPECT_EQ(acquirer_.ledger(), ledger);
}

TEST_F(Acquirer, AModeEndsAfterItsCountAndDuplicatesDoNotCount) {
  EXPECT_EQ(acquirer_.control({{"mode", "decline"}, {"count", 2}}).at("count"), 2);
  const Reply first = charge("a");
  EXPECT_EQ(first.status, 402);
  EXPECT_EQ(charge("a"), first);
  EXPECT_EQ(charge("a", body(1)), key_reused);
  EXPECT_EQ(charge("b").status, 402);
  EXPECT_EQ(charge("c").status, 201);
  EXPECT_EQ(charge("a"), first);

  acquirer_.control({{"mode", "decline"}});
  for (const char* key : {"d", "e", "f"}) EXPECT_EQ(charge(key).status, 402);
  acquirer_.control({{"mode", "approve"}});
  EXPECT_EQ(charge("g").status, 201);
}

TEST_F(Acquirer, WithoutDeduplicationEveryRequestCharges) {
  acquirer_.control({{"deduplicate", false}});
  const Reply first = charge("a");
  const Reply second = charge("a");
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(second.status, 201);
  EXPECT_NE(first, second);
  EXPECT_EQ(charge("a", body(1213)).status, 402);
  const Reply last = charge("a");
  EXPECT_EQ(lines(), 4);

  acquirer_.control({{"deduplicate", true}});
  EXPECT_EQ(charge("a"), last);
  EXPECT_EQ(lines(), 4);
}

TEST_F(Acquirer, NoKeyIsChargedTwiceOnceItDeduplicates) {
  (void)acquirer_.control(
      {{"mode", "late"}, {"effect_after_ms", 2000}, {"count", 1}, {"deduplicate", false}});
  std::thread first{[&] { EXPECT_EQ(charge("k").status, 201); }};
  wait_until([&] { return approves(); });
  (void)acquirer_.control({{"deduplicate", true}});
  EXPECT_EQ(charge("k").status, 409);
  first.join();
  EXPECT_EQ(charge("k").status, 201);
  EXPECT_EQ(lines(), 1U);
}

// 16 MiB, of which 64 KiB are allowed: the library's own limit is for Content-Length alone.
TEST_F(Acquirer, AChunkedBodyBeyondTheLimitIsRefusedAsAnyOther) {
  const Connection connection{acquirer_.url()};
  ASSERT_TRUE(
      connection.send("POST /charges HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nConnection: close\r\n"
                      "Transfer-Encoding: chunked\r\n\r\n"));
  const std::string chunk = "10000\r\n" + std::string(65536, 'a') + "\r\n";
  for (int i = 0; i < 256 && connection.send(chunk); ++i) {
  }
  (void)connection.send("0\r\n\r\n");
  EXPECT_TRUE(connection.receive_all().starts_with("HTTP/1.1 413"));
}

TEST_F(Acquirer, AKeyIsForgottenAfterItsWindow) {
  const Reply first = charge("a");
  acquirer_.control({{"window_seconds", 1'000'000}});
  EXPECT_EQ(charge("a"), first);
  EXPECT_EQ(lines(), 1);

  acquirer_.control({{"window_seconds", 1}});
  wait_until([&] { return charge("a") != first; });
  EXPECT_EQ(lines(), 2);

  acquirer_.control({{"window_seconds", 0}});
  const Reply third = charge("a", body(1300));
  EXPECT_EQ(third.status, 201);
  EXPECT_EQ(lines(), 3);

  acquirer_.control({{"window_seconds", nullptr}});
  EXPECT_EQ(charge("a", body(1300)), third);
  EXPECT_EQ(charge("a"), key_reused);
  EXPECT_EQ(lines(), 3);
}

TEST_F(Acquirer, ABadControlIsRefusedAndChangesNothing) {
  const json before = acquirer_.control({{"mode", "decline"}, {"count", 3}});
  for (const char* control :
       {"", "x", "[]", R"({"mode":"off"})", R"({"mode":1})", R"({"count":0})", R"({"count":-1})",
        R"({"count":1.5})", R"({"count":"1"})", R"({"deduplicate":1})", R"({"window_seconds":-1})",
        R"({"window_seconds":"1"})", R"({"delay_ms":5})", R"({"effect_after_ms":5})",
        R"({"mode":"approve","delay_ms":5})", R"({"mode":"late","delay_ms":-1})",
        R"({"mode":"approve","speed":1})", R"({"deduplicate":false,"window_seconds":99999999999})"}) {
    const Reply reply = post("/control", {}, control);
    EXPECT_EQ(reply.status, 400) << control;
    EXPECT_TRUE(json::parse(reply.body).contains("error")) << control;
  }
  EXPECT_EQ(acquirer_.control(json::object()), before);
  EXPECT_EQ(acquirer_.control({{"mode", "late"}}).at("delay_ms"), 1000);
}

TEST_F(Acquirer, RequestsThatHangBlockNeitherOthersNorItsEnd) {
  constexpr int hanging = 64;
  acquirer_.control({{"mode", "timeout_before"}, {"count", hanging}});
  std::vector<Connection> connections;
  for (int i = 0; i < hanging; ++i) connections.push_back(send("hangs-" + std::to_string(i)));
  wait_until([&] { return approves(); });
  EXPECT_EQ(charge("a").status, 201);
  EXPECT_EQ(lines(), 1);
  acquirer_.control({{"mode", "late"}, {"delay_ms", 1'000'000'000}});
  connections.push_back(send("late"));
  wait_until([&] { return lines() == 2; });

  const Finished finished = acquirer_.stop(SIGTERM);
  EXPECT_EQ(finished.status, 0);
  EXPECT_EQ(finished.err, "");
}

TEST_F(Acquirer, ClientsThatGaveUpHoldNoThread) {
  acquirer_.control({{"mode", "timeout_before"}, {"count", 600}});
  for (int i = 0; i < 600; ++i) (void)send("gone-" + std::to_string(i));
  // More than it has threads: all of them are served only because the earlier ones came free.
  wait_until([&] { return approves(); });
  EXPECT_EQ(charge("a").status, 201);
}

TEST_F(Acquirer, EndsOnSigint) {
  EXPECT_EQ(acquirer_.stop(SIGINT).status, 0);
}

TEST_F(Acquirer, RemembersOverAKillWhatItAnswered) {
  const Reply approved = charge("a");
  const Reply declined = charge("b", body(1213));
  acquirer_.control({{"mode", "timeout_after"}});
  const Connection unanswered = send("c");
  wait_until([&] { return lines() == 3; });
  const json ledger = acquirer_.ledger();

  EXPECT_EQ(acquirer_.kill().status, -1);
  acquirer_.restart();
  EXPECT_EQ(acquirer_.ledger(), ledger);
  EXPECT_EQ(charge("a"), approved);
  EXPECT_EQ(charge("b", body(1213)), declined);
  EXPECT_EQ(json::parse(charge("c").body), ledger.at(2));
  EXPECT_EQ(charge("a", with("payment_method_token", "tok_2")), key_reused);
  EXPECT_EQ(lines(), 3);
}

TEST_F(Acquirer, DropsTheTornLastLineOfAKilledOne) {
  const Reply first = charge("a");
  const Reply second = charge("b");
  (void)acquirer_.kill();
  {
    std::ofstream file{acquirer_.ledger_file(), std::ios::app};
    file << R"({"amount_cents":12)";
  }
  acquirer_.restart();
  EXPECT_EQ(lines(), 2);
  const Reply third = charge("c");

  EXPECT_EQ(acquirer_.stop().status, 0);
  acquirer_.restart();
  EXPECT_EQ(lines(), 3);
  EXPECT_EQ(charge("a"), first);
  EXPECT_EQ(charge("b"), second);
  EXPECT_EQ(charge("c"), third);
}

TEST_F(Acquirer, TheTokenIsNowhere) {
  const Reply answer = charge("a");
  EXPECT_THAT(answer.body, Not(HasSubstr("tok_secret")));
  EXPECT_THAT(charge("a", body(1)).body, Not(HasSubstr("tok_secret")));
  EXPECT_THAT(acquirer_.ledger().dump(), Not(HasSubstr("tok_secret")));
  const Finished finished = acquirer_.stop();
  EXPECT_THAT(finished.out + finished.err, Not(HasSubstr("tok_secret")));
  std::ifstream file{acquirer_.ledger_file()};
  const std::string content{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_THAT(content, HasSubstr("order 1"));
  EXPECT_THAT(content, Not(HasSubstr("tok_secret")));
}

TEST_F(Acquirer, TwoShareNeitherLedgerNorPort) {
  const Finished ledger =
      run_to_its_end({ACQUIRER, "--listen", "127.0.0.1:0", "--ledger", acquirer_.ledger_file()});
  EXPECT_EQ(ledger.status, 1);
  EXPECT_THAT(ledger.err, HasSubstr("another acquirer has "));
  const TemporaryFile other{""};
  const Finished port =
      run_to_its_end({ACQUIRER, "--listen", acquirer_.url().substr(std::string{"http://"}.size()), "--ledger",
                      other.path()});
  EXPECT_EQ(port.status, 1);
  EXPECT_THAT(port.err, HasSubstr("cannot listen"));
}

TEST(AcquirerProgram, RefusesALedgerThatIsNone) {
  for (const char* content : {"{}\n", "\n", "{\"key\":\"a\"}\n{", "charges\n"}) {
    const TemporaryFile ledger{content};
    const Finished finished =
        run_to_its_end({ACQUIRER, "--listen", "127.0.0.1:0", "--ledger", ledger.path()});
    EXPECT_EQ(finished.status, 1) << content;
    EXPECT_THAT(finished.err, HasSubstr("line 1 of ")) << content;
    EXPECT_EQ(ledger.content(), content);
  }
}

TEST(AcquirerProgram, RefusesBadUsage) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{},
        {"--listen", "127.0.0.1:0"},
        {"--ledger", "x"},
        {"--listen", "127.0.0.1", "--ledger", "x"},
        {"--listen", ":0", "--ledger", "x"},
        {"--listen", "127.0.0.1:65536", "--ledger", "x"},
        {"--listen", "127.0.0.1:", "--ledger", "x"},
        {"--listen", "127.0.0.1:0", "--ledger"},
        {"--listen", "127.0.0.1:0", "--ledger", ""},
        {"--listen", "127.0.0.1:0", "--ledger", "x", "--ledger", "y"}}) {
    std::vector<std::string> all{ACQUIRER};
    all.insert(all.end(), words.begin(), words.end());
    const Finished finished = run_to_its_end(all);
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.err, "acquirer: usage: acquirer --listen HOST:PORT --ledger FILE\n");
    EXPECT_EQ(finished.out, "");
  }
}

}  // namespace
}  // namespace idem::examples_test
