#include "examples/running_company.hpp"

#include <httplib.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <utility>

namespace idem::examples_test {
namespace {

// Ample, so that only a company that hangs meets it.
constexpr std::chrono::seconds patience{60};

nlohmann::json content(const httplib::Result& result) {
  if (!result) throw std::runtime_error{"no answer of the company: " + httplib::to_string(result.error())};
  if (result->status != 200) throw std::runtime_error{"the company answered: " + result->body};
  return nlohmann::json::parse(result->body);
}

}  // namespace

RunningCompany::RunningCompany(std::string program) : program_{std::move(program)} {
  start("0");
}

nlohmann::json RunningCompany::control(const nlohmann::json& members) const {
  httplib::Client client{url_};
  client.set_read_timeout(patience);
  return content(client.Post("/control", members.dump(), "application/json"));
}

nlohmann::json RunningCompany::ledger() const {
  httplib::Client client{url_};
  client.set_read_timeout(patience);
  return content(client.Get("/ledger"));
}

Finished RunningCompany::stop(int signal) {
  process_->signal(signal);
  Finished finished = process_->wait_at_most(patience);
  process_.reset();
  return finished;
}

Finished RunningCompany::kill() {
  return stop(SIGKILL);
}

void RunningCompany::restart() {
  start(url_.substr(url_.rfind(':') + 1));
}

void RunningCompany::start(const std::string& port) {
  process_ = std::make_unique<Running>(
      std::vector<std::string>{program_, "--listen", "127.0.0.1:" + port, "--ledger", ledger_.path()});
  url_ = process_->url_once_listening();
}

}  // namespace idem::examples_test
