// A small pool of connections, as a service has one.
#pragma once

#include <memory>
#include <pqxx/pqxx>
#include <string>
#include <utility>

#include "postgres/connection_pool.hpp"

namespace idem::fault_test {

/// Units of work on connections that are used again. Must outlive its units.
class Sessions {
 public:
  class Unit {
   public:
    explicit Unit(Sessions& sessions)
        : sessions_{&sessions}, connection_{sessions.pool_.take([&] {
            return std::make_unique<pqxx::connection>(sessions.url_);
          })} {
      work_ = std::make_unique<pqxx::work>(*connection_);
    }
    Unit(const Unit&) = delete;
    Unit& operator=(const Unit&) = delete;
    Unit(Unit&&) noexcept = default;
    Unit& operator=(Unit&&) = delete;
    ~Unit() {
      if (!connection_) return;  // moved from
      work_.reset();
      sessions_->pool_.give_back(std::move(connection_));
    }

    pqxx::dbtransaction& transaction() { return *work_; }
    void commit() { work_->commit(); }

   private:
    Sessions* sessions_;
    std::unique_ptr<pqxx::connection> connection_;
    std::unique_ptr<pqxx::work> work_;
  };

  explicit Sessions(std::string url) : url_{std::move(url)} {}

  /// What external_call() takes.
  [[nodiscard]] auto begin() {
    return [this] { return Unit{*this}; };
  }

 private:
  std::string url_;
  postgres_test::ConnectionPool pool_;
};

}  // namespace idem::fault_test
