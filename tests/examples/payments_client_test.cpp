// `payments client` against `payments serve`, or against something that answers worse.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "examples/payments_server.hpp"
#include "examples/tcp.hpp"

namespace idem::examples_test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
namespace fs = std::filesystem;

// Gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() { fs::create_directory(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  const TemporaryFile name_{""};
  const std::string path_ = name_.path() + "-folder";
};

// The names that files are given in a folder, from now on.
class Names {
 public:
  explicit Names(const std::string& folder) {
    if (watch_ < 0 || inotify_add_watch(watch_, folder.c_str(), IN_CREATE | IN_MOVED_TO) < 0) {
      throw std::runtime_error{"a folder cannot be watched"};
    }
  }
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;
  ~Names() { close(watch_); }

  [[nodiscard]] std::vector<std::string> take() const {
    std::vector<std::string> names;
    std::array<char, 16384> events{};
    const ssize_t size = read(watch_, events.data(), events.size());
    for (std::size_t at = 0; static_cast<ssize_t>(at) < size;) {
      inotify_event event{};
      std::memcpy(&event, events.data() + at, sizeof event);
      names.emplace_back(events.data() + at + sizeof event);
      at += sizeof event + event.len;
    }
    return names;
  }

 private:
  int watch_ = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
};

// Can its file system have a file without a name?
bool has_unnamed_files(const std::string& folder) {
  const int made = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR);
  if (made >= 0) close(made);
  return made >= 0;
}

class PaymentsClient : public PaymentsServer {
 protected:
  [[nodiscard]] std::vector<std::string> words(const std::string& service, bool with_payment = true,
                                               const std::string& amount = "1290") const {
    std::vector<std::string> words{PAYMENTS,      "client", "--url",    service,
                                   "--principal", "ann",    "--intent", intent_};
    if (with_payment) {
      words.insert(words.end(), {"--amount-cents", amount, "--currency", "EUR", "--offering", "cpp-20",
                                 "--token", "tok_secret"});
    }
    return words;
  }
  // What it printed, its only line.
  static json told(const Finished& finished) {
    EXPECT_EQ(std::count(finished.out.begin(), finished.out.end(), '\n'), 1) << finished.out << finished.err;
    return json::parse(finished.out);
  }
  [[nodiscard]] bool saved() const { return fs::exists(intent_); }
  [[nodiscard]] std::string saved_key() const {
    std::ifstream file{intent_, std::ios::binary};
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line, "payments intent 1 ann");
    std::getline(file, line);
    EXPECT_EQ(line, "idem intent 1");
    std::getline(file, line);
    return line;
  }
  [[nodiscard]] std::string saved_bytes() const {
    std::ifstream file{intent_, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  void save(const std::string& key, const std::string& text,
            const std::string& head = "payments intent 1 ann\n") const {
    std::ofstream file{intent_, std::ios::binary};
    file << head << "idem intent 1\n" << key << '\n' << text;
  }
  // Until it has told of a try that decided nothing.
  static void wait_for_a_try(Running& client) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (client.err().find("; again in ") == std::string::npos) {
      if (client.ended()) throw std::runtime_error{"the client ended: " + client.wait().err};
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error{"the client does not try"};
      std::this_thread::yield();
    }
  }
  static std::string response(const std::string& status, const std::string& header = "X: y") {
    return "HTTP/1.1 " + status + "\r\n" + header + "\r\nContent-Length: 0\r\n\r\n";
  }

  const TemporaryFolder folder_;
  const std::string intent_ = folder_.path() + "/intent";
};

TEST_F(PaymentsClient, APaymentIsDecidedAndItsIntentForgotten) {
  serve();
  for (const auto& [amount, status] : {std::pair{"1290", 201}, std::pair{"1313", 402}}) {
    const Finished finished = run_program(words(server_url_, true, amount));
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(finished.err, "");
    const json line = told(finished);
    EXPECT_EQ(line.size(), 5U);
    EXPECT_EQ(line.at("status"), status);
    EXPECT_EQ(line.at("replayed"), false);
    EXPECT_EQ(line.at("tries"), 1);
    EXPECT_EQ(json::parse(line.at("body").get<std::string>()).at("amount_cents"), std::stoi(amount));
    EXPECT_TRUE(fs::is_empty(folder_.path()));
    const auto same = pay(line.at("key"), body(amount));
    EXPECT_EQ(same.body, line.at("body").get<std::string>());
    EXPECT_EQ(same.get_header_value("Idempotent-Replayed"), "true");
  }
  EXPECT_EQ(charges(), 2U);
}

