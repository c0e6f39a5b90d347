#include "keyed_post.hpp"

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
#include <ctime>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>

namespace examples {
namespace {

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

Address parse(const std::string& whom, std::string_view url) {
  constexpr std::string_view scheme = "http://";
  const auto wrong = [&whom] { return std::invalid_argument{whom + "'s URL must be http://HOST:PORT"}; };
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

std::vector<std::string> look_up(const std::string& whom, const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) {
    throw std::runtime_error{whom + "'s host is not found"};
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

void check_key(const std::string& whom, const std::string& key) {
  const bool sendable = std::ranges::all_of(key, [](char c) { return c > ' ' && c <= '~' && c != '%'; });
  if (key.empty() || key.size() > 255 || !sendable) {
    throw std::invalid_argument{whom + "'s key must have 1 to 255 visible ASCII characters without %"};
  }
}

// One address, at most one request. Nothing where no connection was made.
std::optional<Received> exchange(const std::string& whom, httplib::Client& client,
                                 const httplib::Request& request, Clock::time_point end,
                                 std::chrono::milliseconds left) {
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
    received.headers.assign(result->headers.begin(), result->headers.end());
    return received;
  }
  if (result.error() == httplib::Error::Connection || result.error() == httplib::Error::ConnectionTimeout) {
    return std::nullopt;
  }
  throw NotKnown{Clock::now() < end ? "the connection to " + whom + " was lost"
                                    : whom + " did not answer in time"};
}

}  // namespace

std::string_view Received::header(std::string_view name) const {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (const auto& [given, value] : headers) {
    if (std::ranges::equal(given, name, {}, lower, lower)) return value;
  }
  return {};
}

KeyedPost::KeyedPost(std::string whom, std::string_view url, Headers headers)
    : whom_{std::move(whom)}, headers_{std::move(headers)} {
  const Address address = parse(whom_, url);
  host_ = address.host;
  port_ = address.port;
  const bool version_6 = host_.find(':') != std::string::npos;
  authority_ = (version_6 ? '[' + host_ + ']' : host_) + ':' + std::to_string(port_);
  addresses_ = look_up(whom_, host_);
}

Received KeyedPost::send(const std::string& path, const std::string& idempotency_key, const std::string& body,
                         std::chrono::milliseconds deadline) const {
  const auto end = Clock::now() + deadline;
  check_key(whom_, idempotency_key);
  httplib::Request request;
  request.method = "POST";
  request.path = path;
  request.headers = {
      {"Host", authority_}, {"Content-Type", "application/json"}, {"Idempotency-Key", idempotency_key}};
  request.headers.insert(headers_.begin(), headers_.end());
  request.body = body;
  try {
    const WithoutSigpipe quiet;
    for (const std::string& address : addresses_) {
      // Up, as the library waits for whole milliseconds, and a wait that ends early would look like a lost connection.
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
      if (left.count() <= 0) throw NotKnown{whom_ + " did not answer in time"};
      httplib::Client client{host_, port_};
      client.set_hostname_addr_map({{host_, address}});
      // Another address is tried only while nothing was sent.
      if (auto received = exchange(whom_, client, request, end, left)) return *std::move(received);
    }
  } catch (const NotKnown&) {
    throw;
  } catch (const std::exception&) {
    // Whatever it was, the request may be on its way.
    throw NotKnown{"the call to " + whom_ + " failed"};
  }
  throw NotKnown{"there is no connection to " + whom_};
}

}  // namespace examples
