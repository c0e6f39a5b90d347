#include "interleavings/explorer.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "idem/base/error.hpp"
#include "idem/base/uuid.hpp"
#include "interleavings/invariants.hpp"
#include "postgres/pqxx_compat.hpp"

namespace idem::interleavings {
namespace {

using postgres_test::TestDatabase;
using Clock = std::chrono::steady_clock;

// Who waits for whom, by number.
using Waits = std::set<std::pair<std::size_t, std::size_t>>;

bool in_a_circle(const Waits& waits) {
  Waits reached = waits;
  for (std::size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (const auto& [a, b] : Waits{reached}) {
      for (const auto& [c, d] : waits) {
        if (b == c) reached.emplace(a, d);
      }
    }
  }
  return std::any_of(reached.begin(), reached.end(),
                     [](const auto& pair) { return pair.first == pair.second; });
}

// Runs the step; the failures that a schedule may bring about become its answer.
void run_step(const Step& step, Session& session, Event& event) {
  try {
    step.run(session, event);
    return;
  } catch (const AlreadySettled&) {
    event.answer = "AlreadySettled";
    event.lost = true;
  } catch (const LeaseLost&) {
    event.answer = "LeaseLost";
    event.lost = true;
  } catch (const TransactionConflict&) {
    event.answer = "TransactionConflict";
  } catch (const std::exception& failure) {
    const std::string code = postgres::sqlstate(failure);
    if (code != "40001" && code != "40P01") throw;
    event.answer = code;
  }
  if (event.lost) session.lease.reset();
  session.doom();
}

// The sessions whose step has ended since the explorer looked last.
struct Ends {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::size_t> sessions;
};

// A session and its thread.
class Worker {
 public:
  Worker(Session session, Ends& ends) : session_{std::move(session)}, ends_{ends} {
    thread_ = std::thread{[this] { serve(); }};
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    {
      const std::lock_guard lock{mutex_};
      stop_ = true;
    }
    given_.notify_one();
    thread_.join();
  }

  // Only while no step runs.
  Session& session() { return session_; }

  void start(const Step& step, Event event) {
    {
      const std::lock_guard lock{mutex_};
      event_ = std::move(event);
      step_ = &step;
    }
    given_.notify_one();
  }

  // Of the step that has ended.
  Event take_event() {
    const std::lock_guard lock{mutex_};
    if (unexpected_) std::rethrow_exception(std::exchange(unexpected_, nullptr));
    return std::move(event_);
  }

 private:
  void serve() {
    std::unique_lock lock{mutex_};
    for (;;) {
      given_.wait(lock, [&] { return stop_ || step_ != nullptr; });
      if (stop_) return;
      try {
        run_step(*std::exchange(step_, nullptr), session_, event_);
      } catch (...) {
        unexpected_ = std::current_exception();
      }
      const std::lock_guard ending{ends_.mutex};
      ends_.sessions.push_back(session_.number());
      ends_.changed.notify_one();
    }
  }

  Session session_;
  Ends& ends_;
  std::mutex mutex_;  // held by the thread while a step runs
  std::condition_variable given_;
  const Step* step_ = nullptr;
  Event event_;
  std::exception_ptr unexpected_;
  bool stop_ = false;
  std::thread thread_;
};

class Explorer {
 public:
  Explorer(const TestDatabase& database, const Scenario& scenario)
      : database_{database}, scenario_{scenario}, control_{database.connect()} {
    for (std::size_t number = 0; number < scenario.sessions.size(); ++number) {
      auto connection = database.connect();
      pqxx::nontransaction{*connection}.exec("SET deadlock_timeout = '20ms'");
      workers_.push_back(std::make_unique<Worker>(
          Session{number, database.backend(), std::move(connection), scenario.level}, ends_));
      pids_.push_back(workers_.back()->session().pid());
    }
  }

