#include "interleavings/invariants.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace idem::interleavings {
namespace {

using Transaction = std::pair<std::size_t, std::size_t>;

// A settled answer that somebody was given.
struct Answer {
  Settled settled;
  std::size_t returned;  // the round
};

class Check {
 public:
  Check(const std::vector<Event>& history, const Tables& tables) : history_{history}, tables_{tables} {
    for (const Event& event : history_) {
      if (event.committed) committed_.emplace(transaction_of(event), event.ended);
      if (event.lost) lost_.insert(transaction_of(event));
      if (event.expired) expiries_.push_back(event.ended);
    }
    for (const Event& event : history_) {
      const auto commit = committed_.find(transaction_of(event));
      if (event.settled && commit != committed_.end()) executed_.push_back({*event.settled, commit->second});
    }
    std::stable_sort(executed_.begin(), executed_.end(),
                     [](const Answer& a, const Answer& b) { return a.returned < b.returned; });
  }

  std::vector<std::string> run(bool has_record) {
    effects();
    answers();
    executions_after_an_answer();
    fences();
    calls();
    if (has_record) record();
    return std::move(found_);
  }

 private:
  static Transaction transaction_of(const Event& event) { return {event.session, event.transaction}; }
  void wrong(const std::string& what) { found_.push_back(what); }

  [[nodiscard]] bool expired_between(std::size_t after, std::size_t until) const {
    return std::any_of(expiries_.begin(), expiries_.end(),
                       [&](std::size_t round) { return after < round && round <= until; });
  }

  void effects() {
    std::map<std::int64_t, int> of_generation;
    std::set<Transaction> transactions;
    for (const Effect& effect : tables_.effects) {
      ++of_generation[effect.generation];
      const Transaction transaction{effect.session, effect.transaction};
      transactions.insert(transaction);
      if (lost_.contains(transaction)) wrong("a transaction has committed after LeaseLost");
      if (!committed_.contains(transaction)) wrong("a transaction whose end was not a commit has an effect");
    }
    for (const auto& [generation, count] : of_generation) {
      if (count > 1) wrong(std::to_string(count) + " committed effects of one generation");
    }
    if (of_generation.size() > 1 + expiries_.size())
      wrong("an effect of a second generation, and nothing expired");
    for (const Event& event : history_) {
      if (event.paid && event.settled && committed_.contains(transaction_of(event)) &&
          !transactions.contains(transaction_of(event))) {
        wrong("a committed execution has no effect");
      }
    }
  }

  // Collects all answers, and compares them byte by byte.
  void answers() {
    answers_ = executed_;
    for (const Answer& one : executed_) {
      for (const Answer& other : executed_) {
        if (one.settled.generation == other.settled.generation && !same(one.settled, other.settled)) {
          wrong("one generation was settled with two answers");
          return;
        }
      }
    }
    for (const Event& event : history_) {
      const auto* replay = event.reservation ? std::get_if<Replay>(&*event.reservation) : nullptr;
      if (!replay) continue;
      const auto origin = std::find_if(executed_.begin(), executed_.end(), [&](const Answer& answer) {
        return answer.settled.state == replay->state && answer.settled.response == replay->response;
      });
      if (origin == executed_.end()) {
        wrong("a replay of bytes that no committed execution gave");
        continue;
      }
      if (event.started > 0 && expired_between(origin->returned, event.started - 1))
        wrong("an expired answer was replayed");
      answers_.push_back({origin->settled, event.ended});
    }
  }

  void executions_after_an_answer() {
    for (const Answer& answer : answers_) {
      for (const Event& event : history_) {
        if (event.started <= answer.returned) continue;
        const auto* acquired = event.reservation ? std::get_if<Acquired>(&*event.reservation) : nullptr;
        if (acquired && (acquired->lease.generation == answer.settled.generation ||
                         !expired_between(answer.returned, event.ended))) {
          wrong("a key was acquired after a settled answer had been returned");
        }
        if (event.paid == answer.settled.generation && committed_.contains(transaction_of(event))) {
          wrong("a committed execution began after a settled answer had been returned");
        }
      }
    }
  }

  void fences() {
    for (const Event& earlier : history_) {
      for (const Event& later : history_) {
        if (later.ended <= earlier.ended || !earlier.reservation || !later.reservation) continue;
        const auto* first = std::get_if<Acquired>(&*earlier.reservation);
        const auto* second = std::get_if<Acquired>(&*later.reservation);
        if (!first || !second || second->how == How::again) continue;
        if (second->lease.holder.fence <= first->lease.holder.fence) wrong("a fence did not grow");
      }
    }
  }

  void calls() {
    if (std::count_if(history_.begin(), history_.end(), [](const Event& event) { return event.called; }) >
        1) {
      wrong("a downstream that cannot deduplicate was called twice");
    }
  }

  void record() {
    if (executed_.empty()) return;
    const Answer& last = executed_.back();
    if (expired_between(last.returned, history_.back().ended)) return;
    if (!tables_.record || tables_.record->state != last.settled.state ||
        tables_.record->response != last.settled.response) {
      wrong("the record does not hold the committed answer");
    }
  }

  static bool same(const Settled& one, const Settled& other) {
    return one.state == other.state && one.response == other.response;
  }

  const std::vector<Event>& history_;
  const Tables& tables_;
  std::map<Transaction, std::size_t> committed_;  // and the round in which the commit returned
  std::set<Transaction> lost_;
  std::vector<std::size_t> expiries_;
  std::vector<Answer> executed_;  // in the order of their commits
  std::vector<Answer> answers_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> violations(const std::vector<Event>& history, const Tables& tables,
                                    bool has_record) {
  return Check{history, tables}.run(has_record);
}

}  // namespace idem::interleavings
