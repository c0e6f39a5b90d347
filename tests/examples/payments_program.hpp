// The payments program on a database of its own.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/program.hpp"
#include "postgres/test_database.hpp"

namespace idem::examples_test {

class PaymentsProgram : public ::testing::Test {
 protected:
  // Empty, so that the program has to install everything.
  PaymentsProgram() {
    database_.execute("SET LOCAL client_min_messages = warning; DROP SCHEMA \"" + database_.schema() +
                      "\" CASCADE; CREATE SCHEMA \"" + database_.schema() + "\"");
  }

  [[nodiscard]] std::string url() const { return database_.url(); }

  /// The words of a run over that file.
  [[nodiscard]] std::vector<std::string> run_of(const TemporaryFile& requests,
                                                const std::vector<std::string>& options = {}) const {
    std::vector<std::string> words{PAYMENTS, "run", "--database-url", url(), "--requests", requests.path()};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }

  [[nodiscard]] Finished run(const std::string& requests,
                             const std::vector<std::string>& options = {}) const {
    const TemporaryFile file{requests};
    return run_program(run_of(file, options));
  }

  // The answers of a run that ended well, the summary last.
  [[nodiscard]] std::vector<nlohmann::json> answers(const std::string& requests,
                                                    const std::vector<std::string>& options = {}) const {
    return lines_of(run(requests, options));
  }

  static std::vector<nlohmann::json> lines_of(const Finished& finished) {
    if (finished.status != 0) throw std::runtime_error{"the program failed: " + finished.err};
    EXPECT_EQ(finished.err, "");
    std::vector<nlohmann::json> lines;
    std::istringstream out{finished.out};
    for (std::string line; std::getline(out, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

  postgres_test::TestDatabase database_;
};

inline std::string request(const std::string& principal, const std::string& key, const std::string& amount,
                           const std::string& offering = "cpp-20", const std::string& redeliver_event = "") {
  return R"({"principal":")" + principal + R"(","key":")" + key + R"(",)" +
         (redeliver_event.empty() ? "" : R"("redeliver_event":)" + redeliver_event + ",") +
         R"("body":{"amount_cents":)" + amount + R"(,"currency":"EUR","offering_id":")" + offering +
         R"(","payment_method_token":"tok_secret"}})";
}

struct Expected {
  const char* outcome;
  int status;
  const char* redelivery = nullptr;
};

// Of all lines but the summary.
inline void expect(const std::vector<nlohmann::json>& answers, const std::vector<Expected>& lines) {
  ASSERT_EQ(answers.size(), lines.size() + 1);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    nlohmann::json answer = answers[i];
    EXPECT_TRUE(answer.at("body_sha256").get<std::string>().size() == 64) << answer;
    answer.erase("body_sha256");
    if (answer.contains("reason")) {
      EXPECT_EQ(answer.at("outcome"), "invalid");
      answer.erase("reason");
    }
    if (answer.contains("retry_after_ms")) {
      EXPECT_EQ(answer.at("outcome"), "in_progress");
      EXPECT_GT(answer.at("retry_after_ms").get<int>(), 0);
      answer.erase("retry_after_ms");
    }
    nlohmann::json right{{"line", i + 1}, {"outcome", lines[i].outcome}, {"status", lines[i].status}};
    if (lines[i].redelivery != nullptr) right["redelivery"] = lines[i].redelivery;
    EXPECT_EQ(answer, right);
  }
}

}  // namespace idem::examples_test
