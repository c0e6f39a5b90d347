// Each answer of `payments serve` that its OpenAPI document tells of, made to happen, and compared with what it says.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

#include "docs/openapi.hpp"
#include "examples/payments_server.hpp"
#include "examples/tcp.hpp"

namespace idem::examples_test {
namespace {

using nlohmann::json;

// Operation, status and the problem's type; no type where it is no problem.
using Told = std::set<std::tuple<std::string, int, std::string>>;

docs_test::DocumentedAnswers documented() {
  std::ifstream file{PAYMENTS_OPENAPI, std::ios::binary};
  if (!file) throw std::runtime_error{"there is no document"};
  return docs_test::documented_answers({std::istreambuf_iterator<char>{file}, {}});
}

Told all_of(const docs_test::DocumentedAnswers& document) {
  Told all;
  for (const auto& [operation, answers] : document) {
    for (const auto& [status, answer] : answers) {
      if (answer.problems.empty()) all.emplace(operation, status, "");
      for (const std::string& problem : answer.problems) all.emplace(operation, status, problem);
    }
  }
  return all;
}

class PaymentsOpenApi : public PaymentsServer {
 protected:
  // Those that the document speaks of anywhere.
  static constexpr std::array told_headers{"Location", "Retry-After", "Idempotency-Key",
                                           "Idempotent-Replayed"};

  void see(const std::string& operation, const httplib::Response& told) {
    SCOPED_TRACE(operation + ' ' + std::to_string(told.status) + ' ' + told.body);
    std::string problem;
    if (told.get_header_value("Content-Type") == "application/problem+json") {
      const json body = json::parse(told.body);
      problem = body.at("type").get<std::string>();
      EXPECT_EQ(body.at("status"), told.status);
    }
    seen_.emplace(operation, told.status, problem);
    const auto& answers = document_.at(operation);
    const auto found = answers.find(told.status);
    if (found == answers.end()) return;  // The sets will differ.
    const docs_test::DocumentedAnswer& answer = found->second;
    EXPECT_EQ(told.get_header_value("Content-Type"), answer.content_type);
    for (const std::string header : told_headers) {
      if (answer.headers.contains(header)) {
        EXPECT_TRUE(told.has_header(header)) << header;
      } else if (!answer.optional_headers.contains(header)) {
        EXPECT_FALSE(told.has_header(header)) << header;
      }
    }
  }
  void see_payment(const httplib::Response& told) { see("POST /payments", told); }
  void see_shown(const httplib::Response& told) { see("GET /payments/{id}", told); }

  docs_test::DocumentedAnswers document_ = documented();
  Told seen_;
};

TEST_F(PaymentsOpenApi, EachAnswerIsInTheDocumentAndTheReverse) {
  const std::pair<const char*, const char*> ann{"Authorization", "Bearer demo-ann"};
  serve();
  const auto first = pay("k1");
  see_payment(first);
  see_payment(pay("k1"));
  see_payment(pay("k2", body("1313")));
  see_payment(pay("k2", body("1313")));
  see_payment(pay("k1", body("1291")));
  see_payment(post({ann}, body()));
  see_payment(pay("k1, k2"));
  see_payment(pay("k3", "{}"));
  see_payment(pay("k3", std::string(70'000, ' ')));
  see_payment(post({{"Idempotency-Key", "k3"}}, body()));
  see_shown(get(first.get_header_value("Location"), "ann"));
  see_shown(get(first.get_header_value("Location"), "bob"));
  see_shown(answer(client().Get(first.get_header_value("Location"))));
  see("GET /healthz", answer(client().Get("/healthz")));

  // A body that does not come whole.
  const Connection broken{server_url_};
  ASSERT_TRUE(
      broken.send("POST /payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer demo-ann\r\n"
                  "Idempotency-Key: k3\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n"));
  const std::string refused = broken.receive_all();
  EXPECT_EQ(refused.find("HTTP/1.1 400"), 0U) << refused;
  httplib::Response as_told;
  as_told.status = 400;
  as_told.body = refused.substr(refused.find("\r\n\r\n") + 4);
  as_told.set_header("Content-Type", "application/problem+json");
  see_payment(as_told);

  // The transaction is to be run again, and again.
  database_.execute(R"(
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$BEGIN RAISE 'again' USING ERRCODE = 'serialization_failure'; END$$;
    CREATE TRIGGER refuse BEFORE INSERT ON idem_record FOR EACH ROW EXECUTE FUNCTION refuse())");
  see_payment(pay("k3"));
  database_.execute("DROP TRIGGER refuse ON idem_record; ALTER TABLE payment RENAME TO gone");
  see_payment(pay("k3"));
  see_shown(get(first.get_header_value("Location"), "ann"));
  database_.execute("ALTER TABLE gone RENAME TO payment");

  (void)acquirer_.kill();
  see_payment(pay("k3"));
  (void)server_->kill();
  serve({"--no-deduplication"});
  see_payment(pay("k4"));
  see_payment(pay("k4"));

  EXPECT_EQ(seen_, all_of(document_));
}

}  // namespace
}  // namespace idem::examples_test
