#include "idem/http/client.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>

#include "idem/base/error.hpp"
#include "idem/response/response.hpp"

namespace idem::http {
namespace {

using namespace std::chrono_literals;

Advice after(const ReplyView& reply) {
  return ClientRule{}.after(reply);
}

// A problem of the boundary's under a status that somebody chose.
Advice after_problem(Problem problem, int status, std::string_view types = default_problem_types,
                     std::string_view content_type = "application/problem+json") {
  const Response response = problem_response(problem, {.status = status, .types = types});
  return ClientRule{}.after({.status = status, .content_type = content_type, .body = body_text(response)});
}

TEST(Intent, HasOneKeyForEachMint) {
  std::set<std::string> keys;
  for (int i = 0; i < 1000; ++i) keys.insert(Intent::mint("{}").key());
  EXPECT_EQ(keys.size(), 1000U);
}

TEST(Intent, ComesBackAsItWasSaved) {
  const std::string body{"{\"a\":\n\0 1}\n", 11};
  const Intent intent = Intent::mint(body);
  const Intent again = Intent::restore(intent.save());
  EXPECT_EQ(again.key(), intent.key());
  EXPECT_EQ(again.body(), body);
  EXPECT_EQ(again.header(), '"' + intent.key() + '"');
  EXPECT_EQ(intent.save(), "idem intent 1\n" + intent.key() + "\n" + body);
}

TEST(Intent, WhatIsNoneIsRefused) {
  const std::string saved = Intent::mint("x").save();
  for (const std::string& text :
       {std::string{}, std::string{"idem intent 1\n"}, saved.substr(1), saved.substr(0, 40),
        "idem intent 2" + saved.substr(13), std::string{"idem intent 1\nkey\nx"}}) {
    EXPECT_THROW((void)Intent::restore(text), InvalidArgument) << text;
  }
}

TEST(ClientRule, TheCommandsOwnAnswerIsTheEnd) {
  for (const int status : {200, 201, 202, 204, 402, 404, 410}) {
    EXPECT_EQ(after({.status = status}), Advice{Done{}}) << status;
  }
  EXPECT_EQ(after_problem(Problem::answer_withheld, 201), Advice{Done{.body_withheld = true}});
}

TEST(ClientRule, ComesBackWithTheSameIntentWhenTheServerSays) {
  for (const int status : {408, 409, 423, 425, 429, 500, 502, 503, 504}) {
    EXPECT_EQ(after({.status = status, .retry_after = "7"}), Advice{RetryAfter{7s}}) << status;
    EXPECT_TRUE(std::holds_alternative<RetryAfter>(after({.status = status}))) << status;
  }
  EXPECT_EQ(after({.status = 202, .retry_after = "1", .idempotency_key = "\"k\""}), Advice{RetryAfter{1s}});
  EXPECT_TRUE(std::holds_alternative<RetryAfter>(ClientRule{}.after_no_answer()));
}

TEST(ClientRule, StopsWhereItIsABug) {
  EXPECT_EQ(after({.status = 422}), Advice{Stop{Stop::Why::mismatch}});
  EXPECT_EQ(after({.status = 400}), Advice{Stop{Stop::Why::refused}});
  EXPECT_EQ(after({.status = 401}), Advice{Stop{Stop::Why::forbidden}});
  EXPECT_EQ(after({.status = 403}), Advice{Stop{Stop::Why::forbidden}});
  EXPECT_EQ(after({.status = 407}), Advice{Stop{Stop::Why::forbidden}});
  // A server or a proxy that did not take the request to the command has not answered for it.
  for (const int status : {405, 406, 411, 413, 414, 415, 416, 417, 421, 426, 431}) {
    EXPECT_EQ(after({.status = status}), Advice{Stop{Stop::Why::refused}}) << status;
  }
  EXPECT_EQ(after({.status = 302}), Advice{Stop{Stop::Why::unexpected}});
  EXPECT_EQ(after({.status = 0}), Advice{Stop{Stop::Why::unexpected}});
}

// Both may be 409, 400 or 202: the type tells them apart.
TEST(ClientRule, TheProblemsTypeCountsMoreThanTheStatus) {
  for (const std::string_view types :
       {default_problem_types, std::string_view{"https://pay.example/idempotency#"}}) {
    for (const int status : {202, 400, 409, 422, 423, 425, 503}) {
      EXPECT_TRUE(std::holds_alternative<RetryAfter>(after_problem(Problem::in_progress, status, types)));
      EXPECT_TRUE(std::holds_alternative<RetryAfter>(after_problem(Problem::unknown, status, types)));
      EXPECT_TRUE(std::holds_alternative<RetryAfter>(after_problem(Problem::unavailable, status, types)));
      EXPECT_EQ(after_problem(Problem::key_reused, status, types), Advice{Stop{Stop::Why::mismatch}});
      EXPECT_EQ(after_problem(Problem::key_refused, status, types), Advice{Stop{Stop::Why::refused}});
      EXPECT_EQ(after_problem(Problem::unauthenticated, status, types), Advice{Stop{Stop::Why::forbidden}});
    }
  }
  EXPECT_EQ(after_problem(Problem::key_reused, 409, default_problem_types,
                          "Application/Problem+JSON; charset=utf-8"),
            Advice{Stop{Stop::Why::mismatch}});
  // Somebody else's JSON.
  EXPECT_TRUE(std::holds_alternative<RetryAfter>(
      after_problem(Problem::key_reused, 409, default_problem_types, "application/json")));
}

// A decision of the service's own may have a type that ends as one of these: no boundary sends them so.
TEST(ClientRule, ATypeUnderAStatusThatItNeverHasIsSomebodyElses) {
  for (const int status : {402, 404, 410}) {
    EXPECT_EQ(after_problem(Problem::unavailable, status, "https://shop.example/problems/"), Advice{Done{}});
  }
  // "Nothing was done" is not known of these.
  for (const int status : {500, 502, 504}) {
    EXPECT_TRUE(std::holds_alternative<RetryAfter>(after_problem(Problem::request_refused, status)));
    EXPECT_TRUE(std::holds_alternative<RetryAfter>(after_problem(Problem::key_reused, status)));
  }
  for (const int status : {201, 402, 500}) {
    EXPECT_EQ(after_problem(Problem::answer_withheld, status), Advice{Done{.body_withheld = true}});
  }
}

// The first 409 may be somebody's request under way. What is replayed was decided.
TEST(ClientRule, WhatIsMarkedAsAReplayIsTheAnswer) {
  for (const int status : {201, 303, 400, 403, 409, 422, 423, 500, 503}) {
    EXPECT_EQ(after({.status = status, .replayed = true}), Advice{Done{}}) << status;
  }
  const Response withheld = problem_response(Problem::answer_withheld, {.status = 409});
  EXPECT_EQ(after({.status = 409,
                   .content_type = "application/problem+json",
                   .body = body_text(withheld),
                   .replayed = true}),
            Advice{Done{.body_withheld = true}});
}

// It may be a router's, who asked nobody, and an earlier try may have been carried out.
TEST(ClientRule, ARefusalThatIsNotTheFirstAnswerIsAskedForAgain) {
  for (const int status : {404, 410, 451}) {
    ClientRule rule;
    (void)rule.after_no_answer();
    EXPECT_TRUE(std::holds_alternative<RetryAfter>(rule.after({.status = status}))) << status;
    EXPECT_EQ(rule.after({.status = status}), Advice{Stop{Stop::Why::unexpected}}) << status;
    EXPECT_EQ(rule.after({.status = status, .replayed = true}), Advice{Done{}}) << status;
    ClientRule restored{{.restored = true}};
    EXPECT_TRUE(std::holds_alternative<RetryAfter>(restored.after({.status = status}))) << status;
    EXPECT_EQ(restored.after({.status = status, .replayed = true}), Advice{Done{}}) << status;
  }
  // Nobody but the service says these.
  for (const int status : {201, 402}) {
    ClientRule rule;
    (void)rule.after_no_answer();
    EXPECT_EQ(rule.after({.status = status}), Advice{Done{}}) << status;
  }
}

TEST(ClientRule, ABodyThatIsTooLargeForAProblemIsNotRead) {
  std::string body =
      R"({"type":"urn:idem:problem:in-progress","detail":")" + std::string(100'000, 'x') + "\"}";
  EXPECT_EQ(after({.status = 402, .content_type = "application/problem+json", .body = body}), Advice{Done{}});
}

TEST(ClientRule, ABodyThatIsNoProblemIsLeftToTheStatus) {
  for (const std::string& body : {std::string{"{"}, std::string{"[]"}, std::string{"{\"type\":1}"},
                                  std::string{"{\"type\":\"about:blank\"}"}, std::string{"\xff"}}) {
    EXPECT_EQ(after({.status = 402, .content_type = "application/problem+json", .body = body}),
              Advice{Done{}});
  }
}

TEST(ClientRule, PausesGrowUpToTheLongest) {
  ClientRule rule{{.max_tries = 100, .first_pause = 10ms, .longest_pause = 40ms}};
  std::chrono::milliseconds longest{0};
  for (int i = 0; i < 50; ++i) {
    const auto bound = i == 0 ? 10ms : i == 1 ? 20ms : 40ms;
    const auto delay = std::get<RetryAfter>(rule.after_no_answer()).delay;
    EXPECT_LE(delay, bound);
    longest = std::max(longest, delay);
  }
  // Of 0 to 40 each: that all of 48 are at most 10 has the probability (11/41)^48, some 10^-27.
  EXPECT_GT(longest, 10ms);
  EXPECT_EQ(rule.tries(), 50);
}

TEST(ClientRule, IsPatientWithinItsBounds) {
  ClientRule rule{{.max_tries = 2}};
  EXPECT_TRUE(std::holds_alternative<RetryAfter>(rule.after_no_answer()));
  EXPECT_EQ(rule.after_no_answer(), Advice{Stop{Stop::Why::exhausted}});
  EXPECT_EQ(rule.after({.status = 201}), Advice{Done{}}) << "what comes is believed all the same";
  EXPECT_EQ(after({.status = 503, .retry_after = "3601"}), Advice{Stop{Stop::Why::exhausted}});
  EXPECT_EQ(after({.status = 503, .retry_after = "3600"}), Advice{RetryAfter{1h}});
  EXPECT_EQ(after({.status = 503, .retry_after = "99999999999999999"}), Advice{Stop{Stop::Why::exhausted}});
  // More than 64 bits hold, which is no reason to come back at once.
  EXPECT_EQ(after({.status = 503, .retry_after = "99999999999999999999"}),
            Advice{Stop{Stop::Why::exhausted}});
  // Nobody sends ten tries at once.
  ClientRule patient{{.first_pause = 10ms, .longest_pause = 1h}};
  std::chrono::milliseconds longest{0};
  for (int i = 0; i < 9; ++i) {
    longest =
        std::max(longest, std::get<RetryAfter>(patient.after({.status = 503, .retry_after = "0"})).delay);
  }
  EXPECT_GT(longest, 0ms);
  EXPECT_LE(longest, 10ms);
  for (const char* unread : {"", "-1", "1.5", "soon", "Fri, 31 Dec 1999 23:59:59 GMT"}) {
    EXPECT_LE(std::get<RetryAfter>(after({.status = 503, .retry_after = unread})).delay, 500ms) << unread;
  }
  EXPECT_THROW(ClientRule{{.max_tries = 0}}, InvalidArgument);
  EXPECT_THROW((ClientRule{{.longest_retry_after = -1ms}}), InvalidArgument);
  EXPECT_THROW((ClientRule{{.first_pause = 2s, .longest_pause = 1s}}), InvalidArgument);
}

}  // namespace
}  // namespace idem::http
