// One step of a refund, or its compensation, as idem::external_call takes it.
#pragma once

#include "idem/idem.hpp"
#include "refund.hpp"
#include "services.hpp"

namespace pqxx {
class dbtransaction;
}

namespace refund_saga {

/// Its key and its fingerprint: the same on every run, made of the refund's row and the step's name.
[[nodiscard]] idem::Request request_of(const Refund& refund, const Action& action);

/// An idem::ExternalOperation. All must outlive it.
class StepCall {
 public:
  StepCall(const Services& services, const Refund& refund, const Action& action)
      : services_{services}, refund_{refund}, action_{action} {}

  [[nodiscard]] idem::Downstream downstream() const;
  void prepare(pqxx::dbtransaction& tx, const idem::CallContext& context) const;
  [[nodiscard]] idem::CallResult<Answer> call(const idem::CallContext& context) const;
  [[nodiscard]] idem::Decision finish(pqxx::dbtransaction& tx, const idem::CallContext& context,
                                      const Answer& answer) const;
  [[nodiscard]] idem::Response unknown(pqxx::dbtransaction& tx, const idem::CallContext& context) const;

 private:
  [[nodiscard]] StepState state_after(const Answer& answer) const;

  const Services& services_;
  const Refund& refund_;
  Action action_;
};

/// The window in which the services promise to know a key again, and the retention of the saga's records, which outlives it.
inline constexpr std::chrono::hours services_window{24 * 30};
inline constexpr std::chrono::hours retention{24 * 31};

}  // namespace refund_saga
