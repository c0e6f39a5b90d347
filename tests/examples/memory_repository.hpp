// The payments service's tables, in memory.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "enrolment.hpp"
#include "idem/memory/database.hpp"
#include "idem/memory/table.hpp"
#include "payment.hpp"

namespace payments {

class MemoryRepository {
 public:
  using Tx = idem::memory::TransactionBase;

  explicit MemoryRepository(idem::memory::Database& database)
      : payments_{database}, pending_{database}, seats_{database}, receipts_{database} {}

  void add_payment(Tx& tx, const Payment& payment) { payments_.put(tx, payment.id, payment); }
  void add_pending(Tx& tx, const PendingCharge& pending) {
    const auto older = pending_.find_for_update(tx, pending.downstream_key);
    if (older && !decided(older->payment)) throw std::logic_error{"this key is taken"};
    pending_.put(tx, pending.downstream_key, pending);
    add_payment(tx, pending.payment);
  }
  std::optional<PendingCharge> find_pending(Tx& tx, const std::string& downstream_key) {
    auto pending = pending_.find(tx, downstream_key);
    if (pending && pending->payment.state != PaymentState::pending) return std::nullopt;
    return pending;
  }
  Payment decide(Tx& tx, const std::string& downstream_key, PaymentState state,
                 const std::string& charge_id) {
    auto pending = pending_.find_for_update(tx, downstream_key);
    if (!pending) throw std::logic_error{"there is no such payment"};
    Payment& payment = pending->payment;
    if (decided(payment)) throw std::logic_error{"this payment is decided"};
    payment.state = state;
    payment.charge_id = charge_id;
    pending->payment_method_token.clear();
    pending_.put(tx, downstream_key, *pending);
    add_payment(tx, payment);
    return payment;
  }
  void add_seat(Tx& tx, const PaymentAuthorized& event) {
    (void)seats_.insert(tx, {event.offering_id, event.principal}, event.payment_id);
  }
  void add_receipt(Tx& tx, const PaymentAuthorized& event) {
    if (fail_at_the_receipt) throw std::runtime_error{"the printer is on fire"};
    (void)receipts_.insert(tx, event.payment_id, true);
  }

  [[nodiscard]] std::size_t payments(Tx& tx) const { return payments_.size(tx); }
  [[nodiscard]] std::size_t seats(Tx& tx) const { return seats_.size(tx); }
  [[nodiscard]] std::size_t receipts(Tx& tx) const { return receipts_.size(tx); }
  /// The only charge that there is, whatever its state; throws where there is not exactly one.
  [[nodiscard]] PendingCharge only_charge(Tx& tx) const {
    std::optional<PendingCharge> only;
    pending_.for_each(tx, [&](const std::string&, const PendingCharge& charge) {
      if (only) throw std::runtime_error{"there are several charges"};
      only = charge;
    });
    return only.value();
  }

  bool fail_at_the_receipt = false;

 private:
  static bool decided(const Payment& payment) {
    return payment.state == PaymentState::authorized || payment.state == PaymentState::declined;
  }

  idem::memory::Table<std::string, Payment> payments_;
  idem::memory::Table<std::string, PendingCharge> pending_;  // by the acquirer's key, the last of each
  idem::memory::Table<std::pair<std::string, std::string>, std::string> seats_;
  idem::memory::Table<std::string, bool> receipts_;
};

}  // namespace payments
