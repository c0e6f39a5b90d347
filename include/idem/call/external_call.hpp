// An outside call between two commits, made once even where the process dies in the gap.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "idem/base/error.hpp"
#include "idem/call/downstream_key.hpp"
#include "idem/command/detail/reserve_and_commit.hpp"
#include "idem/command/execute.hpp"
#include "idem/command/outcome.hpp"
#include "idem/command/retry.hpp"

namespace idem {
inline namespace v0 {

/// What an operation is told about the call that it makes or has made.
struct CallContext {
  /// The record's key, stored fingerprint, fence and generation. Never settle with it: external_call() does.
  Lease lease;
  /// Fresh, or the resumption of an earlier attempt.
  How how = How::fresh;
  /// What is handed to the downstream as its idempotency key: the same on every retry and takeover.
  std::string downstream_key;
  /// How long the call may take, from its beginning. It ends inside the lease.
  std::chrono::milliseconds deadline{0};
};

/// The call's result is not known: a time-out, a lost connection, "still processing", "this key with other parameters".
struct ResultUnknown {
  /// Why, for logs. Never a body, a token or a card number.
  std::string why;
};

/// What a call came to: the downstream's answer, a decline included, or that it is not known.
template <class Answer>
using CallResult = std::variant<Answer, ResultUnknown>;

namespace detail {

template <class Result>
struct CallResultOf {
  static_assert(sizeof(Result) == 0, "an operation's call() returns idem::CallResult<Answer>");
};
template <class Given>
struct CallResultOf<CallResult<Given>> {
  using Answer = Given;
};

}  // namespace detail

/// What the downstream of an operation answers.
template <class Operation>
using AnswerOf = typename detail::CallResultOf<decltype(std::declval<Operation&>().call(
    std::declval<const CallContext&>()))>::Answer;

/// A command with an outside call. One object with five members, so that nothing is captured across transactions:
///
/// - `Downstream downstream() const`: whom it calls, and whether that deduplicates. Always the same.
/// - `void prepare(Tx&, const CallContext&)`: the business row, pending; commits with the reservation. Only for a new
///   request.
/// - `CallResult<Answer> call(const CallContext&)`: sends one request, under the context's downstream key, within its
///   deadline. No transaction is open. Builds the request from fingerprinted fields or from the pending row, never from
///   what a retry may vary.
/// - `Decision finish(Tx&, const CallContext&, const Answer&)`: the business row decided, the outbox; commits with the
///   stored answer. May run again where its transaction is run again.
/// - `Response unknown(Tx&, const CallContext&)`: the business row not known; what the client is told. Commits with the
///   UNKNOWN record.
///
/// Each is called for one attempt at a time; a slow attempt's members may run while another object's do.
template <class Operation, class Tx>
concept ExternalOperation = requires(Operation& operation, Tx& tx, const CallContext& context,
                                     const AnswerOf<Operation>& answer) {
  { operation.downstream() } -> std::convertible_to<Downstream>;
  operation.prepare(tx, context);
  { operation.finish(tx, context, answer) } -> std::same_as<Decision>;
  { operation.unknown(tx, context) } -> std::same_as<Response>;
};

/// A call whose result is not known, as CallOptions::on_unknown is told of it.
struct UnknownCall {
  const CallContext& context;
  /// Of a ResultUnknown; otherwise empty.
  std::string why;
  /// What call() or finish() threw; otherwise null.
  std::exception_ptr exception;
};

/// How external_call() reserves, and the bounds of its retries.
struct CallOptions {
  /// `lease`, `retention`, `horizon` and `on_in_flight` as everywhere. `call_deadline` is how long the call may take: less
  /// than the lease; 0 is a third of it. `downstream`, `resumable` and `attempt` are not the caller's to say: leave them
  /// alone.
  ReserveOptions reserve{};
  /// Of each of its transactions.
  RetryOptions retry{};
  /// How often the transaction that stores a known answer is tried, with the pauses of `retry`; at least 1. Default 40, some
  /// eight seconds: a server that restarts must not cost the answer.
  int settle_tries = 40;
  /// Told of each call of this process whose result is not known, after that was recorded or could not be; for logs and
  /// metrics. Must not throw.
  std::function<void(const UnknownCall&)> on_unknown{};
};

/// Throws InvalidArgument where `options` break a limit, as far as that does not depend on the operation's downstream.
void validate(const CallOptions& options);

namespace detail {

// Throws InvalidArgument. What is reserved with.
[[nodiscard]] ReserveOptions call_reservation(const CallOptions& options, Downstream downstream);

// The time that one lease has left, by the process's steady clock, which was read before the store's.
class LeaseTime {
 public:
  using Steady = std::chrono::steady_clock;

  // The lease is about to be asked for.
  void begin() { began_ = Steady::now(); }
  // May a call that takes `reserve.call_deadline` be sent, as far as lease and window go?
  [[nodiscard]] bool may_send(const Lease& lease, const ReserveOptions& reserve) const;

 private:
  Steady::time_point began_{};
};

inline constexpr std::chrono::milliseconds come_back{1000};

template <class Backend, class Begin, class Operation>
class ExternalCalling {
 public:
  ExternalCalling(const Backend& backend, Begin& begin, const Request& request, Operation& operation,
                  const CallOptions& options)
      : backend_{backend},
        begin_{begin},
        request_{request},
        operation_{operation},
        options_{options},
        reserve_{call_reservation(options, operation.downstream())} {
    validate(options);
  }

  Outcome run() {
    if (std::optional<Outcome> answered = reserve()) return *std::move(answered);
    try {
      if (!mark_sent()) return leave_for_the_next();
    } catch (const LeaseLost&) {
      return found();
    }
    return call_and_settle();
  }

  // Carries on with what there is. Empty, and nothing is changed, where the record is gone by now.
  std::optional<Outcome> resume() {
    only_resumes_ = true;
    try {
      return run();
    } catch (const NothingToResume&) {
      return std::nullopt;
    }
  }

 private:
  using Answer = AnswerOf<Operation>;
  struct NothingToResume {};

  [[nodiscard]] bool may_send() const { return time_.may_send(context_->lease, reserve_); }
  [[nodiscard]] bool deduplicates() const { return reserve_.downstream->window.has_value(); }

  void enter(const Lease& lease, How how) {
    context_ = CallContext{lease, how,
                           reserve_.downstream->key_per_generation
                               ? downstream_key(lease.key, lease.fingerprint, lease.generation)
                               : downstream_key(lease.key, lease.fingerprint),
                           reserve_.call_deadline};
  }

  // The first commit. Empty where the key was acquired.
  std::optional<Outcome> reserve() {
    return reserve_and_commit<std::optional<Outcome>>(
        backend_, begin_, request_, reserve_, options_.retry, [this] { time_.begin(); },
        [this](auto& tx, auto& /*store*/, const Acquired& acquired) -> std::optional<Outcome> {
          static_assert(
              ExternalOperation<Operation, std::remove_reference_t<decltype(tx)>>,
              "an operation has downstream, prepare, call, finish and unknown: see ExternalOperation");
          if (only_resumes_ && acquired.how == How::fresh) throw NothingToResume{};
          enter(acquired.lease, acquired.how);
          if (acquired.how == How::fresh) {
            operation_.prepare(tx, std::as_const(*context_));
            backend_.check_committable(tx);
          }
          return std::nullopt;
        },
        [this](auto& tx, auto& store, Reservation&& reservation) -> std::optional<Outcome> {
          if (auto* unknown = std::get_if<Unknown>(&reservation); unknown && unknown->turned) {
            enter(*unknown->turned, How::took_over);
            unknown->response = tell_unknown(tx, store);
          }
          return outcome_of(std::move(reservation));
        });
  }

  template <class Tx, class Store>
  Response tell_unknown(Tx& tx, Store& store) {
    Response response = ask_operation([&] { return operation_.unknown(tx, std::as_const(*context_)); });
    store.mark_unknown(context_->lease, response);
    return response;
  }

  // Whether the request may be sent now; where it may, and the downstream cannot deduplicate, the mark is committed.
  bool mark_sent() {
    // A slow commit, or the wait for a rival, may have used the lease up.
    if (!may_send()) {
      in_transaction([this](auto& /*tx*/, auto& store) {
        time_.begin();
        context_->lease = store.renew(context_->lease, reserve_.lease);
      });
    }
    if (!may_send()) return false;
    if (deduplicates()) return true;
    in_transaction([this](auto& /*tx*/, auto& store) { store.mark_sent(context_->lease); });
    return may_send();
  }

  // This lease has sent nothing, and never will. The record lapses at once, which is only to be quick about it.
  Outcome leave_for_the_next() {
    try {
      in_transaction([this](auto& /*tx*/, auto& store) { store.lapse(context_->lease); });
    } catch (const LeaseLost&) {
      return found();
    } catch (...) {  // NOLINT(bugprone-empty-catch): it lapses by itself
    }
    return InProgress{come_back};
  }

  Outcome call_and_settle() {
    std::optional<CallResult<Answer>> result;
    try {
      result.emplace(operation_.call(std::as_const(*context_)));
    } catch (...) {
      return not_known({}, std::current_exception());
    }
    if (auto* unknown = std::get_if<ResultUnknown>(&*result))
      return not_known(std::move(unknown->why), nullptr);
    try {
      return finish(std::get<Answer>(*result));
    } catch (...) {
      const std::exception_ptr failure = std::current_exception();
      if (is_lease_lost(failure)) return found();
      // The call was made, and its answer could not be kept.
      try {
        (void)not_known({}, failure);
      } catch (...) {  // NOLINT(bugprone-empty-catch): it lapses by itself, and the first failure says why
      }
      throw;
    }
  }

  // Runs a member of the operation's. A LeaseLost out of it is of another record, which it has in hand too.
  template <class Member>
  auto ask_operation(const Member& member) {
    operations_own_ = nullptr;
    try {
      return member();
    } catch (...) {
      operations_own_ = std::current_exception();
      throw;
    }
  }
  // Of this record?
  [[nodiscard]] bool is_lease_lost(const std::exception_ptr& failure) const {
    if (failure == operations_own_) return false;
    try {
      std::rethrow_exception(failure);
    } catch (const LeaseLost&) {
      return true;
    } catch (...) {
      return false;
    }
  }

  // The second commit.
  Outcome finish(const Answer& answer) {
    RetryOptions patient = options_.retry;
    patient.max_tries = std::max(patient.max_tries, options_.settle_tries);
    return in_transaction(patient, [&](auto& tx, auto& store) -> Outcome {
      // Before the business writes, so that they have no rival and are not made twice after a lost COMMIT.
      store.hold(context_->lease);
      Decision decision =
          ask_operation([&] { return operation_.finish(tx, std::as_const(*context_), answer); });
      const State state = decision.state();
      const TimePoint expires_at = state == State::completed
                                       ? store.complete(context_->lease, decision.response())
                                       : store.fail(context_->lease, decision.response());
      return Executed{state, std::move(decision).response(), expires_at};
    });
  }

  Outcome record_unknown() {
    if (deduplicates()) return leave_for_the_next();
    try {
      return in_transaction(
          [this](auto& tx, auto& store) -> Outcome { return Unknown{this->tell_unknown(tx, store)}; });
    } catch (...) {
      if (!is_lease_lost(std::current_exception())) throw;
      return found();
    }
  }

  // Records it, and tells of it whether or not that succeeded.
  Outcome not_known(std::string why, std::exception_ptr exception) {
    const auto report = [&] {
      if (options_.on_unknown) options_.on_unknown({*context_, std::move(why), std::move(exception)});
    };
    std::optional<Outcome> outcome;
    try {
      outcome = record_unknown();
    } catch (...) {
      report();
      throw;
    }
    report();
    return *std::move(outcome);
  }

  // What became of the record after this lease was lost.
  Outcome found() {
    return in_transaction([this](auto& /*tx*/, auto& store) -> Outcome {
      std::optional<Record> stored = store.find_stored(request_.key);
      if (!stored) return InProgress{come_back};
      if (!request_.fingerprint.matches(stored->fingerprint)) return Mismatch{};
      // Only now: whoever asks for something else has no use for this body's key.
      Record record = store.decoded(*std::move(stored));
      switch (record.state) {
        case State::completed:
        case State::failed:
          return Replay{record.state, std::move(record.response).value(), record.expires_at.value()};
        case State::unknown:
          return Unknown{std::move(record.response)};
        case State::in_progress:
          break;
      }
      return InProgress{come_back};
    });
  }

  template <class Body>
  auto in_transaction(const Body& body) {
    return in_transaction(options_.retry, body);
  }

  // Runs `body(tx, store)` in a transaction of its own and commits it; again after a conflict, a passing refusal, a lost
  // connection or a lost COMMIT. What `body` does must be refused, by its lease, where it was done before.
  template <class Body>
  auto in_transaction(const RetryOptions& retry, const Body& body) {
    Retries retries{retry};
    bool in_doubt = false;
    for (;;) {
      bool begun = false;
      bool committing = false;
      try {
        auto unit = begin_();
        begun = true;
        auto& tx = transaction_of(unit);
        const auto store = backend_.store(tx);
        if constexpr (std::is_void_v<decltype(body(tx, *store))>) {
          body(tx, *store);
          committing = true;
          commit(unit);
          return;
        } else {
          auto result = body(tx, *store);
          committing = true;
          commit(unit);
          return result;
        }
      } catch (const LeaseLost&) {
        throw;
      } catch (...) {
        const Failure failure = backend_.failure_of(std::current_exception());
        const bool not_known = failure == Failure::lost || failure == Failure::unknown;
        if (committing && not_known) in_doubt = true;
        const bool again =
            failure != Failure::definite && (failure != Failure::unknown || committing || !begun);
        retries.wait_or_rethrow(again, in_doubt);
      }
    }
  }

  const Backend& backend_;
  Begin& begin_;
  const Request& request_;
  Operation& operation_;
  const CallOptions& options_;
  const ReserveOptions reserve_;
  LeaseTime time_{};
  bool only_resumes_ = false;
  std::exception_ptr operations_own_{};   // what a member of the operation's threw last
  std::optional<CallContext> context_{};  // once the key was acquired, or the record turned UNKNOWN
};

}  // namespace detail

/// Carries out `operation` for the request: reserves and prepares, commits; calls, with no transaction open; finishes and
/// stores the answer, commits.
///
/// `begin()` as transact() takes it. Each unit of work is gone before the call, with its connection: a pool of the caller's
/// can lend it to others meanwhile.
///
/// - Executed: the call was made, by this call or for one that died, and its answer is stored. Answer the client.
/// - Replay, Mismatch: as execute() says.
/// - InProgress: somebody else is at it; or the result of the call is not known yet, and the next one who comes with this
///   key, or the recovery sweep, asks the downstream again under the same downstream key. Come back after `retry_after`.
/// - Unknown: the result is not known, and asking again could do it twice. Reconciliation settles it. Tell the client so.
///
/// One lease sends one request. What dies before the first commit leaves nothing. What dies after it is taken over once the
/// lease has lapsed, under the same downstream key, where the downstream deduplicates and its window is still open, or
/// where it was certainly not called; otherwise the record becomes UNKNOWN, and the operation's unknown() runs in that very
/// transaction. A call that throws or times out is never taken for an answer. A late answer settles its own record where
/// nobody took it over, UNKNOWN too; where somebody did, what they stored is the answer.
///
/// Conflicts and lost connections are retried within the bounds of the options, in each of its transactions; after the
/// reservation passing refusals too (a lock's or a statement's time-out, a server without memory or read-only). A lost COMMIT
/// is settled by the record.
/// Throws InvalidArgument before anything is sent; CommitUnknown where a COMMIT could not be settled (call again with the
/// same key); what reserve(), prepare(), unknown() and the database throw; and what finish() throws, after the result was
/// recorded as not known. After any of them call again with the same key.
///
/// No transaction is open during a pause or the call. Safe to call from several threads at once, each with an operation of
/// its own.
template <class Backend, class Begin, class Operation>
[[nodiscard]] Outcome external_call(const Backend& backend, Begin&& begin, const Request& request,
                                    Operation& operation, const CallOptions& options = {}) {
  return detail::ExternalCalling<Backend, std::remove_reference_t<Begin>, Operation>{backend, begin, request,
                                                                                     operation, options}
      .run();
}

}  // namespace v0
}  // namespace idem
