#include "fault/http_load.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <pqxx/pqxx>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <variant>

#include "examples/program.hpp"
#include "examples/running_company.hpp"
#include "idem/http/client.hpp"
#include "keyed_post.hpp"
#include "postgres/test_database.hpp"

namespace idem::fault_test {
namespace {

using namespace std::chrono_literals;
using examples::Received;
using nlohmann::json;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

// Ample, so that only what hangs meets it.
constexpr std::chrono::seconds patience{60};

// Each attempt has one duplicate in four, of either kind: a fifth of all requests.
constexpr std::uint32_t one_in_concurrent = 8;
constexpr std::uint32_t one_in_late = 8;
constexpr std::uint32_t one_in_declined = 10;
constexpr std::uint32_t one_in_vanishes = 4;

// Short pauses, as the restarts are quick; whoever has no tries left begins anew.
constexpr http::ClientRuleOptions rule_options{.max_tries = 10, .first_pause = 50ms, .longest_pause = 2s};

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_{seed} {}
  bool one_in(std::uint32_t sides) { return below(sides) == 0; }
  std::uint64_t below(std::uint64_t end) {
    return std::uniform_int_distribution<std::uint64_t>{0, end - 1}(engine_);
  }

 private:
  std::mt19937 engine_;
};

struct Counters {
  std::atomic<std::uint64_t> attempts{0};
  std::atomic<std::uint64_t> concurrent{0};
  std::atomic<std::uint64_t> late{0};
  std::atomic<std::uint64_t> asked_again{0};
  std::atomic<std::uint64_t> answers{0};
  std::atomic<std::uint64_t> replays{0};
  std::atomic<std::uint64_t> in_progress{0};
  std::atomic<std::uint64_t> failures{0};
  std::atomic<std::uint64_t> no_answers{0};
  std::atomic<std::uint64_t> vanished{0};
  std::atomic<std::uint64_t> exhausted{0};
};

class Violations {
 public:
  void add(const std::string& violation) {
    const std::lock_guard lock{mutex_};
    found_.push_back(violation);
  }
  std::vector<std::string> take() {
    const std::lock_guard lock{mutex_};
    return std::move(found_);
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> found_;
};

struct Answer {
  int status = 0;
  std::string body;
  std::string content_type;
  std::string location;
  friend bool operator==(const Answer&, const Answer&) = default;
};

// One intended payment, and what was told of it. Its offering is its own, so that rows are found by it.
struct Intended {
  Intended(std::string its_offering, std::string its_principal, std::int64_t its_amount, bool is_declined,
           http::Intent its_intent)
      : offering{std::move(its_offering)},
        principal{std::move(its_principal)},
        amount{its_amount},
        declined{is_declined},
        intent{std::move(its_intent)} {}

  std::string offering;
  std::string principal;
  std::int64_t amount;
  bool declined;
  http::Intent intent;

  std::mutex mutex;
  std::optional<Answer> first;
};

// All intents of a run. Safe to share between threads.
class Intents {
 public:
  Intended& make(const std::string& principal, bool declined) {
    const std::lock_guard lock{mutex_};
    const std::size_t number = all_.size() + 1;
    const std::string offering = "offering-" + std::to_string(number);
    // The last two digits decide.
    const std::int64_t amount = static_cast<std::int64_t>(number) * 100 + (declined ? 13 : 90);
    const json body{{"amount_cents", amount},
                    {"currency", "EUR"},
                    {"offering_id", offering},
                    {"payment_method_token", "tok_load"}};
    all_.push_back(
        std::make_unique<Intended>(offering, principal, amount, declined, http::Intent::mint(body.dump())));
    return *all_.back();
  }
  void decided(Intended& intended) {
    const std::lock_guard lock{mutex_};
    decided_.push_back(&intended);
  }
  Intended* any_decided(Dice& dice) {
    const std::lock_guard lock{mutex_};
    return decided_.empty() ? nullptr : decided_[dice.below(decided_.size())];
  }
  // Once nobody makes any.
  [[nodiscard]] const std::vector<std::unique_ptr<Intended>>& all() const { return all_; }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Intended>> all_;
  std::vector<Intended*> decided_;
};

// What the clients of a run share.
struct Shared {
  const LoadOptions& options;
  std::string url;
  Counters counters{};
  Violations violations{};
  Intents intents{};
  std::atomic<bool> over{false};  // No new intents.
};

// A thread of a client's: what it throws is a violation, and the others go on.
template <class Work>
void guarded(Shared& shared, const Work& work) {
  try {
    work();
  } catch (const std::exception& failure) {
    shared.violations.add(std::string{"a client failed: "} + failure.what());
  }
}

// For one thread.
class Client {
 public:
  Client(Shared& shared, int number)
      : shared_{shared},
        principal_{"client-" + std::to_string(number)},
        fails_{shared.options.a_client_fails && number == 1},
        dice_{std::random_device{}()} {}

