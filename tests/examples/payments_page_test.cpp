// The page of `payments serve` in a real browser: what a person does there, what the page shows then, what the database holds,
// and how often the acquirer has charged.
//
// IDEM_PAGE_SCREENSHOTS names a folder that is given a picture of the page at the end of some of these tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "examples/payments_server.hpp"
#include "examples/web_driver.hpp"

namespace idem::examples_test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The columns of the page's log.
enum Column { number, key, status, replayed, says };
using Lines = std::vector<std::vector<std::string>>;

class PaymentsPage : public PaymentsServer {
 protected:
  void open() {
    serve();
    browser_.open(server_url_ + "/");
    wait_for_count("record", 0);
  }

  [[nodiscard]] Lines log() const { return browser_.rows("#log"); }
  // Lines of attempts with this status.
  [[nodiscard]] int lines_with(const std::string& wanted) const {
    int found = 0;
    for (const auto& line : log()) found += line.size() > status && line[status] == wanted ? 1 : 0;
    return found;
  }
  // What the page keeps for a later visit; null where nothing is under way.
  [[nodiscard]] json saved() const {
    const json text = browser_.run("return localStorage.getItem('payments.intent')");
    return text.is_null() ? text : json::parse(text.get<std::string>());
  }

  void wait_for_answers(int wanted, const std::string& of_status = "201") const {
    browser_.wait_until(
        "return [...document.querySelector('#log').tBodies[0].rows].filter("
        "row => row.cells.length > 2 && row.cells[2].textContent === arguments[0]).length >= arguments[1]",
        {of_status, wanted});
  }
  void wait_for_count(const std::string& what, int wanted) const {
    browser_.wait_until("return document.getElementById(arguments[0]).textContent === arguments[1]",
                        {what + "-count", std::to_string(wanted)});
  }
  void wait_for_server(const std::string& told) const {
    browser_.wait_until("return document.getElementById('server').textContent.startsWith(arguments[0])",
                        json::array({told}));
  }

  // Notes in the log that a click's loop has stopped.
  void wait_for_stops(int wanted) const {
    browser_.wait_until(
        "return [...document.querySelector('#log').tBodies[0].rows].filter("
        "row => row.textContent.startsWith('Stopped')).length >= arguments[0]",
        json::array({wanted}));
  }
  // The page's attempt of that number, counted from 1 on, goes without its sender's name: the server refuses it (401).
  void leave_out_the_name(int attempt) const {
    browser_.run(
        "const wanted = arguments[0], real = window.fetch; let attempts = 0;"
        "window.fetch = (to, how) => {"
        "  if (to === '/payments' && ++attempts === wanted) delete how.headers.Authorization;"
        "  return real(to, how); }",
        json::array({attempt}));
  }
  void save_principal(const std::string& name) const {
    json intent = saved();
    intent["principal"] = name;
    browser_.run("localStorage.setItem('payments.intent', arguments[0])", json::array({intent.dump()}));
  }

  // Everywhere: on the page, in the database, in the acquirer's ledger.
  void expect_all_once() const {
    for (const char* what : {"record", "payment", "charge", "seat", "receipt"}) wait_for_count(what, 1);
    EXPECT_EQ(browser_.rows("#records").at(0).at(1), "COMPLETED");
    EXPECT_EQ(browser_.rows("#payments").at(0).at(1), "AUTHORIZED");
    EXPECT_EQ(browser_.rows("#charges").at(0).at(1), "approved");
    EXPECT_EQ(database_.number("SELECT count(*) FROM idem_record WHERE state = 2"), 1);
    EXPECT_EQ(database_.number("SELECT count(*) FROM idem_record"), 1);
    EXPECT_EQ(database_.number("SELECT count(*) FROM payment WHERE state = 'AUTHORIZED'"), 1);
    EXPECT_EQ(database_.number("SELECT count(*) FROM payment"), 1);
    EXPECT_EQ(database_.number("SELECT count(*) FROM seat"), 1);
    EXPECT_EQ(database_.number("SELECT count(*) FROM receipt"), 1);
    EXPECT_EQ(charges(), 1U);
    EXPECT_EQ(saved(), nullptr) << "nothing is under way any more";
  }
  void expect_one_key() const {
    std::set<std::string> keys;
    for (const auto& line : log()) {
      if (line.size() > key) keys.insert(line.at(key));  // A note has none.
    }
    EXPECT_EQ(keys.size(), 1U);
  }

  void show(const std::string& name) const {
    const char* const folder = std::getenv("IDEM_PAGE_SCREENSHOTS");
    if (folder == nullptr) return;
    for (const char* scheme : {"light", "dark"}) {
      browser_.prefer(scheme);
      for (const int width : {1200, 400}) {
        browser_.resize(width, 900);
        browser_.screenshot(std::string{folder} + '/' + name + '-' + scheme + '-' + std::to_string(width) +
                            ".png");
      }
    }
  }

