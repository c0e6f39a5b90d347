// What a service does without being asked: ends the payments of processes that died, and delivers their events.
#pragma once

#include <stop_token>
#include <thread>

#include "charge_operation.hpp"
#include "connection_pool.hpp"
#include "session.hpp"

namespace payments {

/// Two threads, from here to the end of this: a sweep, and the delivery of the outbox, a pass a second. What fails is told on
/// stderr and tried again.
class Recovery {
 public:
  /// `pool` and `charging` must outlive it.
  Recovery(ConnectionPool& pool, const Charging& charging, examples::Session session);

 private:
  examples::Session session_;  // The delivery's own.
  std::jthread delivery_;
  std::jthread sweep_;
};

}  // namespace payments
