#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <pqxx/pqxx>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>

#include "../acquirer_at.hpp"
#include "../run.hpp"
#include "acquirer_process.hpp"
#include "change.hpp"
#include "scenes.hpp"

namespace payments::demo {
namespace {

constexpr const char* request_line =
    R"({"principal":"lea","key":"lost-approval","body":{"amount_cents":1290,"currency":"EUR",)"
    R"("offering_id":"cpp-20","payment_method_token":"tok_visa_lea"}})";

nlohmann::json ask(const std::string& database_url, const Charging& charging) {
  std::istringstream requests{request_line};
  std::stringstream answers;
  run(database_url, requests, answers, &charging);
  std::string first;
  std::getline(answers, first);
  return nlohmann::json::parse(first);
}

// Asks the acquirer, and waits for an answer that never comes.
[[noreturn]] void run_doomed(const std::string& database_url, const Charging& charging, pid_t parent) {
  try {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // NOLINT(cppcoreguidelines-pro-type-vararg): the system's own
    if (getppid() == parent) (void)ask(database_url, charging);
  } catch (...) {
  }
  _exit(1);  // without the signal, which tells the parent that it failed
}

std::string charge_of_lea(examples::Session& session) {
  const auto tx = session.begin();
  const pqxx::result rows = tx->exec(std::string{"SELECT charge_id FROM payment WHERE principal = 'lea'"});
  return rows.size() == 1 ? rows[0][0].as<std::string>("") : "";
}

bool has_ended(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

}  // namespace

void lost_approval(Report& report, const std::string& database_url) {
  report.heading("5. The acquirer approves, and the process is killed (SIGKILL) before it can commit that");
  const AcquirerProcess acquirer;
  // A lease that ends when this scene says so.
  const Charging charging{.ask = acquirer_at(acquirer.url()),
                          .lease = std::chrono::minutes{10},
                          .deadline = std::chrono::minutes{5}};
  acquirer.swallow_one_answer();

  examples::Session session{database_url};
  const Change change{session};
  const Summary before = read_summary(*session.begin());
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::system_error{errno, std::generic_category(), "fork"};
  if (child == 0) run_doomed(database_url, charging, parent);
  std::size_t charged = 0;
  try {
    while ((charged = acquirer.charges()) == 0 && !has_ended(child)) {
      std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
  } catch (...) {
    kill(child, SIGKILL);
    (void)waitpid(child, nullptr, 0);
    throw;
  }
  kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }

  report.count("charges in the acquirer's ledger", static_cast<std::int64_t>(charged), 1);
  report.count("killed by signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGKILL);
  const Summary between = read_summary(*session.begin());
  report.count("new in the database: payments pending", between.pending - before.pending, 1);
  change.show(report, 0);
  report.count("while its lease is live, a retry is told in progress (409)",
               ask(database_url, charging).at("status").get<std::int64_t>(), 409);

  report.text("here the lease ends (the demo ends it, so that nobody waits for it)");
  {
    const auto tx = session.begin();
    tx->exec(
        std::string{"UPDATE idem_record SET lease_until = clock_timestamp() WHERE principal = 'lea' AND "
                    "idempotency_key = 'lost-approval'"});
    tx->commit();
  }
  const nlohmann::json retry = ask(database_url, charging);
  report.count("then the client retries: executed", retry.at("outcome") == "executed" ? 1 : 0, 1);
  const nlohmann::json again = ask(database_url, charging);
  const bool same = again.at("outcome") == "replayed" && again.at("body_sha256") == retry.at("body_sha256");
  report.count("and retries once more: replayed, the same answer", same ? 1 : 0, 1);
  report.count("charges in the acquirer's ledger", static_cast<std::int64_t>(acquirer.charges()), 1);
  report.count("and it is the one of the payment", charge_of_lea(session) == acquirer.first_charge() ? 1 : 0,
               1);
  const Summary after = read_summary(*session.begin());
  report.count("new in the database: payments pending", after.pending - before.pending, 0);
  report.count("new in the outbox: events", after.events - before.events, 1);
  change.show(report, 1);
}

}  // namespace payments::demo
