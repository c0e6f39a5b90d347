// One payment through the acquirer: a row that is pending, a commit; the call; the row decided and its event, a commit.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "charge.hpp"
#include "idem/idem.hpp"
#include "payment.hpp"
#include "payment_event.hpp"
#include "payment_responses.hpp"
#include "request_line.hpp"

namespace payments {

/// Where pending payments are written and decided, inside a transaction of type Tx.
template <class Repository, class Tx>
concept ChargeRepository = requires(Repository& repository, Tx& tx, const PendingCharge& pending,
                                    const std::string& downstream_key, PaymentState state,
                                    const std::string& charge_id) {
  repository.add_pending(tx, pending);
  // As it was added; none where it is not pending any more.
  { repository.find_pending(tx, downstream_key) } -> std::same_as<std::optional<PendingCharge>>;
  // Of a pending or unknown one: gives it the state and the charge, takes the token away, and returns what is there now.
  { repository.decide(tx, downstream_key, state, charge_id) } -> std::same_as<Payment>;
};

/// How payments are charged through an acquirer.
struct Charging {
  AskAcquirer ask;
  bool deduplicates = true;  ///< May a charge be sent again under its key?
  std::chrono::milliseconds lease = idem::ReserveOptions{}.lease;
  std::chrono::milliseconds deadline{0};  ///< Of one call, less than the lease; 0 is a third of it.
  /// Told of each call whose result is not known. Must not throw.
  std::function<void(const idem::UnknownCall&)> on_unknown{};
};

/// Whom payments call. The acquirer is expected to remember a key for a day.
[[nodiscard]] inline idem::Downstream downstream_of(const Charging& charging) {
  return charging.deduplicates ? idem::deduplicates_for("acquirer", std::chrono::hours{24})
                               : idem::cannot_deduplicate("acquirer");
}

[[nodiscard]] inline idem::CallOptions call_options(const Charging& charging) {
  idem::CallOptions options;
  options.reserve.lease = charging.lease;
  options.reserve.call_deadline = charging.deadline;
  options.on_unknown = charging.on_unknown;
  return options;
}

/// Throws idem::InvalidArgument where lease and deadline do not go together.
inline void validate(const Charging& charging) {
  idem::validate(call_options(charging));
}

namespace detail {

// What `begin()` returned is a transaction, an object that has one, or a pointer to either.
template <class Unit>
auto& transaction_in(Unit& unit) {
  if constexpr (requires { unit.transaction(); }) {
    return unit.transaction();
  } else if constexpr (requires { *unit; }) {
    return transaction_in(*unit);
  } else {
    return unit;
  }
}

}  // namespace detail

/// What idem::external_call() carries out, for one request at a time. What it is given must outlive it.
template <class Backend, class Begin, class Repository>
class ChargeOperation {
 public:
  /// `request` is null in a sweep or a repair, which start no payment: all that an earlier attempt's call needs is in its
  /// row.
  ChargeOperation(const Backend& backend, const Begin& begin, Repository& repository,
                  const Charging& charging, const PaymentRequest* request)
      : backend_{backend}, begin_{begin}, repository_{repository}, charging_{charging}, request_{request} {}

  [[nodiscard]] idem::Downstream downstream() const { return downstream_of(charging_); }

  template <class Tx>
  requires ChargeRepository<Repository, Tx>
  void prepare(Tx& tx, const idem::CallContext& context) {
    if (request_ == nullptr) throw std::logic_error{"only a request starts a payment"};
    const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    prepared_ = PendingCharge{.payment = {.id = idem::random_uuid_v7(now).to_string(),
                                          .principal = request_->command.key.principal,
                                          .order = request_->order},
                              .downstream_key = context.downstream_key,
                              .payment_method_token = request_->payment_method_token};
    repository_.add_pending(tx, *prepared_);
  }

  idem::CallResult<ChargeAnswer> call(const idem::CallContext& context) {
    const auto end = std::chrono::steady_clock::now() + context.deadline;
    const std::optional<PendingCharge> pending = stored(context);
    if (!pending) return idem::ResultUnknown{"another attempt has decided the payment"};
    const Payment& payment = pending->payment;
    try {
      return charging_.ask(
          pending->downstream_key,
          {payment.order.amount_cents, payment.order.currency, pending->payment_method_token, payment.id},
          std::chrono::floor<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()));
    } catch (const AcquirerUnknown& unknown) {
      return idem::ResultUnknown{unknown.what()};
    }
  }

  template <class Tx>
  idem::Decision finish(Tx& tx, const idem::CallContext& context, const ChargeAnswer& answer) {
    const bool approved = std::holds_alternative<Approved>(answer);
    const Payment payment = repository_.decide(
        tx, context.downstream_key, approved ? PaymentState::authorized : PaymentState::declined,
        std::visit([](const auto& decided) { return decided.charge_id; }, answer));
    if (settled_amount_ && *settled_amount_ != payment.order.amount_cents) {
      throw std::runtime_error{"the settlement has another amount than the payment"};
    }
    // After the update, whose row lock puts the events of one payment in order.
    idem::Outbox{backend_}.append(tx, payment_event(payment));
    return approved ? idem::completed(authorized_response(payment))
                    : idem::failed(declined_response(payment));
  }

  /// The settlement's word, in place of the acquirer's answer. What was never charged is a decline without a charge.
  ChargeAnswer answer_of(const idem::Repair& repair) {
    if (!repair.entry) return Declined{};
    settled_amount_ = repair.entry->amount;
    if (repair.as == idem::RepairAs::charged) {
      if (repair.entry->reference.empty())
        throw std::runtime_error{"the settlement's charge has no reference"};
      return Approved{repair.entry->reference, {}};
    }
    return Declined{repair.entry->reference, {}};
  }

  template <class Tx>
  idem::Response unknown(Tx& tx, const idem::CallContext& context) {
    return unknown_response(repository_.decide(tx, context.downstream_key, PaymentState::unknown, ""));
  }

 private:
  // Its own row, or the one that an earlier attempt has left: the acquirer must be sent the same reference again.
  [[nodiscard]] std::optional<PendingCharge> stored(const idem::CallContext& context) const {
    if (prepared_ && context.how != idem::How::took_over) return prepared_;
    auto unit = begin_();
    return repository_.find_pending(detail::transaction_in(unit), context.downstream_key);
  }

  const Backend& backend_;
  const Begin& begin_;
  Repository& repository_;
  const Charging& charging_;
  const PaymentRequest* request_;
  std::optional<PendingCharge> prepared_{};
  std::optional<std::int64_t> settled_amount_{};  // in a repair
};

}  // namespace payments
