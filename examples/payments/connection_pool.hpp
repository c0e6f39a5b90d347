// Connections that requests share: one for each transaction, none between two.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <pqxx/pqxx>
#include <string>
#include <vector>

namespace payments {

/// Makes connections as they are needed. Safe to share between threads.
class ConnectionPool {
 public:
  /// `most` at a time, at least 1.
  ConnectionPool(std::string database_url, std::size_t most);
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;
  ~ConnectionPool() = default;

  /// One that is not known to be lost; waits where all are taken. Throws pqxx::broken_connection where a new one cannot be
  /// made.
  [[nodiscard]] std::unique_ptr<pqxx::connection> take();
  /// Keeps it for the next, unless it was lost.
  void give_back(std::unique_ptr<pqxx::connection> connection);

 private:
  std::string database_url_;
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::size_t left_;                                     // How many may still be taken.
  std::vector<std::unique_ptr<pqxx::connection>> idle_;  // At most `left_`.
};

/// A transaction on a connection of the pool, which gets it back when this ends. Uncommitted, it is rolled back.
class PooledWork {
 public:
  /// Throws what the database throws.
  explicit PooledWork(ConnectionPool& pool);
  PooledWork(const PooledWork&) = delete;
  PooledWork& operator=(const PooledWork&) = delete;
  ~PooledWork() = default;

  [[nodiscard]] pqxx::work& transaction() { return *work_; }
  void commit() { work_->commit(); }

 private:
  // The pool has to get it back also where no transaction can be begun on it.
  struct Taken {
    explicit Taken(ConnectionPool& from) : pool{from}, connection{from.take()} {}
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    ~Taken() { pool.give_back(std::move(connection)); }

    ConnectionPool& pool;
    std::unique_ptr<pqxx::connection> connection;
  };

  Taken taken_;
  std::unique_ptr<pqxx::work> work_;  // Ends before that.
};

/// What idem's functions begin transactions with. The pool must outlive it; safe to share between threads.
struct BeginPooled {
  ConnectionPool* pool;
  [[nodiscard]] std::unique_ptr<PooledWork> operator()() const { return std::make_unique<PooledWork>(*pool); }
};

}  // namespace payments