TEST_F(PaymentsClient, OneKilledBetweenTwoTriesComesBackWithItsKey) {
  serve();
  // The payment is made, and the answer lost.
  std::atomic<bool> saved_before_it_was_sent = false;
  const Listener between{[&](const Connection& from) {
    saved_before_it_was_sent = saved();
    const std::string request = from.receive_request();
    const Connection to{server_url_};
    if (to.send(request)) (void)to.receive_all();
    (void)from.send(response("503 Service Unavailable", "Retry-After: 3600"));
  }};
  Running doomed{words(between.url())};
  wait_for_a_try(doomed);
  EXPECT_EQ(doomed.kill().status, -1);
  EXPECT_TRUE(saved_before_it_was_sent);
  EXPECT_EQ(charges(), 1U);
  const std::string key = saved_key();
  EXPECT_EQ(fs::status(intent_).permissions(), fs::perms::owner_read | fs::perms::owner_write);

  const Finished finished = run_program(words(server_url_, false));
  EXPECT_EQ(finished.status, 0) << finished.err;
  const json line = told(finished);
  EXPECT_EQ(line.at("key"), key);
  EXPECT_EQ(line.at("status"), 201);
  EXPECT_EQ(line.at("replayed"), true);
  EXPECT_EQ(charges(), 1U);
  EXPECT_FALSE(saved());
}

TEST_F(PaymentsClient, AServerThatIsDownAtFirstIsAskedAgainWithTheSameKey) {
  serve();
  server_->signal(SIGTERM);
  EXPECT_EQ(server_->wait_at_most(60s).status, 0);
  Running client{words(server_url_)};
  wait_for_a_try(client);
  const std::string key = saved_key();
  serve();
  const Finished finished = client.wait_at_most(240s);
  EXPECT_EQ(finished.status, 0) << finished.err;
  const json line = told(finished);
  EXPECT_EQ(line.at("key"), key);
  EXPECT_EQ(line.at("status"), 201);
  EXPECT_GE(line.at("tries"), 2);
  EXPECT_EQ(charges(), 1U);
}

TEST_F(PaymentsClient, AServerKilledAfterTheApprovalIsAskedAgain) {
  serve();
  acquirer_.control({{"mode", "timeout_after"}, {"count", 1}});
  Running client{words(server_url_)};
  wait_for_charges(1);
  EXPECT_EQ(server_->kill().status, -1);
  database_.advance(lease + 1min);
  serve();
  const Finished finished = client.wait_at_most(240s);
  EXPECT_EQ(finished.status, 0) << finished.err;
  const json line = told(finished);
  EXPECT_EQ(line.at("status"), 201);
  const json ledger = acquirer_.ledger();
  ASSERT_EQ(ledger.size(), 1U);
  EXPECT_EQ(json::parse(line.at("body").get<std::string>()).at("charge_id"), ledger[0].at("charge_id"));
}

TEST_F(PaymentsClient, AMismatchStopsItAndTheIntentIsKept) {
  serve();
  const std::string key = told(run_program(words(server_url_))).at("key");
  save(key, body("1291"));
  const Finished finished = run_program(words(server_url_, false));
  EXPECT_EQ(finished.status, 3);
  EXPECT_EQ(finished.err, "payments: the key was used for another payment\n");
  EXPECT_EQ(told(finished).at("status"), 422);
  EXPECT_TRUE(saved());
  EXPECT_EQ(charges(), 1U);
}

TEST_F(PaymentsClient, OneThatHasTriedEnoughKeepsTheIntent) {
  std::atomic<int> requests = 0;
  const Listener busy{[&](const Connection& from) {
    if (!from.receive_request().empty()) ++requests;
    (void)from.send(response("503 Service Unavailable", "Retry-After: 0"));
  }};
  const Finished finished = run_program(words(busy.url()));
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(told(finished).at("tries"), 10);
  EXPECT_EQ(requests, 10);
  EXPECT_EQ(told(finished).at("key"), saved_key());
}

TEST_F(PaymentsClient, ARefusalStopsItAtOnce) {
  struct Refusal {
    const char* status;
    int exit_status;
  };
  for (const Refusal& refusal :
       {Refusal{"400 Bad Request", 3}, Refusal{"401 Unauthorized", 3}, Refusal{"301 Moved Permanently", 1}}) {
    std::atomic<int> requests = 0;
    const Listener refusing{[&](const Connection& from) {
      if (!from.receive_request().empty()) ++requests;
      (void)from.send(response(refusal.status));
    }};
    const Finished finished = run_program(words(refusing.url(), !saved()));
    EXPECT_EQ(finished.status, refusal.exit_status) << finished.err;
    EXPECT_EQ(requests, 1);
    EXPECT_TRUE(saved());
  }
}

