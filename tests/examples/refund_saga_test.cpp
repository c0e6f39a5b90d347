// `refund_saga`, as a program, with the three services as another.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "examples/program.hpp"
#include "examples/running_company.hpp"
#include "postgres/test_database.hpp"

namespace idem::examples_test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using Words = std::vector<std::string>;

// A call under it is not answered in these tests, however slow the machine.
const Words short_deadline{"--deadline-ms", "300"};
// Nor does a call under it end by itself.
const Words long_lease{"--lease-ms", "900000", "--deadline-ms", "600000"};
constexpr auto longer_than_the_lease = 901s;

const json done_steps{{"enrolment", "done"}, {"payments", "done"}, {"email", "done"}};
const json once_each{{"enrolment/withdraw", 1}, {"payments/refund", 1}, {"email/send", 1}};

// Another process does it, and nothing tells when.
void wait_until(const std::function<bool()>& reached) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!reached()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error{"it does not happen"};
    std::this_thread::sleep_for(2ms);
  }
}

std::vector<json> lines(const Finished& finished) {
  EXPECT_EQ(finished.status, 0);
  EXPECT_EQ(finished.err, "");
  std::vector<json> parsed;
  std::istringstream out{finished.out};
  for (std::string line; std::getline(out, line);) parsed.push_back(json::parse(line));
  return parsed;
}