  // Threads that still wait for the server are joined, so what they wait for has to end.
  ~Explorer() {
    for (const std::size_t number : in_flight_) {
      try {
        pqxx::nontransaction{*control_}.exec("SELECT pg_terminate_backend(" + std::to_string(pids_[number]) +
                                             ")");
      } catch (const std::exception& failure) {
        std::cerr << "interleavings: a session could not be ended: " << failure.what() << '\n';
      }
    }
  }
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;

  Report run() {
    do {
      run_schedule();
      ++report_.schedules;
      std::string wrong;
      for (const std::string& violation : violations(history_, read_tables(), scenario_.has_record)) {
        wrong += "\n  " + violation;
      }
      for (const Event& event : history_) report_.answers.insert(event.step + ": " + event.answer);
      if (wrong.empty()) continue;
      if (report_.violating++ == 0) report_.first_violation = "after" + schedule() + wrong;
    } while (next_schedule());
    std::cout << "interleavings: " << scenario_.name << ", " << name_of(scenario_.level) << ": "
              << report_.schedules << " schedules, " << report_.violating << " violations" << std::endl;
    return std::move(report_);
  }

 private:
  struct Choice {
    std::vector<std::size_t> options;
    std::size_t taken = 0;
  };

  // The last choice that has an untried option takes it, and those after it are made anew.
  bool next_schedule() {
    while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().options.size())
      choices_.pop_back();
    if (choices_.empty()) return false;
    ++choices_.back().taken;
    return true;
  }

  void run_schedule() {
    key_ = {"tenant", "pay", random_uuid_v4().to_string()};
    history_.clear();
    order_.clear();
    position_.assign(workers_.size(), 0);
    in_flight_.clear();
    for (const auto& worker : workers_) worker->session().begin_schedule(key_);
    try {
      std::size_t depth = 0;
      for (std::size_t round = 0;; ++round) {
        const std::vector<std::size_t> options = schedulable();
        if (options.empty()) break;
        const std::size_t chosen =
            round < scenario_.prefix.size() ? scenario_.prefix[round] : choose(depth++, options);
        if (std::find(options.begin(), options.end(), chosen) == options.end()) {
          throw std::logic_error{"the scenario's prefix names a session that cannot go on"};
        }
        start(chosen, round);
        settle(round);
      }
    } catch (const std::exception& failure) {
      throw std::runtime_error{scenario_.name + ": " + failure.what() + "\nafter" + schedule()};
    }
    for (const auto& worker : workers_) worker->session().begin_schedule(key_);
  }

  // The sessions that have a step left and wait for nobody. Steps that are left out are passed over.
  std::vector<std::size_t> schedulable() {
    std::vector<std::size_t> options;
    for (std::size_t number = 0; number < workers_.size(); ++number) {
      if (in_flight_.contains(number)) continue;
      const auto& steps = scenario_.sessions[number];
      std::size_t& at = position_[number];
      while (at < steps.size() && !steps[at].when(workers_[number]->session())) ++at;
      if (at < steps.size()) options.push_back(number);
    }
    return options;
  }

  std::size_t choose(std::size_t depth, const std::vector<std::size_t>& options) {
    if (depth == choices_.size()) choices_.push_back({options});
    const Choice& choice = choices_[depth];
    if (choice.options != options) throw std::logic_error{"the schedule did not repeat"};
    return choice.options[choice.taken];
  }

  void start(std::size_t number, std::size_t round) {
    const Step& step = scenario_.sessions[number][position_[number]++];
    Event event;
    event.session = number;
    event.transaction = workers_[number]->session().transaction_number();
    event.step = step.name;
    event.started = round;
    order_.push_back(std::to_string(number + 1) + "." + step.name);
    in_flight_.insert(number);
    workers_[number]->start(step, std::move(event));
  }

