// The service's HTTP side.
#pragma once

#include <httplib.h>

#include <atomic>
#include <string>
#include <thread>

#include "demo_endpoint.hpp"
#include "http_listener.hpp"
#include "payment_endpoint.hpp"

namespace payments {

/// `POST /payments`, `GET /payments/{id}`, `GET /healthz`; and the page on `/` with what it needs, where that is wanted. A
/// body over 64 KiB is refused (413); what a handler throws is a 500 without content, and told on stderr.
class PaymentServer {
 public:
  /// Without `demo`, which may be null, there is no page, and Demo-Fault is a header like any other. Both must outlive it.
  PaymentServer(const PaymentEndpoint& endpoint, const DemoEndpoint* demo);
  PaymentServer(const PaymentServer&) = delete;
  PaymentServer& operator=(const PaymentServer&) = delete;
  /// Takes no connections any more, and waits for the requests that are being answered.
  ~PaymentServer();

  /// Listens; connections are taken from here on, and wait until start(). Returns the port. Throws std::runtime_error.
  [[nodiscard]] int listen(const examples::ListenAddress& address) { return listener_.listen(address); }

  /// Answers from here on. Once, after listen(). Ends the process where it cannot go on.
  void start();

 private:
  void serve_page(const DemoEndpoint& demo);

  httplib::Server server_;
  examples::HttpListener listener_{server_};
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> ended_ = false;  // What answers has: by a stop, or as it could not go on.
  std::thread answering_;
};

}  // namespace payments
