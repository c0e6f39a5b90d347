#include "acquirer_client.hpp"

#include <httplib.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <exception>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <system_error>
#include <thread>

namespace payments {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// An answer has a few hundred bytes.
constexpr std::size_t max_answer_bytes = 65536;

// A write to a connection that the other side has left raises SIGPIPE, which would end the process. The library
// lets it; other code's handler stays as it is.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;
  ~WithoutSigpipe() {
    const timespec at_once{0, 0};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

// Ends the client's connection at the deadline. The library's own time-outs are for one read or write each: a
// server that sends a byte now and then would never meet them.
class Deadline {
 public:
  Deadline(httplib::Client& client, Clock::time_point end)
      : watch_{[this, &client, end](const std::stop_token& done) {
          std::unique_lock lock{mutex_};
          wakes_.wait_until(lock, done, end, [] { return false; });
          // Again and again: the library forgets a stop that comes before the connection is made.
          while (!done.stop_requested()) {
            client.stop();
            wakes_.wait_for(lock, done, std::chrono::milliseconds{10}, [] { return false; });
          }
        }} {}

 private:
  std::mutex mutex_;
  std::condition_variable_any wakes_;
  std::jthread watch_;  // Last: ends before the others do.
};

struct Address {
  std::string host;
  int port;
};

Address parse(std::string_view url) {
  constexpr std::string_view scheme = "http://";
  const auto wrong = [] { return std::invalid_argument{"the acquirer's URL must be http://HOST:PORT"}; };
  if (!url.starts_with(scheme)) throw wrong();
  url.remove_prefix(scheme.size());
  if (url.ends_with('/')) url.remove_suffix(1);
  const std::size_t colon = url.rfind(':');
  if (colon == std::string_view::npos) throw wrong();
  int port = 0;
  const char* end = url.data() + url.size();
  const auto [stopped, failed] = std::from_chars(url.data() + colon + 1, end, port);
  std::string_view host = url.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const bool plain =
      std::ranges::none_of(host, [](char c) { return c <= ' ' || c > '~' || c == '/' || c == '@'; });
  if (failed != std::errc{} || stopped != end || port < 1 || port > 65535 || host.empty() || !plain)
    throw wrong();
  return {std::string{host}, port};
}

std::vector<std::string> look_up(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) {
    throw std::runtime_error{"the acquirer's host is not found"};
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner{found, freeaddrinfo};
  std::vector<std::string> addresses;
  for (const addrinfo* one = found; one; one = one->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (getnameinfo(one->ai_addr, one->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) ==
        0) {
      addresses.emplace_back(text.data());
    }
  }
  return addresses;
}

void check_key(const std::string& key) {
  const bool sendable = std::ranges::all_of(key, [](char c) { return c > ' ' && c <= '~' && c != '%'; });
  if (key.empty() || key.size() > 255 || !sendable) {
    throw std::invalid_argument{"the acquirer's key must have 1 to 255 visible ASCII characters without %"};
  }
}

std::string body_of(const Charge& charge) {
  try {
    return json{{"amount_cents", charge.amount_cents},
                {"currency", charge.currency},
                {"payment_method_token", charge.payment_method_token},
                {"reference", charge.reference}}
        .dump();
  } catch (const json::exception&) {  // Whose message would tell the bytes.
    throw std::invalid_argument{"the charge is not UTF-8"};
  }
}

struct Received {
  int status = 0;
  std::string body;
};

// One address, at most one request. Nothing where no connection was made.
std::optional<Received> exchange(httplib::Client& client, const httplib::Request& request,
                                 Clock::time_point end, std::chrono::milliseconds left) {
  client.set_connection_timeout(left);
  client.set_read_timeout(left);
  client.set_write_timeout(left);
  client.set_keep_alive(false);
  client.set_follow_location(false);
  client.set_tcp_nodelay(true);

  Received received;
  httplib::Request asked = request;
  asked.content_receiver = [&received](const char* data, std::size_t size, std::uint64_t, std::uint64_t) {
    if (received.body.size() + size > max_answer_bytes) return false;
    received.body.append(data, size);
    return true;
  };
  const Deadline deadline{client, end};
  const httplib::Result result = client.send(asked);
  if (result) {
    received.status = result->status;
    return received;
  }
  if (result.error() == httplib::Error::Connection || result.error() == httplib::Error::ConnectionTimeout) {
    return std::nullopt;
  }
  throw AcquirerUnknown{Clock::now() < end ? "the connection to the acquirer was lost"
                                           : "the acquirer did not answer in time"};
}

// A text that a database can keep.
std::string text(const json& answer, const char* name) {
  auto value = answer.at(name).get<std::string>();
  if (value.empty() || value.size() > 255 || value.find('\0') != std::string::npos) {
    throw AcquirerUnknown{"the acquirer's answer cannot be read"};
  }
  return value;
}

ChargeAnswer read(const Received& received, const std::string& key, const Charge& charge) {
  if (received.status != 201 && received.status != 402) {
    throw AcquirerUnknown{"the acquirer answered with status " + std::to_string(received.status)};
  }
  try {
    const json answer = json::parse(received.body);
    if (answer.at("outcome") != (received.status == 201 ? "approved" : "declined")) {
      throw AcquirerUnknown{"the acquirer's answer contradicts itself"};
    }
    if (answer.at("key") != key || answer.at("amount_cents") != charge.amount_cents ||
        answer.at("currency") != charge.currency || answer.at("reference") != charge.reference) {
      throw AcquirerUnknown{"the acquirer's answer is about another charge"};
    }
    std::string charge_id = text(answer, "charge_id");
    std::string at = text(answer, "at");
    if (received.status == 201) return Approved{std::move(charge_id), std::move(at)};
    return Declined{std::move(charge_id), std::move(at)};
  } catch (const json::exception&) {  // Whose message would tell the body.
    throw AcquirerUnknown{"the acquirer's answer cannot be read"};
  }
}

}  // namespace

AcquirerClient::AcquirerClient(std::string_view url) {
  const Address address = parse(url);
  host_ = address.host;
  port_ = address.port;
  const bool version_6 = host_.find(':') != std::string::npos;
  authority_ = (version_6 ? '[' + host_ + ']' : host_) + ':' + std::to_string(port_);
  addresses_ = look_up(host_);
}

ChargeAnswer AcquirerClient::charge(const std::string& idempotency_key, const Charge& charge,
                                    std::chrono::milliseconds deadline) const {
  const auto end = Clock::now() + deadline;
  check_key(idempotency_key);
  httplib::Request request;
  request.method = "POST";
  request.path = "/charges";
  request.headers = {
      {"Host", authority_}, {"Content-Type", "application/json"}, {"Idempotency-Key", idempotency_key}};
  request.body = body_of(charge);
  try {
    const WithoutSigpipe quiet;
    for (const std::string& address : addresses_) {
      // Up, as the library waits for whole milliseconds, and a wait that ends early would look like a lost connection.
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
      if (left.count() <= 0) throw AcquirerUnknown{"the acquirer did not answer in time"};
      httplib::Client client{host_, port_};
      client.set_hostname_addr_map({{host_, address}});
      // Another address is tried only while nothing was sent.
      if (const auto received = exchange(client, request, end, left))
        return read(*received, idempotency_key, charge);
    }
  } catch (const AcquirerUnknown&) {
    throw;
  } catch (const std::exception&) {
    // Whatever it was, the request may be on its way.
    throw AcquirerUnknown{"the call to the acquirer failed"};
  }
  throw AcquirerUnknown{"there is no connection to the acquirer"};
}

}  // namespace payments