// Both would be told of one payment, and the slower would remove the file from under the next one's intent.
TEST_F(PaymentsClient, AnIntentIsOneClientsAlone) {
  std::atomic<int> requests = 0;
  const Listener busy{[&](const Connection& from) {
    if (!from.receive_request().empty()) ++requests;
    (void)from.send(response("503 Service Unavailable", "Retry-After: 3600"));
  }};
  for (const bool restored : {false, true}) {
    Running first{words(busy.url(), !restored)};
    wait_for_a_try(first);
    const int before = requests;
    Running second{words(busy.url(), false)};
    const Finished finished = second.wait_at_most(60s);
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.out, "");
    EXPECT_EQ(finished.err, "payments: another client has " + intent_ + "\n");
    EXPECT_EQ(requests, before);
    EXPECT_TRUE(saved());
    (void)first.kill();
  }
}

// For the service the same key of another principal is another payment: a second charge.
TEST_F(PaymentsClient, AnIntentOfAnotherPrincipalIsRefused) {
  serve();
  // The payment is made, and the answer lost.
  std::atomic<int> requests = 0;
  const Listener between{[&](const Connection& from) {
    ++requests;
    const Connection to{server_url_};
    if (to.send(from.receive_request())) (void)to.receive_all();
    (void)from.send(response("503 Service Unavailable", "Retry-After: 3600"));
  }};
  Running first{words(between.url())};
  wait_for_a_try(first);
  (void)first.kill();
  EXPECT_EQ(requests, 1);
  const std::string before = saved_bytes();

  std::vector<std::string> bobs = words(server_url_, false);
  std::replace(bobs.begin(), bobs.end(), std::string{"ann"}, std::string{"bob"});
  const Finished refused = run_program(bobs);
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(refused.err,
            "payments: the intent is another principal's: there its key would be another payment\n");
  EXPECT_EQ(saved_bytes(), before);
  EXPECT_EQ(charges(), 1U);

  const Finished finished = run_program(words(server_url_, false));
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(told(finished).at("replayed"), true);
  EXPECT_EQ(charges(), 1U);
}

// One that has another name first leaves it, with the token, where the client dies in between.
TEST_F(PaymentsClient, AnIntentHasNoOtherNameBeforeItsOwn) {
  const Names made{folder_.path()};
  const Listener deciding{[&](const Connection& from) {
    (void)from.receive_request();
    (void)from.send(response("402 Payment Required"));
  }};
  EXPECT_EQ(run_program(words(deciding.url())).status, 0);
  // A file system that has no files without a name is given one, which is gone.
  const auto names = made.take();
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names.size(), has_unnamed_files(folder_.path()) ? 1U : 2U);
  EXPECT_EQ(names.back(), "intent");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(PaymentsClient, ABadValueIsToldWithItsOption) {
  for (const char* amount : {"-5", "0", "12.5", "9223372036854775808", ""}) {
    const Finished finished = run_program(words("http://127.0.0.1:1", true, amount));
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.err,
              "payments: --amount-cents must be a whole number from 1 to 9223372036854775807\n");
  }
  EXPECT_FALSE(saved());
}

TEST_F(PaymentsClient, BadUsageExitsWith2AndSendsNothing) {
  std::atomic<int> requests = 0;
  const Listener nobody{[&](const Connection&) { ++requests; }};
  const auto expect_refused = [](const std::vector<std::string>& words) {
    const Finished finished = run_program(words);
    EXPECT_EQ(finished.status, 2) << finished.err;
    EXPECT_EQ(finished.out, "");
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  };
  expect_refused(words(nobody.url(), false));
  expect_refused(words(nobody.url(), true, "0"));
  expect_refused(words("127.0.0.1:1"));
  expect_refused({PAYMENTS, "client", "--url", nobody.url(), "--principal", "a b", "--intent", intent_});
  EXPECT_FALSE(saved());
  save("01890000-0000-7000-8000-000000000000", body());
  expect_refused(words(nobody.url()));
  save("k1", body());
  expect_refused(words(nobody.url(), false));
  // Nobody knows whose that is.
  save("01890000-0000-7000-8000-000000000000", body(), "");
  expect_refused(words(nobody.url(), false));
  EXPECT_TRUE(saved());
  EXPECT_EQ(requests, 0);
}

}  // namespace
}  // namespace idem::examples_test
