// What the options of list and resolve take. Refused before anything is read or connected to.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/run_idemctl.hpp"

namespace idem::test {
namespace {

using Words = std::vector<std::string>;

Ended list(const Words& more) {
  Words words{"list", "--database-url", "postgresql://127.0.0.1:1/d"};
  words.insert(words.end(), more.begin(), more.end());
  return run_idemctl(words);
}

// A resolution to COMPLETED that only the missing server refuses, with `option` changed to `value`.
Ended resolve_with(const std::string& option, const std::string& value, Words more = {}) {
  Words words{"resolve", "--database-url", "postgresql://127.0.0.1:1/d"};
  const std::vector<std::pair<std::string, std::string>> good{
      {"--principal", "p"},
      {"--operation", "op"},
      {"--key", "k"},
      {"--fence", "7"},
      {"--attempt", "01890a5d-ac96-774b-bcce-b302099a8057"},
      {"--state", "completed"},
      {"--status", "201"},
      {"--generation", "7"},
      {"--who", "ann"},
      {"--why", "in the file"}};
  for (const auto& [name, word] : good) {
    if (name == option && value.empty()) continue;
    words.push_back(name);
    words.push_back(name == option ? value : word);
  }
  words.insert(words.end(), more.begin(), more.end());
  return run_idemctl(words);
}

void expect_no_server(const Ended& run) {
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.error.rfind("idemctl: cannot connect to the database", 0), 0U) << run.error;
}

TEST(IdemctlOptionValues, DurationsAreWholeNumbersWithAUnit) {
  for (const std::string word : {"90s", "15m", "36h", "7d", "1s", "3652d"}) {
    SCOPED_TRACE(word);
    expect_no_server(list({"--older-than", word}));
  }
  for (const std::string word : {"", "s", "90", "0s", "-1s", "+1s", "1.5h", "1 h", " 1h", "1h ", "1H", "1w",
                                 "1h30m", "0x1s", "9223372036854775808s"}) {
    SCOPED_TRACE(word);
    expect_refused(list({"--older-than", word}),
                   "--older-than must be a positive whole number and s, m, h or d: 90s, 15m, 36h, 7d");
  }
  for (const std::string word : {"3653d", "9223372036854775807d", "9223372036854775807s"}) {
    SCOPED_TRACE(word);
    expect_refused(list({"--older-than", word}), "--older-than must not be longer than ten years");
  }
}

TEST(IdemctlOptionValues, StatesAreTheFourInLowerOrUpperCase) {
  for (const std::string word : {"in_progress", "completed", "failed", "unknown", "UNKNOWN", "IN_PROGRESS"}) {
    SCOPED_TRACE(word);
    expect_no_server(list({"--state", word}));
  }
  for (const std::string word : {"", "lapsed", "in progress", "unknown "}) {
    SCOPED_TRACE(word);
    expect_refused(list({"--state", word}), "--state must be one of in_progress, completed, failed, unknown");
  }
}

TEST(IdemctlOptionValues, LimitsAreBounded) {
  for (const std::string word : {"1", "100000"}) expect_no_server(list({"--limit", word}));
  for (const std::string word : {"", "0", "-1", "100001", "1e3", "ten", "99999999999999999999"}) {
    SCOPED_TRACE(word);
    expect_refused(list({"--limit", word}), "--limit must be a whole number from 1 to 100000");
  }
}

TEST(IdemctlOptionValues, ResolveNeedsEachOfItsOptions) {
  expect_no_server(resolve_with("", ""));
  for (const std::string option :
       {"principal", "operation", "key", "fence", "attempt", "state", "status", "who", "why"}) {
    SCOPED_TRACE(option);
    expect_refused(resolve_with("--" + option, ""), "--" + option + " is needed, and must not be empty");
  }
  expect_refused(run_idemctl({"list"}), "--database-url is needed, and must not be empty");
}

TEST(IdemctlOptionValues, ResolveNeedsTheEvidenceOfItsState) {
  const std::string completed =
      "--state completed needs either --generation or --charged-at, to tell whose charge it is, and no "
      "--no-effect";
  expect_refused(resolve_with("--generation", ""), completed);
  expect_refused(resolve_with("--generation", "7", {"--charged-at", "2026-01-31T12:00:00Z"}), completed);
  expect_refused(resolve_with("--generation", "7", {"--no-effect", "stored-decline"}), completed);
  expect_refused(resolve_with("--generation", "", {"--no-effect", "stored-decline"}), completed);
  const std::string failed =
      "--state failed needs --no-effect, a definitive answer that nothing was charged, and neither "
      "--generation nor --charged-at";
  expect_refused(resolve_with("--state", "failed"), failed);
  expect_refused(resolve_with("--state", "failed", {"--no-effect", "stored-decline"}), failed);
}

TEST(IdemctlOptionValues, NoEffectIsOneOfTheDefinitiveAnswers) {
  const auto failed_for = [](const std::string& reason) {
    return run_idemctl({"resolve",
                        "--database-url",
                        "postgresql://127.0.0.1:1/d",
                        "--principal",
                        "p",
                        "--operation",
                        "op",
                        "--key",
                        "k",
                        "--fence",
                        "7",
                        "--attempt",
                        "01890a5d-ac96-774b-bcce-b302099a8057",
                        "--state",
                        "failed",
                        "--status",
                        "402",
                        "--who",
                        "ann",
                        "--why",
                        "w",
                        "--no-effect",
                        reason});
  };
  for (const std::string reason :
       {"stored-decline", "void-refuses-later", "closed-settlement", "operator-decision"}) {
    SCOPED_TRACE(reason);
    expect_no_server(failed_for(reason));
  }
  for (const std::string reason : {"", "not-found", "stored_decline"}) {
    SCOPED_TRACE(reason);
    expect_refused(failed_for(reason),
                   "--no-effect must be one of stored-decline, void-refuses-later, closed-settlement, "
                   "operator-decision");
  }
}

TEST(IdemctlOptionValues, ResolveRefusesWordsThatMeanNothing) {
  const std::string fences = " must be a whole number from 1 to 9223372036854775807";
  for (const std::string word : {"0", "-7", "7.0", "seven", "9223372036854775808"}) {
    SCOPED_TRACE(word);
    expect_refused(resolve_with("--fence", word), "--fence" + fences);
    expect_refused(resolve_with("--generation", word), "--generation" + fences);
  }
  expect_refused(resolve_with("--attempt", "01890a5dac96774bbcceb302099a8057"),
                 "--attempt must be a UUID of 36 characters");
  for (const std::string word : {"unknown", "in_progress", "COMPLETED"}) {
    expect_refused(resolve_with("--state", word), "--state must be completed or failed");
  }
  for (const std::string word : {"2147483648", "ok", "200 "}) {
    expect_refused(resolve_with("--status", word),
                   "--status must be a whole number from -2147483648 to 2147483647");
  }
  expect_refused(resolve_with("", "", {"--header", "Location"}), "--header must be \"Name: value\"");
  expect_refused(resolve_with("--key", std::string(256, 'k')),
                 "the key has 256 bytes: at most 255 are allowed");
}

TEST(IdemctlOptionValues, TimesAreRfc3339) {
  for (const std::string word :
       {"2026-01-31T12:00:00Z", "2026-01-31T12:00:00.5Z", "2026-01-31T12:00:00.123456789Z",
        "2024-02-29T23:59:59+14:00", "2026-01-31T12:00:00-00:30"}) {
    SCOPED_TRACE(word);
    expect_no_server(resolve_with("--generation", "", {"--charged-at", word}));
  }
  for (const std::string word :
       {"", "2026-01-31", "2026-01-31T12:00:00", "2026-01-31 12:00:00Z", "2026-02-29T12:00:00Z",
        "2026-13-01T12:00:00Z", "2026-00-01T12:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:60:00Z",
        "2026-01-31T12:00:60Z", "2026-01-31T12:00:00.Z", "2026-01-31T12:00:00+0200",
        "2026-01-31T12:00:00+02:60", "2026-01-31T12:00:00Zulu", "26-01-31T12:00:00Z", "2026-1-31T12:00:00Z",
        "-026-01-31T12:00:00Z"}) {
    SCOPED_TRACE(word);
    expect_refused(
        resolve_with("--generation", "", {"--charged-at", word}),
        "--charged-at must be a time as RFC 3339 has it: 2026-01-31T12:00:00.5Z, 2026-01-31T14:00:00+02:00");
  }
}

TEST(IdemctlOptionValues, ABodyOverTheLimitIsRefusedWithoutBeingHeld) {
  const Ended run = run_idemctl({"resolve",
                                 "--database-url",
                                 "postgresql://127.0.0.1:1/d",
                                 "--principal",
                                 "p",
                                 "--operation",
                                 "op",
                                 "--key",
                                 "k",
                                 "--fence",
                                 "7",
                                 "--attempt",
                                 "01890a5d-ac96-774b-bcce-b302099a8057",
                                 "--state",
                                 "completed",
                                 "--status",
                                 "201",
                                 "--generation",
                                 "7",
                                 "--who",
                                 "ann",
                                 "--why",
                                 "w"},
                                {.in_file = "/dev/zero"});
  expect_refused(run, "standard input is longer than the limit of 16777216 bytes");
}

}  // namespace
}  // namespace idem::test