  // New intents until the load is over.
  void run() {
    if (fails_) throw std::runtime_error{"it was planted"};
    while (!shared_.over) {
      Intended& intended = shared_.intents.make(principal_, dice_.one_in(one_in_declined));
      drive(intended, /*may_vanish=*/true);
    }
  }

  // Those who never heard of their payment come back with what they had saved.
  void come_back() {
    for (Intended* intended : std::exchange(gone_, {})) {
      intended->intent = http::Intent::restore(intended->intent.save());
      drive(*intended, /*may_vanish=*/false);
    }
  }

  void ask_again(Intended& intended) {
    ++shared_.counters.asked_again;
    if (!told(intended, /*decided_before=*/true, send(intended))) {
      shared_.violations.add(intended.offering + ": no answer, and nobody was killed");
    }
  }

 private:
  [[nodiscard]] std::optional<Received> send(const Intended& intended) const {
    try {
      const examples::KeyedPost post{
          "the service", shared_.url, {{"Authorization", "Bearer demo-" + intended.principal}}};
      return post.send("/payments", intended.intent.header(), intended.intent.body(), patience);
    } catch (const examples::NotKnown&) {
      return std::nullopt;
    }
  }

  // Counts and compares. Was there an answer?
  bool told(Intended& intended, bool decided_before, const std::optional<Received>& received) {
    Counters& counters = shared_.counters;
    if (!received) {
      ++counters.no_answers;
      return false;
    }
    ++counters.answers;
    const bool replayed = received->header("Idempotent-Replayed") == "true";
    if (replayed) ++counters.replays;
    const auto wrong = [&](const std::string& what) {
      shared_.violations.add(intended.offering + ": " + what + ": " + std::to_string(received->status) + ' ' +
                             received->body);
    };
    if (received->status >= 500) {
      ++counters.failures;
      if (decided_before) wrong("decided, and failed");
    } else if (received->status == 409) {
      ++counters.in_progress;
      if (decided_before) wrong("decided, and in progress again");
    } else if (received->status != (intended.declined ? 402 : 201)) {
      wrong("another status");
    } else {
      Answer answer{received->status, received->body, std::string{received->header("Content-Type")},
                    std::string{received->header("Location")}};
      const std::lock_guard lock{intended.mutex};
      if (!intended.first) {
        intended.first = std::move(answer);
      } else if (!(answer == *intended.first)) {
        wrong("another answer");
      }
      if (decided_before && !replayed) wrong("decided, and carried out again");
    }
    return true;
  }

  // An attempt, and perhaps a duplicate at the same moment.
  std::optional<Received> attempt(Intended& intended) {
    ++shared_.counters.attempts;
    std::optional<Received> received;
    if (dice_.one_in(one_in_concurrent)) {
      ++shared_.counters.concurrent;
      std::barrier both{2};
      const std::jthread duplicate{[&] {
        both.arrive_and_wait();
        guarded(shared_, [&] { (void)told(intended, /*decided_before=*/false, send(intended)); });
      }};
      both.arrive_and_wait();
      received = send(intended);
    } else {
      received = send(intended);
    }
    (void)told(intended, /*decided_before=*/false, received);
    if (dice_.one_in(one_in_late)) ++late_;
    return received;
  }