  // Until each step that was begun has ended or waits for another session, and no circle of waits is left.
  void settle(std::size_t round) {
    const auto deadline = Clock::now() + std::chrono::minutes{1};
    Waits before;
    for (;;) {
      // How long only says when the server is asked: what is decided never hangs on it.
      const auto moment = std::chrono::milliseconds{before.empty() ? 1 : 0};
      if (take_ended(round, moment)) before.clear();
      if (in_flight_.empty()) return;
      const Waits waits = who_waits();
      std::set<std::size_t> waiting;
      for (const auto& [waiter, holder] : waits) waiting.insert(waiter);
      // Twice the same: one look takes its sessions in one after the other.
      if (waiting == in_flight_ && waits == before && !in_a_circle(waits)) return;
      before = waits;
      if (Clock::now() > deadline)
        throw std::runtime_error{"a step has neither ended nor waited for a minute"};
    }
  }

  // Waits at most `moment` for an end, and takes the events of the steps that have ended. True where there was one.
  bool take_ended(std::size_t round, std::chrono::milliseconds moment) {
    std::vector<std::size_t> done;
    {
      std::unique_lock lock{ends_.mutex};
      ends_.changed.wait_for(lock, moment, [&] { return !ends_.sessions.empty(); });
      done.swap(ends_.sessions);
    }
    std::sort(done.begin(), done.end());
    for (const std::size_t number : done) {
      in_flight_.erase(number);
      Event event = workers_[number]->take_event();
      event.ended = round;
      history_.push_back(std::move(event));
    }
    return !done.empty();
  }

  Waits who_waits() {
    std::string pairs;
    for (const std::size_t waiter : in_flight_) {
      for (std::size_t holder = 0; holder < workers_.size(); ++holder) {
        if (waiter == holder) continue;
        if (!pairs.empty()) pairs += ", ";
        pairs += "(" + std::to_string(waiter) + ", " + std::to_string(pids_[waiter]) + ", " +
                 std::to_string(holder) + ", " + std::to_string(pids_[holder]) + ")";
      }
    }
    pqxx::nontransaction tx{*control_};
    const pqxx::result rows =
        tx.exec("SELECT waiter, holder FROM (VALUES " + pairs +
                ") AS pair (waiter, waiter_pid, holder, holder_pid) "
                "WHERE pg_isolation_test_session_is_blocked(waiter_pid, ARRAY[holder_pid])");
    Waits waits;
    for (const auto& row : rows) waits.emplace(row[0].as<std::size_t>(), row[1].as<std::size_t>());
    return waits;
  }

  Tables read_tables() {
    pqxx::work tx{*control_};
    Tables tables;
    for (const auto& row :
         tx.exec("SELECT session, transaction, generation FROM effect WHERE key = " + tx.quote(key_.value))) {
      tables.effects.push_back(
          {row[0].as<std::size_t>(), row[1].as<std::size_t>(), row[2].as<std::int64_t>()});
    }
    if (scenario_.has_record) tables.record = database_.backend().store(tx)->find(key_);
    return tables;
  }

  // The steps in the order in which they were begun, and what those that have ended were answered.
  [[nodiscard]] std::string schedule() const {
    std::string text;
    for (const std::string& step : order_) text += " " + step;
    text += "\n  answers, as they came:";
    for (const Event& event : history_) {
      text += " " + std::to_string(event.session + 1) + "." + event.step + " (" + event.answer + ")";
    }
    return text;
  }

  const TestDatabase& database_;
  const Scenario& scenario_;
  std::unique_ptr<pqxx::connection> control_;
  Ends ends_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<int> pids_;
  std::vector<Choice> choices_;
  Report report_;

  // Of the schedule that runs.
  Key key_;
  std::vector<Event> history_;
  std::vector<std::string> order_;
  std::vector<std::size_t> position_;  // each session's next step
  std::set<std::size_t> in_flight_;    // sessions whose step has begun and not ended
};

}  // namespace

void create_business_tables(const TestDatabase& database) {
  database.execute(
      "CREATE TABLE effect (key text NOT NULL, session int NOT NULL, transaction int NOT NULL, "
      "generation bigint NOT NULL);"
      "CREATE INDEX ON effect (key)");
}

Report explore(const TestDatabase& database, const Scenario& scenario) {
  return Explorer{database, scenario}.run();
}

}  // namespace idem::interleavings