class RefundSaga : public ::testing::Test {
 protected:
  [[nodiscard]] Words command(const std::string& verb, const Words& more) const {
    Words words{REFUND_SAGA, verb, "--services", services_.url(), "--database-url", database_.url()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  [[nodiscard]] Words run_command(const std::string& refund, Words more = {}) const {
    more.insert(more.begin(), {"--refund", refund});
    return command("run", more);
  }

  // What a run that ended well tells of the refund.
  [[nodiscard]] json run(const std::string& refund, const Words& more = {}) const {
    const std::vector<json> told = lines(run_program(run_command(refund, more)));
    if (told.size() != 1) throw std::runtime_error{"a run must tell one line"};
    return told.front();
  }

  [[nodiscard]] std::vector<json> sweep() const { return lines(run_program(command("sweep", {}))); }

  void behave(const std::string& service, const std::string& mode, const json& count = nullptr) const {
    json control{{"service", service}, {"mode", mode}};
    if (!count.is_null()) control["count"] = count;
    services_.control(control);
  }

  [[nodiscard]] bool behaves(const std::string& service, const std::string& mode) const {
    return services_.control({{"service", service}}).at("mode") == mode;
  }

  // How often each thing was done for the refund; what was refused is not.
  [[nodiscard]] json effects(const std::string& refund) const {
    json counts = json::object();
    for (const json& entry : services_.ledger()) {
      if (entry.at("refund") != refund || entry.at("outcome") != "done") continue;
      const std::string what =
          entry.at("service").get<std::string>() + "/" + entry.at("action").get<std::string>();
      counts[what] = counts.value(what, 0) + 1;
    }
    return counts;
  }

  // Runs until the step is begun and its answer is not there. Under a short deadline an earlier one may be late too.
  void run_into(const std::string& refund, const std::string& step, const Words& more) const {
    json told;
    do {
      told = run(refund, more);
      ASSERT_EQ(told.at("state"), "in_progress");
    } while (!told.at("steps").contains(step));
    EXPECT_EQ(told.at("steps").at(step), "pending");
  }

  postgres_test::TestDatabase database_;
  RunningCompany services_{REFUND_SERVICES};
};

json told(const std::string& refund, const std::string& state, const json& steps) {
  return {{"refund", refund}, {"state", state}, {"steps", steps}};
}

TEST_F(RefundSaga, CallsEachServiceOnceHoweverOftenItRuns) {
  EXPECT_EQ(run("r1"), told("r1", "done", done_steps));
  const json ledger = services_.ledger();
  EXPECT_EQ(run("r1"), told("r1", "done", done_steps));
  EXPECT_EQ(services_.ledger(), ledger);
  EXPECT_EQ(effects("r1"), once_each);
  EXPECT_EQ(ledger.size(), 3);
  EXPECT_EQ(ledger.at(1).at("amount_cents"), 1290);
  EXPECT_EQ(ledger.at(1).at("payment"), "r1");
  EXPECT_EQ(run("r2", {"--payment", "p1", "--amount-cents", "500"}), told("r2", "done", done_steps));
  EXPECT_EQ(services_.ledger().at(4).at("amount_cents"), 500);
  EXPECT_EQ(services_.ledger().at(4).at("payment"), "p1");
}

TEST_F(RefundSaga, TheKeysAreThoseOfRefundAndStep) {
  behave("payments", "refuse", 1);
  (void)run("r1");
  (void)run("r2");
  std::set<std::string> keys;
  for (const json& entry : services_.ledger()) keys.insert(entry.at("key").get<std::string>());
  EXPECT_EQ(keys.size(), 6);
  EXPECT_EQ(database_.number(
                "SELECT count(*) FROM idem_record WHERE principal = 'refund_saga' AND (operation, "
                "idempotency_key) IN (('refund', 'r1'), ('refund/enrolment', 'step:2:r1,9:enrolment,'), "
                "('refund/payments', 'step:2:r1,8:payments,'), "
                "('refund/enrolment', 'undo:2:r1,9:enrolment,'))"),
            4);
}

TEST_F(RefundSaga, AnIdOfAnotherRefundIsRefusedAlsoWhenItsKeyIsForgotten) {
  (void)run("r1");
  const json ledger = services_.ledger();
  for (int i = 0; i < 2; ++i) {
    const Finished finished = run_program(run_command("r1", {"--amount-cents", "1291"}));
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.out, "");
    EXPECT_EQ(finished.err, "refund_saga: r1: there is another refund with this id\n");
    EXPECT_EQ(services_.ledger(), ledger);
    database_.advance(24h * 365);
  }
}

TEST_F(RefundSaga, ALongForgottenRefundIsNotRefundedAgain) {
  (void)run("r1");
  database_.advance(24h * 365);
  EXPECT_EQ(run("r1"), told("r1", "done", done_steps));
  EXPECT_EQ(effects("r1"), once_each);
}

TEST_F(RefundSaga, RefusedPaymentsReinstateTheSeatOnceAndSendNoMail) {
  behave("payments", "refuse", 1);
  const json right = told("r1", "compensated", {{"enrolment", "compensated"}, {"payments", "failed"}});
  EXPECT_EQ(run("r1"), right);
  const json ledger = services_.ledger();
  EXPECT_EQ(run("r1"), right);
  EXPECT_EQ(services_.ledger(), ledger);
  EXPECT_EQ(effects("r1"), (json{{"enrolment/withdraw", 1}, {"enrolment/reinstate", 1}}));
}

TEST_F(RefundSaga, WhatARefusalOfTheOthersComesTo) {
  // Nothing was done, so nothing is undone.
  behave("enrolment", "refuse", 1);
  EXPECT_EQ(run("r1"), told("r1", "compensated", {{"enrolment", "failed"}}));
  EXPECT_EQ(effects("r1"), json::object());

  // The money has moved: that stands.
  behave("email", "refuse", 1);
  EXPECT_EQ(run("r2"),
            told("r2", "done", {{"enrolment", "done"}, {"payments", "done"}, {"email", "failed"}}));
  EXPECT_EQ(effects("r2"), (json{{"enrolment/withdraw", 1}, {"payments/refund", 1}}));

  // The seat cannot be had again.
  behave("payments", "timeout_before");
  run_into("r3", "payments", short_deadline);
  behave("payments", "refuse", 1);
  behave("enrolment", "refuse", 1);
  const json stuck = told("r3", "stuck", {{"enrolment", "stuck"}, {"payments", "failed"}});
  EXPECT_EQ(run("r3"), stuck);
  EXPECT_EQ(run("r3"), stuck);
  EXPECT_EQ(effects("r3"), (json{{"enrolment/withdraw", 1}}));
  EXPECT_EQ(sweep(), std::vector<json>{});
}

TEST_F(RefundSaga, ACallWithoutAnAnswerLeavesItsStepInProgressAndTheNextRunReusesTheKey) {
  struct Fault {
    std::string mode;
    bool takes_effect;
    Words deadline;
  };
  for (const Fault& fault : {Fault{"timeout_before", false, short_deadline},
                             Fault{"timeout_after", true, short_deadline}, Fault{"drop_answer", true, {}}}) {
    for (const std::string service : {"enrolment", "payments", "email"}) {
      SCOPED_TRACE(fault.mode + " of " + service);
      const std::string refund = fault.mode + " " + service;
      behave(service, fault.mode);
      run_into(refund, service, fault.deadline);
      if (fault.takes_effect) {
        // The effect is there, and the step is not done: nobody was told.
        wait_until([&] { return services_.ledger().back().at("service") == service; });
      }
      behave(service, "ok");
      EXPECT_EQ(run(refund), told(refund, "done", done_steps));
      EXPECT_EQ(effects(refund), once_each);
    }
  }
}

TEST_F(RefundSaga, ACompensationWithoutAnAnswerIsAskedForAgainUnderItsKey) {
  for (const std::string mode : {"timeout_before", "timeout_after", "drop_answer"}) {
    SCOPED_TRACE(mode);
    behave("payments", "timeout_before");
    run_into(mode, "payments", short_deadline);
    behave("payments", "refuse");
    behave("enrolment", mode);
    json seen;
    do {
      seen = run(mode, short_deadline);
      ASSERT_EQ(seen.at("state"), "in_progress");
    } while (seen.at("steps").at("payments") != "failed");
    EXPECT_EQ(seen.at("steps").at("enrolment"), "done");
    behave("payments", "ok");
    behave("enrolment", "ok");
    EXPECT_EQ(run(mode), told(mode, "compensated", {{"enrolment", "compensated"}, {"payments", "failed"}}));
    EXPECT_EQ(effects(mode), (json{{"enrolment/withdraw", 1}, {"enrolment/reinstate", 1}}));
  }
}

TEST_F(RefundSaga, KilledWhileAStepWaitsForItsAnswer) {
  for (const std::string mode : {"timeout_before", "timeout_after"}) {
    for (const std::string service : {"enrolment", "payments", "email"}) {
      const std::string refund = std::string{mode}.append(" of ").append(service);
      SCOPED_TRACE(refund);
      behave(service, mode, 1);
      {
        Running killed{run_command(refund, long_lease)};
        wait_until([&] { return behaves(service, "ok"); });
        EXPECT_EQ(killed.kill().out, "");
      }
      // The lease outlives its holder: nothing is sent under it.
      const json ledger = services_.ledger();
      const json waiting = run(refund);
      EXPECT_EQ(waiting.at("state"), "in_progress");
      EXPECT_EQ(waiting.at("steps").at(service), "pending");
      EXPECT_EQ(services_.ledger(), ledger);
      database_.advance(longer_than_the_lease);
      EXPECT_EQ(run(refund), told(refund, "done", done_steps));
      EXPECT_EQ(effects(refund), once_each);
    }
  }
}

TEST_F(RefundSaga, KilledWhileACompensationWaitsForItsAnswer) {
  for (const std::string mode : {"timeout_before", "timeout_after"}) {
    SCOPED_TRACE(mode);
    behave("payments", "timeout_before");
    run_into(mode, "payments", short_deadline);
    behave("payments", "refuse");
    behave("enrolment", mode, 1);
    {
      Running killed{run_command(mode, long_lease)};
      wait_until([&] { return behaves("enrolment", "ok"); });
      EXPECT_EQ(killed.kill().out, "");
    }
    const json waiting = told(mode, "in_progress", {{"enrolment", "done"}, {"payments", "failed"}});
    EXPECT_EQ(run(mode), waiting);
    database_.advance(longer_than_the_lease);
    EXPECT_EQ(run(mode), told(mode, "compensated", {{"enrolment", "compensated"}, {"payments", "failed"}}));
    EXPECT_EQ(effects(mode), (json{{"enrolment/withdraw", 1}, {"enrolment/reinstate", 1}}));
  }
}

TEST_F(RefundSaga, ManyProcessesAtOnceRefundOnce) {
  constexpr int processes = 6;
  // The services dawdle, so that the processes meet in each of the steps.
  for (const std::string service : {"enrolment", "payments", "email"}) {
    services_.control({{"service", service}, {"mode", "late"}, {"effect_after_ms", 20}, {"delay_ms", 20}});
  }
  for (const std::string refund : {"r1", "r2", "r3"}) {
    std::vector<std::unique_ptr<Running>> running;
    running.reserve(processes);
    for (int i = 0; i < processes; ++i) running.push_back(std::make_unique<Running>(run_command(refund)));
    for (const auto& process : running) {
      const std::vector<json> seen = lines(process->wait_at_most(120s));
      ASSERT_EQ(seen.size(), 1);
      EXPECT_TRUE(seen[0].at("state") == "done" || seen[0].at("state") == "in_progress") << seen[0];
    }
    EXPECT_EQ(run(refund), told(refund, "done", done_steps));
    EXPECT_EQ(effects(refund), once_each);
  }
}

TEST_F(RefundSaga, TheSweepFinishesWhatNobodyRetries) {
  behave("payments", "drop_answer", 1);
  EXPECT_EQ(run("without an answer").at("state"), "in_progress");
  // As a process leaves it that dies before its first step, or between two.
  database_.execute("INSERT INTO refund VALUES ('not begun', 'p1', 500, 'in_progress')");
  (void)run("done");
  EXPECT_EQ(sweep(), (std::vector<json>{told("without an answer", "done", done_steps),
                                        told("not begun", "done", done_steps)}));
  EXPECT_EQ(effects("without an answer"), once_each);
  EXPECT_EQ(effects("not begun"), once_each);
  EXPECT_EQ(sweep(), std::vector<json>{});
}

TEST_F(RefundSaga, OneThatFailsHoldsUpNoOther) {
  behave("email", "drop_answer", 2);
  (void)run("changed");
  (void)run("other");
  // Which nobody may do: the step was begun for another amount.
  database_.execute("UPDATE refund SET amount_cents = 1 WHERE refund_id = 'changed'");
  const Finished finished = run_program(command("sweep", {}));
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err, "refund_saga: changed: the refund's row was changed after its step had begun\n");
  EXPECT_EQ(json::parse(finished.out), told("other", "done", done_steps));
}