  void drive(Intended& intended, bool may_vanish) {
    const auto end = Clock::now() + patience;
    http::ClientRule rule{rule_options};
    while (Clock::now() < end) {
      const std::optional<Received> received = attempt(intended);
      if (!received) {
        if (may_vanish && !shared_.options.mints_again && dice_.one_in(one_in_vanishes)) {
          ++shared_.counters.vanished;
          gone_.push_back(&intended);
          return;
        }
        if (shared_.options.mints_again) intended.intent = http::Intent::mint(intended.intent.body());
      }
      const http::Advice advice = received
                                      ? rule.after({.status = received->status,
                                                    .retry_after = received->header("Retry-After"),
                                                    .content_type = received->header("Content-Type"),
                                                    .idempotency_key = received->header("Idempotency-Key"),
                                                    .body = received->body})
                                      : rule.after_no_answer();
      if (std::holds_alternative<http::Done>(advice)) {
        shared_.intents.decided(intended);
        send_late_ones();
        return;
      }
      if (const auto* again = std::get_if<http::RetryAfter>(&advice)) {
        std::this_thread::sleep_for(again->delay);
      } else if (std::get<http::Stop>(advice).why == http::Stop::Why::exhausted) {
        ++shared_.counters.exhausted;
        rule = http::ClientRule{rule_options};
      } else {
        return;  // told() has said why.
      }
    }
    shared_.violations.add(intended.offering + ": never decided");
  }

  // Of anybody's payments.
  void send_late_ones() {
    for (; late_ > 0; --late_) {
      Intended& intended = *shared_.intents.any_decided(dice_);
      ++shared_.counters.late;
      (void)told(intended, /*decided_before=*/true, send(intended));
    }
  }

  Shared& shared_;
  std::string principal_;
  bool fails_;
  Dice dice_;
  std::uint64_t late_ = 0;  // Duplicates that are due.
  std::vector<Intended*> gone_;
};

// Each client in a thread of its own, to the end.
void all_at_once(Shared& shared, std::vector<std::unique_ptr<Client>>& clients,
                 const std::function<void(Client&, std::size_t)>& work) {
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    threads.emplace_back(
        [&shared, &work, &client = *clients[i], i] { guarded(shared, [&] { work(client, i); }); });
  }
}

// The rows of one offering.
struct Rows {
  struct Payment {
    std::string id;
    std::string state;
    std::string charge_id;
  };
  std::vector<Payment> payments;
  std::vector<std::string> events;  // type
  std::vector<json> charges;        // of the ledger
  int seats = 0;
  int receipts = 0;
  int applied = 0;  // by the consumer, duplicates that its tables would hide included
};

class HttpLoad {
 public:
  explicit HttpLoad(const LoadOptions& options) : options_{options} {
    serve("0");
    shared_.url = server_->url_once_listening();
    // A receipt that is there already hides a second delivery from the table, but not from a trigger before it.
    database_.execute(R"(
      CREATE TABLE applied (payment_id uuid NOT NULL);
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN INSERT INTO applied VALUES (NEW.payment_id); RETURN NEW; END$$;
      CREATE TRIGGER note BEFORE INSERT ON receipt FOR EACH ROW EXECUTE FUNCTION note())");
    acquirer_.control({{"mode", "late"},
                       {"delay_ms", options.acquirer_delay.count()},
                       {"deduplicate", !options.acquirer_forgets}});
  }

  LoadReport run() {
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 1; i <= options_.clients; ++i) clients.push_back(std::make_unique<Client>(shared_, i));

