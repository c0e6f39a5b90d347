// An acquirer in memory, for the unit tests of operations that call one.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "idem/call/external_call.hpp"

namespace idem {
inline namespace v0 {
namespace testing {

/// What the fake does with the next charge.
enum class FakeCharge {
  approve,
  decline,
  time_out_before,  ///< Nothing is charged, and there is no answer.
  time_out_after,   ///< It is charged, and there is no answer.
  throw_after,      ///< It is charged, and the call ends with an exception.
};

/// Charges what it is asked to, remembers each charge, and holds its callers to the rules of a downstream: a key is never
/// empty, and never used for two different charges. Safe between threads.
///
///     idem::testing::FakeAcquirer acquirer;
///     acquirer.then(idem::testing::FakeCharge::time_out_after);
///     … acquirer.charge(context.downstream_key, "1290 EUR") …
///     EXPECT_EQ(acquirer.ledger().size(), 1);
class FakeAcquirer {
 public:
  /// The same for the same key, where it deduplicates.
  struct Answer {
    bool approved = false;
    std::string reference{};
    friend bool operator==(const Answer&, const Answer&) = default;
  };
  struct Entry {
    std::string key;
    std::string parameters;
    Answer answer;
  };

  explicit FakeAcquirer(bool deduplicates = true) : deduplicates_{deduplicates} {}

  /// Queues what is done with charges to come; after that it approves.
  void then(FakeCharge what) {
    const std::scoped_lock lock{mutex_};
    planned_.push_back(what);
  }

  /// Charges `parameters` under `key`: the stored answer for a key that it knows, a decline too.
  [[nodiscard]] CallResult<Answer> charge(const std::string& key, const std::string& parameters) {
    const std::scoped_lock lock{mutex_};
    ++calls_;
    if (key.empty()) throw std::logic_error{"a charge without a key"};
    if (deduplicates_) {
      if (const auto known = known_.find(key); known != known_.end()) {
        const Entry& entry = ledger_[known->second];
        if (entry.parameters != parameters) return ResultUnknown{"this key was used for another charge"};
        return entry.answer;
      }
    }
    FakeCharge what = FakeCharge::approve;
    if (!planned_.empty()) {
      what = planned_.front();
      planned_.pop_front();
    }
    if (what == FakeCharge::time_out_before) return ResultUnknown{"timed out"};
    const Answer answer{what != FakeCharge::decline, "ch_" + std::to_string(ledger_.size() + 1)};
    known_[key] = ledger_.size();
    ledger_.push_back({key, parameters, answer});
    if (what == FakeCharge::time_out_after) return ResultUnknown{"timed out"};
    if (what == FakeCharge::throw_after) throw std::runtime_error{"the connection was lost"};
    return answer;
  }

  /// Everything that was charged or declined, in order.
  [[nodiscard]] std::vector<Entry> ledger() const {
    const std::scoped_lock lock{mutex_};
    return ledger_;
  }
  /// How many requests came.
  [[nodiscard]] std::size_t calls() const {
    const std::scoped_lock lock{mutex_};
    return calls_;
  }

 private:
  const bool deduplicates_;
  mutable std::mutex mutex_;
  std::deque<FakeCharge> planned_;
  std::vector<Entry> ledger_;
  std::map<std::string, std::size_t> known_;
  std::size_t calls_ = 0;
};

}  // namespace testing
}  // namespace v0
}  // namespace idem
