#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "../payment_service.hpp"
#include "../redelivery.hpp"
#include "../run.hpp"
#include "change.hpp"
#include "idem/postgres.hpp"
#include "idem/testing.hpp"
#include "scenes.hpp"

namespace payments::demo {
namespace {

constexpr std::size_t threads = 32;

std::string line(const std::string& redeliver_event) {
  return R"({"principal":"kim","key":"enrol","redeliver_event":)" + redeliver_event +
         R"(,"body":{"amount_cents":1290,"currency":"EUR","offering_id":"cpp-20",)"
         R"("payment_method_token":"tok_visa_kim"}})";
}

std::string redelivery_told(const std::string& database_url, const std::string& request) {
  std::istringstream requests{request};
  std::ostringstream answers;
  run(database_url, requests, answers);
  const std::string text = answers.str();
  return nlohmann::json::parse(text.substr(0, text.find('\n'))).value("redelivery", "none");
}

// All threads deliver `event` at the same moment.
std::vector<idem::Delivery> deliver_at_once(const std::string& database_url, const PaymentAuthorized& event) {
  const idem::postgres::Backend backend;
  PostgresRepository repository;
  const PaymentService service{backend, repository};
  std::vector<examples::Session> sessions;
  for (std::size_t i = 0; i < threads; ++i) sessions.emplace_back(database_url);
  std::vector<idem::Delivery> deliveries(threads);
  idem::testing::race(threads, [&](std::size_t i) {
    const auto tx = sessions[i].begin();
    deliveries[i] = service.deliver(*tx, event);
    tx->commit();
  });
  return deliveries;
}

void show(Report& report, const std::vector<idem::Delivery>& deliveries, std::int64_t applied) {
  const std::int64_t counted = std::count(deliveries.begin(), deliveries.end(), idem::Delivery::applied);
  const std::int64_t again = std::count(deliveries.begin(), deliveries.end(), idem::Delivery::duplicate);
  report.count("applied", counted, applied);
  report.count("duplicate", again, static_cast<std::int64_t>(threads) - applied);
}

PaymentAuthorized event_of(const std::string& database_url, const std::string& request_line) {
  const idem::postgres::Backend backend;
  PostgresRepository repository;
  const PaymentService service{backend, repository};
  examples::Session session{database_url};
  const PaymentRequest request = RequestLineReader{}.read(request_line);
  return event_to_redeliver(request, answer_to(service.pay([&] { return session.begin(); }, request)))
      .value();
}

}  // namespace

void redelivery(Report& report, const std::string& database_url) {
  report.heading("4. Redelivery: the event of one payment comes again and again");
  examples::Session session{database_url};
  const Change change{session};
  struct Step {
    std::string_view what;
    std::string redeliver_event;
    std::string_view told;
  };
  const std::array<Step, 4> steps{{
      {"kim pays, and the event comes once more: duplicate", "true", "duplicate"},
      {"the request is sent again, and the event again: duplicate", "true", "duplicate"},
      {"the same fact under a new event id: applied", "\"new_id\"", "applied"},
      {"and under another: applied", "\"new_id\"", "applied"},
  }};
  for (const Step& step : steps) {
    const std::string told = redelivery_told(database_url, line(step.redeliver_event));
    report.count(step.what, told == step.told ? 1 : 0, 1);
  }
  change.show(report, 1);

  report.heading("   32 threads deliver the payment's own event at the same moment");
  show(report, deliver_at_once(database_url, event_of(database_url, line("true"))), 0);
  report.heading("   32 threads deliver one new event of it at the same moment");
  show(report, deliver_at_once(database_url, event_of(database_url, line("\"new_id\""))), 1);
  change.show(report, 1);
}

}  // namespace payments::demo
