#include "recovery.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

#include "first_line.hpp"
#include "idem/postgres.hpp"
#include "log.hpp"
#include "outbox_delivery.hpp"
#include "payment_service.hpp"
#include "postgres_repository.hpp"

namespace payments {
namespace {

constexpr std::chrono::seconds delivery_interval{1};

void keep_delivering(const std::stop_token& stop, examples::Session& session) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock{mutex};
  while (!stop.stop_requested()) {
    try {
      deliver_outbox(session);
    } catch (const std::exception& failure) {
      log("events are left for later: " + first_line(failure));
    }
    stopped.wait_for(lock, stop, delivery_interval, [] { return false; });
  }
}

void keep_sweeping(const std::stop_token& stop, ConnectionPool& pool, const Charging& charging) {
  const idem::postgres::Backend backend;
  PostgresRepository repository;
  const PaymentService service{backend, repository};
  service.keep_sweeping(
      stop, BeginPooled{&pool}, charging,
      [](const idem::LapsedRecord&, const std::exception_ptr& failure) {
        log("a payment was left as it was: " + first_line(failure));
      },
      [](const std::exception_ptr& failure) { log("the sweep is left for later: " + first_line(failure)); });
}

}  // namespace

Recovery::Recovery(ConnectionPool& pool, const Charging& charging, examples::Session session)
    : session_{std::move(session)},
      delivery_{[this](const std::stop_token& stop) { keep_delivering(stop, session_); }},
      sweep_{[&pool, &charging](const std::stop_token& stop) { keep_sweeping(stop, pool, charging); }} {}

}  // namespace payments