  WebDriver browser_;
};

TEST_F(PaymentsPage, ADoubleClickIsOneCharge) {
  open();
  browser_.double_click("#enroll");
  wait_for_answers(2);
  expect_all_once();
  expect_one_key();
  const Lines lines = log();
  ASSERT_GE(lines.size(), 2U);
  int replays = 0;
  for (const auto& line : lines) {
    EXPECT_THAT(line.at(status), AnyOf("201", "409"));
    if (line.at(status) == "409") {
      EXPECT_THAT(line.at(says), HasSubstr("in-progress"));
    }
    if (line.at(replayed) == "yes") ++replays;
  }
  EXPECT_EQ(replays, 1) << "the other click was given the first one's answer";
  EXPECT_THAT(browser_.console_errors(), IsEmpty()) << "the page's own policy lets it";
  show("double-click");
}

TEST_F(PaymentsPage, AClickAfterTheAnswerIsTheSameDecisionWithinASecondAndANewOneLater) {
  open();
  browser_.run("performance.now = () => 5000");
  browser_.click("#enroll");
  wait_for_answers(1);
  expect_all_once();
  browser_.run("performance.now = () => 5999");
  browser_.click("#enroll");
  wait_for_answers(2);
  expect_all_once();
  expect_one_key();
  EXPECT_EQ(log().at(1).at(replayed), "yes");

  browser_.run("performance.now = () => 7000");
  browser_.type("#offering", "sql-1");
  browser_.click("#enroll");
  wait_for_answers(3);
  wait_for_count("seat", 2);
  wait_for_count("charge", 2);
  EXPECT_NE(log().at(2).at(key), log().at(0).at(key));
  EXPECT_EQ(log().at(2).at(replayed), "no");
  EXPECT_EQ(database_.number("SELECT count(*) FROM seat"), 2);
  EXPECT_EQ(charges(), 2U);
}

TEST_F(PaymentsPage, ADroppedAnswerIsFetchedWithTheSameKey) {
  open();
  browser_.click("#drop-answer");
  browser_.click("#enroll");
  wait_for_answers(1);
  expect_all_once();
  expect_one_key();
  const Lines lines = log();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0].at(says), HasSubstr("no answer"));
  EXPECT_EQ(lines[1].at(replayed), "yes");
  EXPECT_EQ(browser_.run("return document.getElementById('drop-answer').checked"), false) << "for one click";
}

TEST_F(PaymentsPage, AServerKilledAfterTheApprovalChargesOnce) {
  open();
  browser_.click("#kill-after-approval");
  browser_.click("#enroll");
  const Finished killed = server_->wait_at_most(60s);
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(charges(), 1U) << "the acquirer has approved";
  EXPECT_EQ(database_.number("SELECT count(*) FROM payment WHERE state = 'PENDING'"), 1);
  EXPECT_EQ(database_.number("SELECT count(*) FROM seat"), 0);
  wait_for_server("No answer from the server");
  EXPECT_FALSE(saved().is_null()) << "the key is kept";
  show("killed");

  serve();
  wait_for_server("The server answers");
  // The lease of the one that was killed is not over.
  wait_for_answers(1, "409");
  database_.advance(lease + 1min);
  // Nobody touches the page.
  wait_for_answers(1);
  expect_all_once();
  expect_one_key();
  EXPECT_EQ(browser_.rows("#records").at(0).at(2), "yes") << "taken over";
  show("recovered");
}

TEST_F(PaymentsPage, ARedeliveredEventIsADuplicate) {
  open();
  EXPECT_EQ(browser_.run("return document.getElementById('redeliver').disabled"), true);
  browser_.click("#enroll");
  wait_for_answers(1);
  expect_all_once();
  browser_.click("#redeliver");
  wait_for_answers(1, "200");
  EXPECT_EQ(log().back().at(number), "event");
  EXPECT_EQ(log().back().at(says), "duplicate");
  expect_all_once();
}

