#include "serve.hpp"

#include <cstddef>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "connection_pool.hpp"
#include "database.hpp"
#include "demo_endpoint.hpp"
#include "end_signals.hpp"
#include "first_line.hpp"
#include "listen_address.hpp"
#include "log.hpp"
#include "payment_endpoint.hpp"
#include "payment_server.hpp"
#include "recovery.hpp"

namespace payments {
namespace {

// Fewer than threads: most of those wait for the acquirer, and hold none then.
constexpr std::size_t connections = 16;

examples::ListenAddress address_in(const ServeOptions& options) {
  auto address = examples::listen_address(options.listen);
  if (!address) throw std::invalid_argument{"--listen must be HOST:PORT"};
  return *std::move(address);
}

}  // namespace

void validate(const ServeOptions& options) {
  (void)address_in(options);
  // The boundary says whether its options are legal.
  (void)idem::http::Boundary{payment_boundary(options.mismatch_status)};
}

void serve(const ServeOptions& options) {
  const examples::ListenAddress address = address_in(options);
  const idem::http::Boundary boundary{payment_boundary(options.mismatch_status)};
  Charging charging = options.charging;
  charging.on_unknown = [](const idem::UnknownCall& call) {
    log("a charge's result is not known: " + (call.exception ? first_line(call.exception) : call.why));
  };

  // Before the first thread.
  const examples::EndSignals ends;
  examples::Session session = open_database(options.database_url);
  ConnectionPool pool{options.database_url, connections};
  const PaymentEndpoint endpoint{pool, charging, boundary};
  const DemoEndpoint demo{pool, charging, boundary, options.acquirer_url};
  PaymentServer server{endpoint, options.page ? &demo : nullptr};
  const int port = server.listen(address);
  const Recovery recovery{pool, charging, std::move(session)};
  server.start();
  std::cout << "listening on " << examples::http_url(address.host, port) << '\n' << std::flush;
  ends.wait();
}

}  // namespace payments
