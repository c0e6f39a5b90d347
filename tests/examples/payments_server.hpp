// `payments serve` on a database and with an acquirer of its own.
#pragma once

#include <httplib.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/payments_program.hpp"
#include "examples/program.hpp"
#include "examples/running_company.hpp"

namespace idem::examples_test {

class PaymentsServer : public PaymentsProgram {
 protected:
  /// A lease that nothing outlives by itself, and a deadline that only a call which hangs meets.
  static constexpr std::chrono::minutes lease{10};

  /// Starts it on a free port, or again on the same one.
  void serve(const std::vector<std::string>& more = {"--deadline-ms", "300000"}) {
    const std::string port = server_url_.empty() ? "0" : server_url_.substr(server_url_.rfind(':') + 1);
    std::vector<std::string> words{PAYMENTS,         "serve",
                                   "--listen",       "127.0.0.1:" + port,
                                   "--acquirer",     acquirer_.url(),
                                   "--lease-ms",     "600000",
                                   "--database-url", url() + "&application_name=" + database_.schema()};
    words.insert(words.end(), more.begin(), more.end());
    server_ = std::make_unique<Running>(words);
    server_url_ = server_->url_once_listening();
  }

  static std::string body(const std::string& amount = "1290") {
    return R"({"amount_cents":)" + amount +
           R"(,"currency":"EUR","offering_id":"cpp-20","payment_method_token":"tok_secret"})";
  }

  [[nodiscard]] httplib::Client client() const {
    httplib::Client made{server_url_};
    made.set_read_timeout(std::chrono::seconds{60});
    return made;
  }
  static httplib::Response answer(const httplib::Result& result) {
    if (!result) throw std::runtime_error{"no answer: " + httplib::to_string(result.error())};
    return *result;
  }
  [[nodiscard]] httplib::Response post(const httplib::Headers& headers, const std::string& text) const {
    return answer(client().Post("/payments", headers, text, "application/json"));
  }
  /// Of ann, under the key.
  [[nodiscard]] httplib::Response pay(const std::string& key, const std::string& text = body()) const {
    return post({{"Authorization", "Bearer demo-ann"}, {"Idempotency-Key", key}}, text);
  }
  [[nodiscard]] httplib::Response get(const std::string& path, const std::string& principal) const {
    return answer(client().Get(path, {{"Authorization", "Bearer demo-" + principal}}));
  }

  /// Of the server's connections to the database.
  [[nodiscard]] std::string its_sessions() const {
    return " FROM pg_stat_activity WHERE application_name = '" + database_.schema() + "'";
  }

  [[nodiscard]] std::size_t charges() const { return acquirer_.ledger().size(); }
  void wait_for_charges(std::size_t number) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    while (charges() < number) {
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error{"nothing was charged"};
    }
  }

  RunningAcquirer acquirer_;
  std::string server_url_;
  std::unique_ptr<Running> server_;
};

}  // namespace idem::examples_test
