// Payments over HTTP, without the server: a request's parts in, its one response out.
#pragma once

#include <span>
#include <string_view>

#include "charge_operation.hpp"
#include "connection_pool.hpp"
#include "idem/http.hpp"
#include "idem/postgres.hpp"
#include "payment_service.hpp"
#include "postgres_repository.hpp"

namespace payments {

/// How the boundary reads and answers payments; `mismatch_status` as in idem::http::BoundaryOptions.
[[nodiscard]] idem::http::BoundaryOptions payment_boundary(int mismatch_status);

/// What it is given must outlive it. Safe to share between threads.
class PaymentEndpoint {
 public:
  PaymentEndpoint(ConnectionPool& pool, const Charging& charging, const idem::http::Boundary& boundary)
      : begin_{&pool}, charging_{charging}, boundary_{boundary} {}
  PaymentEndpoint(const PaymentEndpoint&) = delete;
  PaymentEndpoint& operator=(const PaymentEndpoint&) = delete;
  ~PaymentEndpoint() = default;

  /// `POST /payments`, from a principal, empty for nobody. Each line of Idempotency-Key as it came. Throws what the database
  /// throws.
  [[nodiscard]] idem::Response pay(std::string_view principal,
                                   std::span<const std::string_view> idempotency_key,
                                   std::string_view content_type, std::string_view body) const;

  /// `GET /payments/{id}`: 200 with the principal's own payment, 404 for every other id, 401 for nobody.
  [[nodiscard]] idem::Response get(std::string_view principal, std::string_view id) const;

 private:
  BeginPooled begin_;
  const Charging& charging_;
  const idem::http::Boundary& boundary_;
  idem::postgres::Backend backend_;
  mutable PostgresRepository repository_;  // Stateless.
  PaymentService<idem::postgres::Backend, PostgresRepository> service_{backend_, repository_};
};

}  // namespace payments