    const auto begin = Clock::now();
    {
      const std::jthread killing{[&] { kill_now_and_then(begin); }};
      all_at_once(shared_, clients, [](Client& client, std::size_t) { client.run(); });
    }
    if (failed_) std::rethrow_exception(failed_);

    // Nobody asks any more.
    expect("a key is stuck in progress", "SELECT NOT EXISTS (SELECT FROM idem_record WHERE state = 1)");
    all_at_once(shared_, clients, [](Client& client, std::size_t) { client.come_back(); });
    if (options_.replays_fail) database_.execute("ALTER TABLE idem_record RENAME TO hidden");
    all_at_once(shared_, clients, [&](Client& client, std::size_t first) {
      const auto& all = shared_.intents.all();
      for (std::size_t i = first; i < all.size(); i += clients.size()) client.ask_again(*all[i]);
    });
    if (options_.replays_fail) database_.execute("ALTER TABLE hidden RENAME TO idem_record");
    expect("an event is not delivered",
           "SELECT NOT EXISTS (SELECT FROM payment WHERE state = 'AUTHORIZED' AND NOT EXISTS (SELECT FROM "
           "receipt WHERE receipt.payment_id = payment.payment_id))");
    judge();
    stop();
    return report();
  }

 private:
  void serve(const std::string& port) {
    server_ = std::make_unique<examples_test::Running>(std::vector<std::string>{
        PAYMENTS, "serve", "--listen", "127.0.0.1:" + port, "--acquirer", acquirer_.url(), "--lease-ms",
        std::to_string(options_.lease.count()), "--database-url", database_.url()});
  }

  // And ends the load.
  void kill_now_and_then(Clock::time_point begin) {
    try {
      Dice dice{std::random_device{}()};
      const auto part = options_.duration / (options_.kills + 1);
      for (int i = 1; i <= options_.kills; ++i) {
        const Milliseconds sooner{dice.below(static_cast<std::uint64_t>(part.count()))};
        std::this_thread::sleep_until(begin + i * part + part / 2 - sooner);
        if (i % 2 == 1) wait_for_a_charge();
        kill();
      }
      std::this_thread::sleep_until(begin + options_.duration);
    } catch (...) {
      failed_ = std::current_exception();
    }
    in_duration_ = shared_.counters.answers;
    duration_ = std::chrono::duration_cast<Milliseconds>(Clock::now() - begin);
    shared_.over = true;
  }

  // Returns when one was made just now, so that its answer is still to come.
  void wait_for_a_charge() const {
    const auto size = std::filesystem::file_size(acquirer_.ledger_file());
    const auto end = Clock::now() + patience;
    while (std::filesystem::file_size(acquirer_.ledger_file()) == size) {
      if (Clock::now() > end) throw std::runtime_error{"nothing is charged"};
      std::this_thread::sleep_for(1ms);
    }
  }

  void kill() {
    const examples_test::Finished finished = server_->kill();
    if (finished.signal != SIGKILL) throw std::runtime_error{"the server had ended: " + finished.err};
    ++kills_;
    left_in_progress_ += count("SELECT count(*) FROM idem_record WHERE state = 1");
    serve(shared_.url.substr(shared_.url.rfind(':') + 1));
    if (server_->url_once_listening() != shared_.url) throw std::runtime_error{"it listens elsewhere"};
  }

  void stop() {
    server_->signal(SIGTERM);
    const examples_test::Finished finished = server_->wait_at_most(patience);
    if (finished.status != 0)
      wrong("the server ended with " + std::to_string(finished.status) + ": " + finished.err);
  }

  void wrong(const std::string& what) { shared_.violations.add(what); }

  [[nodiscard]] std::uint64_t count(const std::string& sql) const {
    return static_cast<std::uint64_t>(database_.number(sql));
  }

  // A state that comes by itself.
  void expect(const std::string& otherwise, const std::string& condition) {
    try {
      postgres_test::wait_until(database_, condition);
    } catch (const std::runtime_error&) {
      wrong(otherwise);
    }
  }