TEST_F(PaymentsPage, AReloadGoesOnWithTheKey) {
  open();
  // Its first request is lost, so that the payment hangs.
  acquirer_.control({{"mode", "late"}, {"delay_ms", 600'000}});
  browser_.click("#enroll");
  wait_for_charges(1);
  const json before = saved();
  ASSERT_FALSE(before.is_null());
  browser_.reload();
  wait_for_answers(1, "409");
  const json after = saved();
  EXPECT_EQ(after.at("key"), before.at("key"));
  EXPECT_EQ(after.at("body"), before.at("body"));
  EXPECT_GT(after.at("tries"), before.at("tries"));
  // The call ends without an answer, and the next attempt asks again.
  (void)acquirer_.kill();
  acquirer_.restart();
  wait_for_answers(1);
  expect_all_once();
  expect_one_key();
  EXPECT_EQ(database_.number("SELECT count(*) FROM idem_record WHERE idempotency_key = '" +
                             before.at("key").get<std::string>() + "'"),
            1);
}

TEST_F(PaymentsPage, ARefusalAfterALostAnswerKeepsTheKey) {
  open();
  leave_out_the_name(2);
  browser_.click("#drop-answer");
  browser_.click("#enroll");
  wait_for_stops(1);
  ASSERT_EQ(log().size(), 3U);
  EXPECT_EQ(log().at(1).at(status), "401");
  EXPECT_THAT(log().at(2).at(0),
              HasSubstr("this try did nothing. The payment may have been made: the key is kept"));
  ASSERT_FALSE(saved().is_null());
  EXPECT_THAT(browser_.text("#intent"), HasSubstr("Another click sends it again"));
  EXPECT_EQ(charges(), 1U) << "it was";

  browser_.click("#enroll");
  wait_for_answers(1);
  EXPECT_EQ(log().back().at(replayed), "yes");
  expect_all_once();
  expect_one_key();
}

TEST_F(PaymentsPage, ARefusalOfTheFirstAttemptForgetsTheKey) {
  open();
  leave_out_the_name(1);
  browser_.click("#enroll");
  wait_for_stops(1);
  ASSERT_EQ(log().size(), 2U);
  EXPECT_EQ(log().at(0).at(status), "401");
  EXPECT_EQ(log().at(1).at(0), "Stopped: not signed in; this try did nothing.");
  EXPECT_EQ(saved(), nullptr);
  EXPECT_THAT(browser_.text("#intent"), HasSubstr("Nothing is under way"));
  EXPECT_EQ(charges(), 0U);
}

// The one that was under way counts, although the page has never heard of it.
TEST_F(PaymentsPage, ARefusalAfterAReloadKeepsTheKey) {
  open();
  acquirer_.control({{"mode", "late"}, {"delay_ms", 600'000}});
  browser_.click("#enroll");
  wait_for_charges(1);
  const json before = saved();
  save_principal("a b");
  browser_.reload();
  wait_for_stops(1);
  EXPECT_EQ(log().at(0).at(status), "401");
  ASSERT_FALSE(saved().is_null());
  EXPECT_EQ(saved().at("key"), before.at("key"));

  save_principal("ann");
  browser_.type("#principal", "ann");
  (void)acquirer_.kill();
  acquirer_.restart();
  browser_.click("#enroll");
  wait_for_answers(1);
  expect_all_once();
  expect_one_key();
}

TEST_F(PaymentsPage, WhatNoSuchServiceAnswersKeepsTheKey) {
  open();
  // A redirect that is not followed is of this kind, and no program can make one otherwise.
  browser_.run(
      "const real = window.fetch;"
      "const answers = [new Response('', { status: 300 }), new Response(null, { status: 304 }),"
      "  { type: 'opaqueredirect', status: 0, headers: new Headers(), text: async () => '' },"
      "  new Response('', { status: 503, headers: { 'Retry-After': '99999999999' } })];"
      "window.fetch = async (to, how) => to === '/payments' && answers.shift() || real(to, how)");
  browser_.click("#enroll");
  wait_for_stops(1);
  ASSERT_FALSE(saved().is_null());
  const std::string its_key = saved().at("key");
  for (int stops = 2; stops <= 4; ++stops) {
    browser_.click("#enroll");
    wait_for_stops(stops);
    ASSERT_FALSE(saved().is_null());
    EXPECT_EQ(saved().at("key"), its_key);
  }
  EXPECT_EQ(log().at(0).at(status), "300");
  EXPECT_EQ(log().at(2).at(status), "304");
  EXPECT_EQ(log().at(4).at(status), "3xx");
  EXPECT_EQ(log().at(6).at(status), "503");
  EXPECT_THAT(log().at(7).at(0), HasSubstr("the key is kept"));
  EXPECT_EQ(charges(), 0U);

  browser_.click("#enroll");
  wait_for_answers(1);
  EXPECT_EQ(log().back().at(replayed), "no");
  expect_all_once();
  expect_one_key();
}

TEST_F(PaymentsPage, WhatIsShownIsText) {
  open();
  const std::string markup = R"(<img src=x onerror="document.title='run'"><b>bold</b>)";
  browser_.type("#offering", markup);
  browser_.click("#enroll");
  wait_for_answers(1);
  expect_all_once();
  EXPECT_EQ(browser_.rows("#payments").at(0).at(2), markup);
  EXPECT_EQ(browser_.rows("#seats").at(0).at(0), markup);
  EXPECT_THAT(browser_.text("#held"), HasSubstr(markup));
  EXPECT_EQ(browser_.run("return document.querySelectorAll('img, b').length"), 0);
  EXPECT_EQ(browser_.run("return document.title"), "Payments: enroll once");
}

}  // namespace
}  // namespace idem::examples_test
