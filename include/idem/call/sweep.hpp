// The recovery sweep: somebody owns the records that no client retries.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "idem/call/external_call.hpp"
#include "idem/record/lapsed.hpp"

namespace idem {
inline namespace v0 {

/// What one pass of a sweep came to.
struct SweepPass {
  std::size_t lapsed = 0;   ///< Records found lapsed.
  std::size_t settled = 0;  ///< Of those: settled now.
  std::size_t unknown = 0;  ///< UNKNOWN now: reconciliation settles them.
  std::size_t passed_over =
      0;                   ///< Still in progress: somebody else is at it, or the downstream does not answer.
  std::size_t failed = 0;  ///< Those that an exception left as they were.
  /// How long the oldest record has been in progress, lapsed or not, by the store's clock; empty where there is none.
  std::optional<std::chrono::microseconds> oldest_age{};
};

/// What a sweep does, and whom it tells.
struct SweepOptions {
  /// Whose records: the operation's name, as it is in their keys.
  std::string operation;
  /// As for external_call().
  CallOptions call{};
  /// Between two passes of run(). More than 0; default 5 s.
  std::chrono::milliseconds interval{std::chrono::seconds{5}};
  /// A pass of run() looks only where open records can be; but again at all of the table after this time, for a
  /// reservation that was long in committing. More than 0; default an hour.
  std::chrono::milliseconds full_interval{std::chrono::hours{1}};
  /// Told of each pass of run(); for metrics. None of these functions may throw.
  std::function<void(const SweepPass&)> on_pass{};
  /// Told of each record that an exception left as it was; for logs.
  std::function<void(const LapsedRecord&, const std::exception_ptr&)> on_error{};
  /// Told of each pass of run() that an exception ended; for logs. Set it: nobody else is told.
  std::function<void(const std::exception_ptr&)> on_failed_pass{};
};

/// Throws InvalidArgument where `options` break a limit.
void validate(const SweepOptions& options);

namespace detail {

// Waits for `duration`, or until a stop is requested.
void wait_or_stop(const std::stop_token& stop, std::chrono::milliseconds duration);

}  // namespace detail

/// Resumes the lapsed records of one operation through the operation itself, or makes them UNKNOWN, exactly as a retry of
/// the client would.
///
///     idem::Sweep sweep{backend, begin,
///                       [&](pqxx::dbtransaction& tx, const idem::LapsedRecord& lapsed) { return payment_of(tx, lapsed); },
///                       {.operation = "POST /payments"}};
///     std::jthread thread{[&](std::stop_token stop) { sweep.run(stop); }};      // or once: sweep.pass()
///
/// `recover(tx, lapsed)` makes the operation from its pending row, in a transaction that is then over: the operation, a
/// (smart) pointer to one or an optional; an empty one leaves the record alone.
///
/// Several sweeps, in one process or many, may run side by side: the lease decides who resumes a record. One record that
/// fails holds up no other. Backend must outlive it. Not thread-safe: a sweep is one thread's.
template <class Backend, class Begin, class Recover>
class Sweep {
 public:
  /// Throws InvalidArgument where the options break a limit.
  Sweep(const Backend& backend, Begin begin, Recover recover, SweepOptions options)
      : backend_{backend},
        begin_{std::move(begin)},
        recover_{std::move(recover)},
        options_{std::move(options)} {
    validate(options_);
  }
  /// A backend that ends with the expression.
  Sweep(const Backend&& backend, Begin begin, Recover recover, SweepOptions options) = delete;

  /// Goes once over all lapsed records, whatever their age; ends early where a stop is requested. Commits each record's
  /// transactions by itself. Throws what the database throws while records are listed; what a record throws is told to
  /// `on_error`.
  SweepPass pass(const std::stop_token& stop = {}) { return pass_since(std::nullopt, stop); }

  /// Passes again and again, `interval` apart, until a stop is requested; returns then, after the record at hand. A pass
  /// that fails, whatever the reason, is told to `on_failed_pass` and tried again after the interval: the thread of a
  /// service must not end because the tables are not there yet. Throws only what those functions throw.
  void run(const std::stop_token& stop) {
    using Steady = std::chrono::steady_clock;
    std::optional<Steady::time_point> full;
    while (!stop.stop_requested()) {
      const auto now = Steady::now();
      const bool whole = !full || now - *full >= options_.full_interval;
      try {
        const SweepPass passed = pass_since(whole ? std::nullopt : open_since_, stop);
        if (whole) full = now;
        if (options_.on_pass) options_.on_pass(passed);
      } catch (...) {
        if (options_.on_failed_pass) options_.on_failed_pass(std::current_exception());
      }
      detail::wait_or_stop(stop, options_.interval);
    }
  }

 private:
  SweepPass pass_since(std::optional<TimePoint> since, const std::stop_token& stop) {
    SweepPass passed;
    LapsedFilter filter{.operation = options_.operation, .created_since = since};
    std::optional<TimePoint> open_since;
    for (bool first = true;; first = false) {
      const LapsedPage page = list(filter);
      if (first) {
        // What is not older than this may still be in a transaction that nobody sees yet: a reservation takes less than its
        // lease to commit, or the whole table's turn finds it.
        open_since = std::min(page.oldest_open.value_or(page.now), page.now - options_.call.reserve.lease);
        if (page.oldest_open) passed.oldest_age = page.now - *page.oldest_open;
      }
      for (const LapsedRecord& lapsed : page.records) {
        if (stop.stop_requested()) return passed;
        ++passed.lapsed;
        ++(passed.*resumed(lapsed));
      }
      if (page.records.size() < filter.limit) break;
      filter.after = page.records.back();
    }
    open_since_ = open_since;
    return passed;
  }

  LapsedPage list(const LapsedFilter& filter) {
    auto unit = begin_();
    return backend_.lapsed_records(detail::transaction_of(unit), filter);
  }

  auto recovered(const LapsedRecord& lapsed) {
    auto unit = begin_();
    auto operation = recover_(detail::transaction_of(unit), lapsed);
    detail::commit(unit);
    return operation;
  }

  // Which count of the pass the record belongs to.
  std::size_t SweepPass::*resumed(const LapsedRecord& lapsed) {
    try {
      auto operation = recovered(lapsed);
      if constexpr (detail::Dereferenceable<decltype(operation)>) {
        return operation ? call(lapsed, *operation) : &SweepPass::passed_over;
      } else {
        return call(lapsed, operation);
      }
    } catch (...) {
      if (options_.on_error) options_.on_error(lapsed, std::current_exception());
      return &SweepPass::failed;
    }
  }

  template <class Operation>
  std::size_t SweepPass::*call(const LapsedRecord& lapsed, Operation& operation) {
    const Request request{lapsed.key, lapsed.fingerprint};
    const std::optional<Outcome> outcome =
        detail::ExternalCalling<Backend, Begin, Operation>{backend_, begin_, request, operation,
                                                           options_.call}
            .resume();
    // Gone: somebody settled it, and its answer has expired since it was listed.
    if (!outcome || std::holds_alternative<Executed>(*outcome) || std::holds_alternative<Replay>(*outcome))
      return &SweepPass::settled;
    return std::holds_alternative<Unknown>(*outcome) ? &SweepPass::unknown : &SweepPass::passed_over;
  }

  const Backend& backend_;
  Begin begin_;
  Recover recover_;
  SweepOptions options_;
  // No open record is older, as far as the last pass could see.
  std::optional<TimePoint> open_since_;
};

}  // namespace v0
}  // namespace idem
