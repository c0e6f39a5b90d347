// A proxy that loses the connection to the database at a chosen message.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace idem::fault_test {

enum class Direction { to_server, to_client };
enum class Moment {
  before,  ///< It does not arrive.
  after,   ///< It arrives, and nothing after it.
};

/// At the n-th protocol message in that direction, counted over all connections and the start of each.
struct Cut {
  int message = 1;
  Direction direction = Direction::to_server;
  Moment moment = Moment::before;
};

/// Listens on a free port of 127.0.0.1 and hands what comes to the server, message by message. A cut ends
/// both sides of its connection; the server's process lives on and carries out what has arrived. Safe between
/// threads.
class PostgresProxy {
 public:
  /// `host` is a name, an address or the folder of a socket. Throws std::runtime_error where it cannot
  /// listen.
  PostgresProxy(std::string host, std::string port);
  PostgresProxy(const PostgresProxy&) = delete;
  PostgresProxy& operator=(const PostgresProxy&) = delete;
  /// Ends all connections.
  ~PostgresProxy();

  [[nodiscard]] int port() const { return port_; }

  /// What becomes of the connections that are made from now on: one cut. Those that are there are left alone.
  void plan(const Cut& cut);
  /// Has it come to it?
  [[nodiscard]] bool has_cut() const;

 private:
  struct Link;

  void serve();
  void accept_one();
  // False where the link is over.
  bool pass_on(Link& link, Direction direction);
  // Counts a message; the moment to cut, where this is the one.
  std::optional<Moment> cut_at(const Link& link, Direction direction);

  std::string host_;
  std::string server_port_;
  int listener_;
  int wake_;  // Ends the thread.
  int port_ = 0;

  mutable std::mutex mutex_;
  Cut cut_{};
  int generation_ = 0;  // Which plan: only links of it are cut.
  int counted_ = 0;
  bool has_cut_ = true;

  std::vector<std::unique_ptr<Link>> links_;  // The thread's own.
  std::thread thread_;
};

}  // namespace idem::fault_test
