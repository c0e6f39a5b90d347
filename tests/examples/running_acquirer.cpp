#include "examples/running_acquirer.hpp"

#include <httplib.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace idem::examples_test {
namespace {

// Ample, so that only an acquirer that hangs meets it.
constexpr std::chrono::seconds patience{60};

nlohmann::json content(const httplib::Result& result) {
  if (!result) throw std::runtime_error{"no answer of the acquirer: " + httplib::to_string(result.error())};
  if (result->status != 200) throw std::runtime_error{"the acquirer answered: " + result->body};
  return nlohmann::json::parse(result->body);
}

}  // namespace

RunningAcquirer::RunningAcquirer() {
  start("0");
}

nlohmann::json RunningAcquirer::control(const nlohmann::json& members) const {
  httplib::Client client{url_};
  client.set_read_timeout(patience);
  return content(client.Post("/control", members.dump(), "application/json"));
}

nlohmann::json RunningAcquirer::ledger() const {
  httplib::Client client{url_};
  client.set_read_timeout(patience);
  return content(client.Get("/ledger"));
}

Finished RunningAcquirer::stop(int signal) {
  process_->signal(signal);
  Finished finished = process_->wait_at_most(patience);
  process_.reset();
  return finished;
}

Finished RunningAcquirer::kill() {
  return stop(SIGKILL);
}

void RunningAcquirer::restart() {
  start(url_.substr(url_.rfind(':') + 1));
}

void RunningAcquirer::start(const std::string& port) {
  process_ = std::make_unique<Running>(
      std::vector<std::string>{ACQUIRER, "--listen", "127.0.0.1:" + port, "--ledger", ledger_.path()});
  const auto end = std::chrono::steady_clock::now() + patience;
  std::string out;
  while (!(out = process_->out()).ends_with('\n')) {
    if (process_->ended()) throw std::runtime_error{"the acquirer ended: " + process_->wait().err};
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error{"the acquirer does not start"};
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  constexpr std::string_view told = "listening on ";
  if (!out.starts_with(told)) throw std::runtime_error{"the acquirer says: " + out};
  url_ = out.substr(told.size(), out.size() - told.size() - 1);
}

}  // namespace idem::examples_test
