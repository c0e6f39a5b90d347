// Open connections that nobody uses just now.
#pragma once

#include <memory>
#include <mutex>
#include <pqxx/pqxx>
#include <utility>
#include <vector>

namespace idem::postgres_test {

/// Safe between threads.
class ConnectionPool {
 public:
  /// An idle one, or what `make` makes.
  template <class Make>
  [[nodiscard]] std::unique_ptr<pqxx::connection> take(const Make& make) {
    {
      const std::scoped_lock lock{mutex_};
      if (!idle_.empty()) {
        auto connection = std::move(idle_.back());
        idle_.pop_back();
        return connection;
      }
    }
    return make();
  }
  void give_back(std::unique_ptr<pqxx::connection> connection) {
    if (!connection->is_open()) return;
    const std::scoped_lock lock{mutex_};
    idle_.push_back(std::move(connection));
  }
  void close_all() {
    const std::scoped_lock lock{mutex_};
    idle_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<pqxx::connection>> idle_;
};

}  // namespace idem::postgres_test
