#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "../answer.hpp"
#include "../payment_service.hpp"
#include "../request_line.hpp"
#include "change.hpp"
#include "idem/postgres.hpp"
#include "scenes.hpp"

namespace payments::demo {
namespace {

constexpr const char* request_line =
    R"({"principal":"jon","key":"crash","body":{"amount_cents":1290,"currency":"EUR",)"
    R"("offering_id":"cpp-20","payment_method_token":"tok_visa_jon"}})";

// Held by the doomed process's connection, so that its end can be waited for: the server gives it up only
// after it has rolled the open transaction back.
constexpr const char* take_life_line = "SELECT pg_advisory_lock(hashtext('payments demo: life line'))";
constexpr const char* wait_for_its_end = "SELECT pg_advisory_xact_lock(hashtext('payments demo: life line'))";

class Pipe {
 public:
  Pipe() {
    if (pipe(ends_.data()) != 0) throw std::system_error{errno, std::generic_category(), "pipe"};
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close(ends_[0]);
    if (ends_[1] >= 0) close(ends_[1]);
  }

  void signal() const {
    const char byte = '!';
    if (write(ends_[1], &byte, 1) != 1) _exit(1);
  }
  /// False where every writer ended without a signal.
  [[nodiscard]] bool wait_for_signal() {
    close(ends_[1]);
    ends_[1] = -1;
    char byte = 0;
    ssize_t got = 0;
    do got = read(ends_[0], &byte, 1);
    while (got < 0 && errno == EINTR);
    return got == 1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// A unit of work that never commits: at that point it says so and waits to be killed, or for its parent's
// end.
class Doomed {
 public:
  Doomed(std::unique_ptr<pqxx::work> tx, const Pipe& reached, Pipe& leash)
      : tx_{std::move(tx)}, reached_{reached}, leash_{leash} {}
  pqxx::work& transaction() { return *tx_; }
  void commit() {
    reached_.signal();
    (void)leash_.wait_for_signal();
    _exit(1);
  }

 private:
  std::unique_ptr<pqxx::work> tx_;
  const Pipe& reached_;
  Pipe& leash_;
};

using Service = PaymentService<idem::postgres::Backend, PostgresRepository>;

[[noreturn]] void run_doomed(const std::string& database_url, const Service& service,
                             const PaymentRequest& request, const Pipe& reached, Pipe& leash) {
  try {
    examples::Session session{database_url};
    {
      const auto tx = session.begin();
      tx->exec(std::string{take_life_line});
      tx->commit();
    }
    (void)service.pay([&] { return Doomed{session.begin(), reached, leash}; }, request);
  } catch (...) {
  }
  _exit(1);  // without the signal, which tells the parent that it failed
}

}  // namespace

void crash(Report& report, const std::string& database_url) {
  report.heading("3. A crash: a process is killed (SIGKILL) after its business writes, before its commit");
  const idem::postgres::Backend backend;
  PostgresRepository repository;
  const Service service{backend, repository};
  const PaymentRequest request = RequestLineReader{}.read(request_line);

  Pipe reached;
  Pipe leash;  // held by this process alone, so that the other one never outlives it
  const pid_t child = fork();
  if (child < 0) throw std::system_error{errno, std::generic_category(), "fork"};
  if (child == 0) run_doomed(database_url, service, request, reached, leash);
  const bool at_the_commit = reached.wait_for_signal();

  examples::Session session{database_url};
  const auto ask = [&] { return answer_to(service.pay([&] { return session.begin(); }, request)); };
  const Change change{session};
  const int told = at_the_commit ? ask().response.status : 0;
  report.count("while it hangs there, a retry is told in progress (409)", told, 409);

  kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  report.count("killed by signal", at_the_commit && WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGKILL);
  session.begin()->exec(std::string{wait_for_its_end});
  change.show(report, 0);

  const Answer retry = ask();
  report.count("then the client retries: executed", retry.outcome == "executed" ? 1 : 0, 1);
  const Answer again = ask();
  report.count("and retries once more: replayed, the same answer",
               again.outcome == "replayed" && again.response == retry.response ? 1 : 0, 1);
  change.show(report, 1);
}

}  // namespace payments::demo
