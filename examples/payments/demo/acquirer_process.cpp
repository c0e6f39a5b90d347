#include "acquirer_process.hpp"

#include <httplib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "idem/idem.hpp"

namespace payments::demo {
namespace {

std::string body_of(const httplib::Result& answer) {
  if (!answer || answer->status != 200) throw std::runtime_error{"the acquirer does not answer"};
  return answer->body;
}

// Up to the first line feed, or the end.
std::string read_line(int file) {
  std::string line;
  for (char c = 0;;) {
    const ssize_t got = read(file, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1 || c == '\n') return line;
    line += c;
  }
}

}  // namespace

AcquirerProcess::AcquirerProcess()
    : ledger_file_{(std::filesystem::temp_directory_path() /
                    ("payments-demo-" + idem::random_uuid_v4().to_string() + ".ledger"))
                       .string()} {
  try {
    start();
  } catch (...) {
    stop();
    throw;
  }
}

AcquirerProcess::~AcquirerProcess() {
  stop();
}

void AcquirerProcess::swallow_one_answer() const {
  httplib::Client client{url_};
  (void)body_of(client.Post("/control", R"({"mode":"timeout_after","count":1})", "application/json"));
}

std::size_t AcquirerProcess::charges() const {
  return nlohmann::json::parse(ledger()).size();
}

std::string AcquirerProcess::first_charge() const {
  return nlohmann::json::parse(ledger()).at(0).at("charge_id").get<std::string>();
}

void AcquirerProcess::start() {
  std::array<int, 2> said{};
  if (pipe(said.data()) != 0) throw std::system_error{errno, std::generic_category(), "pipe"};
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ == 0) {
    // It never outlives the demo, however that ends.
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // NOLINT(cppcoreguidelines-pro-type-vararg): the system's own
    if (getppid() != parent) _exit(1);
    dup2(said[1], STDOUT_FILENO);
    close(said[0]);
    close(said[1]);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
    execl(PAYMENTS_DEMO_ACQUIRER, PAYMENTS_DEMO_ACQUIRER, "--listen", "127.0.0.1:0", "--ledger",
          ledger_file_.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(said[1]);
  const std::string line = process_ > 0 ? read_line(said[0]) : "";
  close(said[0]);
  constexpr std::string_view told = "listening on ";
  if (!line.starts_with(told)) throw std::runtime_error{"the acquirer does not start"};
  url_ = line.substr(told.size());
}

void AcquirerProcess::stop() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  std::error_code ignored;
  std::filesystem::remove(ledger_file_, ignored);
}

std::string AcquirerProcess::ledger() const {
  httplib::Client client{url_};
  return body_of(client.Get("/ledger"));
}

}  // namespace payments::demo
