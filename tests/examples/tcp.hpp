// Bare connections, for what no HTTP library would do.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace idem::examples_test {

/// A connection to a program on 127.0.0.1, or from a client. Throws std::runtime_error where it is not made.
class Connection {
 public:
  /// To `http://127.0.0.1:PORT`.
  explicit Connection(const std::string& url);
  explicit Connection(int socket);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&&) = delete;
  ~Connection();

  /// False where the other side has left.
  [[nodiscard]] bool send(std::string_view bytes) const;
  /// One HTTP request with a body, as far as it comes.
  [[nodiscard]] std::string receive_request() const;
  /// All until the other side ends it.
  [[nodiscard]] std::string receive_all() const;
  /// Is nothing there to read, not even an end?
  [[nodiscard]] bool silent() const;
  /// Says that nothing more will be sent.
  void end_sending() const;
  /// Ends it so that the other side's next read or write fails.
  void reset_when_closed() const;

 private:
  int socket_;
};

/// Hands each connection, one after the other, to `serve`, and counts them.
class Listener {
 public:
  explicit Listener(std::function<void(const Connection&)> serve);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  /// Waits for the connection that is served.
  ~Listener();

  [[nodiscard]] std::string url() const;
  [[nodiscard]] int connections() const { return connections_; }

 private:
  int socket_ = -1;
  std::function<void(const Connection&)> serve_;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

}  // namespace idem::examples_test
