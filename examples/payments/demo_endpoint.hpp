// What the page needs beside the payments: what there is, a fault, and the event again. No part of a real service.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "charge_operation.hpp"
#include "connection_pool.hpp"
#include "demo_fault.hpp"
#include "idem/http.hpp"
#include "idem/idem.hpp"
#include "payment_endpoint.hpp"

namespace payments {

/// What it is given must outlive it. Safe to share between threads. Its functions throw what the database throws.
class DemoEndpoint {
 public:
  DemoEndpoint(ConnectionPool& pool, const Charging& charging, const idem::http::Boundary& boundary,
               std::string acquirer_url)
      : begin_{&pool},
        acquirer_url_{std::move(acquirer_url)},
        doomed_charging_{killed_after_approval(charging)},
        doomed_{pool, doomed_charging_, boundary} {}
  DemoEndpoint(const DemoEndpoint&) = delete;
  DemoEndpoint& operator=(const DemoEndpoint&) = delete;
  ~DemoEndpoint() = default;

  /// `GET /demo/state`: 200 with the principal's own records, payments, seats and receipts, and the charges of these payments
  /// in the acquirer's ledger, null where that does not answer; the newest first, of each at most 100. 401 for nobody. No
  /// token and no stored answer is in it.
  [[nodiscard]] idem::Response state(std::string_view principal) const;

  /// `POST /demo/payments/{id}/redeliveries`: 200 with what became of the payment's event, which was delivered once more:
  /// `{"delivery":"duplicate"}`. 404 where the principal has no such payment, 409 where it is not authorised, 401 for nobody.
  [[nodiscard]] idem::Response redeliver(std::string_view principal, std::string_view id) const;

  /// Payments as ever, but for DemoFault::kill_after_approval.
  [[nodiscard]] const PaymentEndpoint& doomed() const { return doomed_; }

 private:
  BeginPooled begin_;
  std::string acquirer_url_;
  Charging doomed_charging_;
  PaymentEndpoint doomed_;
};

}  // namespace payments
