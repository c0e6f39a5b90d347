// A backend whose type is not known where it is used, so that the suites are compiled once. It has all that execute(),
// transact(), external_call(), Sweep, apply_repair(), Inbox, VersionGuard, Outbox and the purges ask of one.
#pragma once

#include <exception>
#include <memory>

#include "idem/command/purge.hpp"
#include "idem/command/retry.hpp"
#include "idem/event/inbox_store.hpp"
#include "idem/event/outbox_store.hpp"
#include "idem/record/lapsed.hpp"
#include "idem/record/store.hpp"

namespace idem::conformance {

/// A transaction of whichever backend. What a handler, an operation or a consumer is given.
class Tx {
 public:
  virtual ~Tx() = default;
};

template <class Real>
class TxOf final : public Tx {
 public:
  /// `real` must outlive it.
  explicit TxOf(Real& real) : real_{real} {}
  [[nodiscard]] Real& real() const { return real_; }

 private:
  Real& real_;
};

/// Throws std::bad_cast where `tx` is another backend's.
template <class Real>
Real& real_transaction(Tx& tx) {
  return dynamic_cast<TxOf<Real>&>(tx).real();
}

/// A unit of work as transact() takes it, that can be rolled back by hand too. The destructor rolls back where nothing
/// else did.
class Unit {
 public:
  virtual ~Unit() = default;
  [[nodiscard]] virtual Tx& transaction() = 0;
  virtual void commit() = 0;
  virtual void rollback() = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::unique_ptr<IdempotencyStore> store(Tx& tx) const = 0;
  [[nodiscard]] virtual std::unique_ptr<InboxStore> inbox_store(Tx& tx) const = 0;
  [[nodiscard]] virtual std::unique_ptr<OutboxStore> outbox_store(Tx& tx) const = 0;
  virtual void make_uncommittable(Tx& tx) const noexcept = 0;
  virtual void check_committable(Tx& tx) const = 0;
  [[nodiscard]] virtual LapsedPage lapsed_records(Tx& tx, const LapsedFilter& filter) const = 0;
  virtual PurgedBatch purge_records(Tx& tx, const PurgeBatch& batch) const = 0;
  virtual PurgedBatch purge_inbox(Tx& tx, const PurgeBatch& batch) const = 0;
  [[nodiscard]] virtual Failure failure_of(const std::exception_ptr& error) const = 0;
};

/// `RealBackend`, whose transactions are `Real`s.
template <class RealBackend, class Real>
class BackendOf final : public Backend {
 public:
  /// `real` must outlive it.
  explicit BackendOf(const RealBackend& real) : real_{real} {}

  [[nodiscard]] std::unique_ptr<IdempotencyStore> store(Tx& tx) const override {
    return real_.store(real_transaction<Real>(tx));
  }
  [[nodiscard]] std::unique_ptr<InboxStore> inbox_store(Tx& tx) const override {
    return real_.inbox_store(real_transaction<Real>(tx));
  }
  [[nodiscard]] std::unique_ptr<OutboxStore> outbox_store(Tx& tx) const override {
    return real_.outbox_store(real_transaction<Real>(tx));
  }
  void make_uncommittable(Tx& tx) const noexcept override {
    real_.make_uncommittable(real_transaction<Real>(tx));
  }
  void check_committable(Tx& tx) const override { real_.check_committable(real_transaction<Real>(tx)); }
  [[nodiscard]] LapsedPage lapsed_records(Tx& tx, const LapsedFilter& filter) const override {
    return real_.lapsed_records(real_transaction<Real>(tx), filter);
  }
  PurgedBatch purge_records(Tx& tx, const PurgeBatch& batch) const override {
    return real_.purge_records(real_transaction<Real>(tx), batch);
  }
  PurgedBatch purge_inbox(Tx& tx, const PurgeBatch& batch) const override {
    return real_.purge_inbox(real_transaction<Real>(tx), batch);
  }
  [[nodiscard]] Failure failure_of(const std::exception_ptr& error) const override {
    return real_.failure_of(error);
  }

 private:
  const RealBackend& real_;
};

}  // namespace idem::conformance
