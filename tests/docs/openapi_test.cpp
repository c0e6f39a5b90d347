// The payments example's OpenAPI document, as far as it can be judged without a server. What the server answers is compared with
// it in tests/examples/payments_openapi_test.cpp.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>

#include "docs/openapi.hpp"
#include "idem/http/problem.hpp"
#include "idem/record/options.hpp"
#include "idem/request/key.hpp"

namespace idem::docs_test {
namespace {

std::string document() {
  std::ifstream file{IDEM_SOURCE_DIR "/examples/payments/openapi.yaml", std::ios::binary};
  if (!file) throw std::runtime_error{"there is no document"};
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(PaymentsOpenApi, ItNamesEachProblemOfTheBoundaryAndNoOther) {
  std::set<std::string> named;
  for (const auto& [operation, answers] : documented_answers(document())) {
    for (const auto& [status, answer] : answers) {
      EXPECT_EQ(answer.problems.empty(), answer.content_type != "application/problem+json")
          << operation << ' ' << status;
      named.insert(answer.problems.begin(), answer.problems.end());
    }
  }
  std::set<std::string> there{"about:blank"};
  using http::Problem;
  for (const Problem problem :
       {Problem::key_missing, Problem::key_refused, Problem::unauthenticated, Problem::request_refused,
        Problem::key_reused, Problem::in_progress, Problem::unavailable}) {
    there.insert(std::string{http::default_problem_types} + std::string{to_string(problem)});
  }
  // Neither can be here: an unknown payment has an answer of its own, and each body is kept.
  for (const Problem problem : {Problem::unknown, Problem::answer_withheld}) {
    EXPECT_FALSE(named.contains(std::string{http::default_problem_types} + std::string{to_string(problem)}));
  }
  EXPECT_EQ(named, there);
}

TEST(PaymentsOpenApi, ItTellsTheDefaultRetentionAndTheLengthOfAKey) {
  const std::string text = document();
  const auto hours = std::chrono::duration_cast<std::chrono::hours>(ReserveOptions{}.retention).count();
  EXPECT_NE(text.find("kept for " + std::to_string(hours) + " hours"), std::string::npos);
  EXPECT_NE(text.find("one key of 1 to " + std::to_string(max_key_part_bytes) + " bytes"), std::string::npos);
}

TEST(PaymentsOpenApi, ADocumentIsReadAsItIsWritten) {
  const DocumentedAnswers answers = documented_answers(R"(
paths:
  /a:
    post:
      description: >-
        responses:
          "999": no
      responses:
        "200":
          headers:
            X: {schema: {}}
            Y:
              $ref: "#/components/headers/Y"
          content:
            text/plain:
              schema: {type: string}
        "400":
          content:
            application/problem+json:
              schema:
                allOf:
                  - $ref: "#/components/schemas/P"
                  - properties:
                      type:
                        enum:
                          - u:a
                          - u:b
components:
  headers:
    Y:
      required: true
  schemas:
    P:
      properties:
        type:
          const: u:c
)");
  ASSERT_EQ(answers.size(), 1U);
  const auto& of_a = answers.at("POST /a");
  ASSERT_EQ(of_a.size(), 2U);
  EXPECT_EQ(of_a.at(200).content_type, "text/plain");
  EXPECT_EQ(of_a.at(200).headers, std::set<std::string>{"Y"});
  EXPECT_EQ(of_a.at(200).optional_headers, std::set<std::string>{"X"});
  EXPECT_EQ(of_a.at(400).problems, (std::set<std::string>{"u:a", "u:b", "u:c"}));
  EXPECT_THROW(
      (void)documented_answers("paths:\n  /a:\n    $ref: \"#/components/no\"\ncomponents:\n  x: 1\n"),
      std::runtime_error);
}

}  // namespace
}  // namespace idem::docs_test