TEST_F(RefundSaga, ServicesThatAreDownAreAskedLaterAndKnowTheirKeys) {
  behave("payments", "drop_answer", 1);
  (void)run("r1");
  (void)services_.kill();
  EXPECT_EQ(run("r1").at("steps"), (json{{"enrolment", "done"}, {"payments", "pending"}}));
  services_.restart();
  EXPECT_EQ(run("r1"), told("r1", "done", done_steps));
  EXPECT_EQ(effects("r1"), once_each);
}

TEST_F(RefundSaga, AfterTheWindowNobodyAsksAgain) {
  behave("payments", "drop_answer", 1);
  (void)run("r1");
  const json ledger = services_.ledger();
  database_.advance(24h * 30);
  const json stuck = told("r1", "stuck", {{"enrolment", "done"}, {"payments", "stuck"}});
  EXPECT_EQ(run("r1"), stuck);
  EXPECT_EQ(run("r1"), stuck);
  EXPECT_EQ(sweep(), std::vector<json>{});
  EXPECT_EQ(services_.ledger(), ledger);
}

TEST_F(RefundSaga, RefusesBadUsage) {
  for (const Words& words : {Words{},
                             {"walk"},
                             command("run", {}),
                             command("sweep", {"--refund", "r1"}),
                             run_command("r1", {"--refund", "r2"}),
                             run_command("r1", {"--amount-cents", "0"}),
                             run_command("r1", {"--lease-ms", "1s"}),
                             run_command("r1", {"--payment"}),
                             run_command("")}) {
    Words all = words;
    if (all.empty() || all.front() != REFUND_SAGA) all.insert(all.begin(), REFUND_SAGA);
    const Finished finished = run_program(all);
    EXPECT_EQ(finished.status, 2);
    EXPECT_TRUE(finished.err.starts_with("refund_saga: usage: ")) << finished.err;
    EXPECT_EQ(finished.out, "");
  }
}

}  // namespace
}  // namespace idem::examples_test