  [[nodiscard]] std::map<std::string, Rows> rows() {
    std::map<std::string, Rows> rows;
    std::map<std::string, Rows*> of_payment;
    const auto connection = database_.connect();
    pqxx::work tx{*connection};
    for (const auto& row : tx.exec(
             std::string{"SELECT offering_id, payment_id, state, coalesce(charge_id, '') FROM payment"})) {
      Rows& its = rows[row[0].as<std::string>()];
      its.payments.push_back({row[1].as<std::string>(), row[2].as<std::string>(), row[3].as<std::string>()});
      of_payment[its.payments.back().id] = &its;
    }
    const auto each = [&](const std::string& sql, const auto& use) {
      for (const auto& row : tx.exec(sql)) {
        const auto id = row[0].as<std::string>();
        const auto found = of_payment.find(id);
        if (found == of_payment.end()) {
          wrong("a row of no payment: " + id);
        } else {
          use(*found->second, row);
        }
      }
    };
    each("SELECT aggregate_id, event_type FROM idem_outbox",
         [](Rows& its, const auto& row) { its.events.push_back(row[1].template as<std::string>()); });
    each("SELECT payment_id FROM seat", [](Rows& its, const auto&) { ++its.seats; });
    each("SELECT payment_id FROM receipt", [](Rows& its, const auto&) { ++its.receipts; });
    each("SELECT payment_id FROM applied", [](Rows& its, const auto&) { ++its.applied; });
    for (json& charge : ledger_) {
      const auto found = of_payment.find(charge.at("reference").get<std::string>());
      if (found == of_payment.end()) {
        wrong("a charge of no payment: " + charge.dump());
      } else {
        found->second->charges.push_back(charge);
      }
    }
    return rows;
  }

  void judge() {
    ledger_ = acquirer_.ledger();
    std::map<std::string, Rows> all = rows();
    for (const auto& intended : shared_.intents.all()) {
      const auto node = all.extract(intended->offering);
      judge(*intended, node ? node.mapped() : Rows{});
    }
    for (const auto& [offering, its] : all) wrong(offering + ": a payment that nobody has asked for");
    if (ledger_.size() != shared_.intents.all().size()) {
      wrong(std::to_string(shared_.intents.all().size()) + " intents, and " + std::to_string(ledger_.size()) +
            " entries in the ledger");
    }
    if (const auto unknown = count("SELECT count(*) FROM idem_record WHERE state = 4"); unknown != 0) {
      wrong(std::to_string(unknown) + " keys are unknown");
    }
  }

  void judge(const Intended& intended, const Rows& its) {
    const auto is_wrong = [&](const std::string& what) { wrong(intended.offering + ": " + what); };
    const auto one = [&](const char* what, std::size_t number, std::size_t right) {
      if (number != right) is_wrong(std::to_string(number) + ' ' + what);
      return number == right;
    };
    const std::size_t if_approved = intended.declined ? 0 : 1;
    one("seats", static_cast<std::size_t>(its.seats), if_approved);
    one("receipts", static_cast<std::size_t>(its.receipts), if_approved);
    one("deliveries", static_cast<std::size_t>(its.applied), if_approved);
    if (one("events", its.events.size(), 1)) {
      const std::string right = intended.declined ? "PaymentDeclined" : "PaymentAuthorized";
      if (its.events[0] != right) is_wrong("its event is " + its.events[0]);
    }
    const bool one_charge = one("charges", its.charges.size(), 1);
    if (!one("payments", its.payments.size(), 1) || !one_charge) return;
    const json& charge = its.charges[0];
    const Rows::Payment& payment = its.payments[0];
    if (charge.at("outcome") != (intended.declined ? "declined" : "approved") ||
        charge.at("amount_cents") != intended.amount) {
      is_wrong("charged as " + charge.dump());
    }
    if (payment.state != (intended.declined ? "DECLINED" : "AUTHORIZED") ||
        payment.charge_id != charge.at("charge_id").get<std::string>()) {
      is_wrong("its payment is " + payment.state + ' ' + payment.charge_id);
    }
    if (!intended.first) return is_wrong("no answer");
    const json told = json::parse(intended.first->body);
    if (told.at("payment_id") != payment.id || told.at("charge_id") != charge.at("charge_id") ||
        told.at("amount_cents") != intended.amount) {
      is_wrong("its client was told " + intended.first->body);
    }
  }

