// One refund through the example's three services: what crashes and lost connections are tried on.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "fault/planted_bugs.hpp"
#include "fault/told.hpp"
#include "idem/call/external_call.hpp"
#include "refund.hpp"
#include "services.hpp"
#include "session.hpp"

namespace idem::fault_test {

/// Nothing lapses by itself while a test runs: time is moved.
inline constexpr std::chrono::milliseconds saga_lease = std::chrono::hours{1};

[[nodiscard]] CallOptions saga_options();
[[nodiscard]] refund_saga::Refund refund_of(const std::string& id);

/// The services, with `point` called on each side of each request.
class PointedServices : public refund_saga::Services {
 public:
  /// `services` must outlive it.
  PointedServices(const refund_saga::Services& services, std::function<void()> point)
      : services_{services}, point_{std::move(point)} {}

  [[nodiscard]] CallResult<refund_saga::Answer> command(std::string_view path,
                                                        const refund_saga::Refund& refund,
                                                        const std::string& idempotency_key,
                                                        std::chrono::milliseconds deadline) const override;

 private:
  const refund_saga::Services& services_;
  std::function<void()> point_;
};

/// Runs the refund once, as the program does where its tables are installed. What it says of the refund is
/// what the client is told: in_progress, or executed where it is over. Any other flow than `right` is a
/// copy of the saga's with the bug in each of its calls. Throws what the saga throws.
[[nodiscard]] Told run_refund(Flow flow, examples::Session& session, const refund_saga::Services& services,
                              const std::string& id, const CallOptions& options);

}  // namespace idem::fault_test
