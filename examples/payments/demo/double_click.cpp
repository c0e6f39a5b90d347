#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../answer.hpp"
#include "../payment_service.hpp"
#include "../request_line.hpp"
#include "change.hpp"
#include "idem/postgres.hpp"
#include "idem/testing.hpp"
#include "scenes.hpp"

namespace payments::demo {
namespace {

constexpr std::size_t threads = 32;

constexpr const char* request_line =
    R"({"principal":"ida","key":"double-click","body":{"amount_cents":1290,"currency":"EUR",)"
    R"("offering_id":"cpp-20","payment_method_token":"tok_visa_ida"}})";

std::int64_t count(const std::vector<Answer>& answers, std::string_view outcome) {
  return std::count_if(answers.begin(), answers.end(),
                       [&](const Answer& answer) { return answer.outcome == outcome; });
}

std::set<std::string> bodies(const std::vector<Answer>& answers) {
  std::set<std::string> different;
  for (const Answer& answer : answers) {
    if (answer.outcome != "in_progress") different.insert(body_sha256(answer.response));
  }
  return different;
}

}  // namespace

void double_click(Report& report, const std::string& database_url) {
  report.heading("2. A double click: 32 threads send one request at the same moment");
  const idem::postgres::Backend backend;
  PostgresRepository repository;
  const PaymentService service{backend, repository};
  const PaymentRequest request = RequestLineReader{}.read(request_line);

  std::vector<examples::Session> sessions;
  for (std::size_t i = 0; i < threads; ++i) sessions.emplace_back(database_url);
  const Change change{sessions.front()};
  std::vector<Answer> answers(threads);
  const auto all_ask = [&] {
    idem::testing::race(threads, [&](std::size_t i) {
      answers[i] = answer_to(service.pay([&] { return sessions[i].begin(); }, request));
    });
  };

  all_ask();
  const std::int64_t executed = count(answers, "executed");
  const std::int64_t refused = count(answers, "in_progress");
  const std::int64_t replayed = count(answers, "replayed");
  report.count("executed", executed, 1);
  report.count("told at once: in progress (" + std::to_string(refused) + "), or the first answer again (" +
                   std::to_string(replayed) + ")",
               refused + replayed, static_cast<std::int64_t>(threads) - 1);
  const std::set<std::string> first_bodies = bodies(answers);

  all_ask();
  report.count("then all ask again: replayed", count(answers, "replayed"), threads);
  std::set<std::string> all_bodies = bodies(answers);
  all_bodies.insert(first_bodies.begin(), first_bodies.end());
  report.count("different answers that anybody was given", static_cast<std::int64_t>(all_bodies.size()), 1);
  change.show(report, 1);
}

}  // namespace payments::demo