  [[nodiscard]] LoadReport report() {
    const Counters& counted = shared_.counters;
    LoadReport report;
    report.duration = duration_;
    report.in_duration = in_duration_;
    report.intents = shared_.intents.all().size();
    report.attempts = counted.attempts;
    report.concurrent = counted.concurrent;
    report.late = counted.late;
    report.asked_again = counted.asked_again;
    report.answers = counted.answers;
    report.replays = counted.replays;
    report.in_progress = counted.in_progress;
    report.failures = counted.failures;
    report.no_answers = counted.no_answers;
    report.vanished = counted.vanished;
    report.exhausted = counted.exhausted;
    report.kills = kills_;
    report.left_in_progress = left_in_progress_;
    report.charges = ledger_.size();
    report.declines = static_cast<std::uint64_t>(std::ranges::count_if(
        ledger_, [](const json& charge) { return charge.at("outcome") == "declined"; }));
    report.taken_over = count("SELECT count(*) FROM idem_record WHERE taken_over");
    report.lease = options_.lease;
    report.longest_in_progress = Milliseconds{database_.number(
        "SELECT coalesce(max(extract(epoch FROM finished_at - created_at) * 1000)::bigint, 0) FROM "
        "idem_record")};
    report.violations = shared_.violations.take();
    return report;
  }

  LoadOptions options_;
  Shared shared_{.options = options_, .url = {}};
  postgres_test::TestDatabase database_;
  examples_test::RunningAcquirer acquirer_;
  std::unique_ptr<examples_test::Running> server_;  // Ends before what it needs.
  int kills_ = 0;
  std::uint64_t left_in_progress_ = 0;
  std::uint64_t in_duration_ = 0;
  Milliseconds duration_{};
  std::exception_ptr failed_;
  json ledger_;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const LoadReport& report) {
  const std::uint64_t duplicates = report.concurrent + report.late;
  const std::uint64_t requests = report.attempts + duplicates;
  const auto milliseconds = std::max<std::uint64_t>(static_cast<std::uint64_t>(report.duration.count()), 1);
  return out << "load of " << report.duration.count() << " ms: " << report.in_duration * 1000 / milliseconds
             << " requests answered a second\n"
             << report.intents << " distinct intents; " << report.charges << " in the ledger, "
             << report.declines << " of them declined\n"
             << requests << " requests: " << report.attempts << " attempts, " << duplicates << " duplicates ("
             << duplicates * 100 / std::max<std::uint64_t>(requests, 1) << " %; " << report.concurrent
             << " at the same moment, " << report.late << " after the answer); " << report.asked_again
             << " asked again at the end\n"
             << report.answers << " answers: " << report.replays << " replays, " << report.in_progress
             << " times 409, " << report.failures << " times 5xx; " << report.no_answers
             << " requests without an answer\n"
             << report.kills << " kills, which left " << report.left_in_progress << " keys in progress; "
             << report.taken_over << " were taken over\n"
             << report.vanished << " clients vanished after no answer, " << report.exhausted
             << " times a rule's tries were over\n"
             << "longest in progress: " << report.longest_in_progress.count() << " ms, with a lease of "
             << report.lease.count() << " ms\n";
}

LoadReport run_load(const LoadOptions& options) {
  return HttpLoad{options}.run();
}

}  // namespace idem::fault_test
