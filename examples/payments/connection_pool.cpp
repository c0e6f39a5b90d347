#include "connection_pool.hpp"

#include <utility>

#include "session.hpp"

namespace payments {

ConnectionPool::ConnectionPool(std::string database_url, std::size_t most)
    : database_url_{std::move(database_url)}, left_{most} {
  idle_.reserve(most);
}

std::unique_ptr<pqxx::connection> ConnectionPool::take() {
  std::unique_ptr<pqxx::connection> connection;
  {
    std::unique_lock lock{mutex_};
    given_back_.wait(lock, [this] { return left_ > 0; });
    --left_;
    if (!idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  try {
    if (!connection || examples::lost(*connection)) connection = examples::connect(database_url_);
  } catch (...) {
    give_back(nullptr);
    throw;
  }
  return connection;
}

void ConnectionPool::give_back(std::unique_ptr<pqxx::connection> connection) {
  {
    const std::lock_guard lock{mutex_};
    ++left_;
    if (connection && connection->is_open()) idle_.push_back(std::move(connection));
  }
  given_back_.notify_one();
}

PooledWork::PooledWork(ConnectionPool& pool)
    : taken_{pool}, work_{std::make_unique<pqxx::work>(*taken_.connection)} {}

}  // namespace payments
