// The answer is known, and the server passes over the last transaction for a moment: a lock_timeout, a statement_timeout, no
// memory, a server that is just being replaced and read-only. hold() makes it safe to run that transaction again.
#include <gtest/gtest.h>

#include <pqxx/pqxx>
#include <string>

#include "idem/call/external_call.hpp"
#include "postgres/test_database.hpp"
#include "postgres/test_unit.hpp"

namespace idem::postgres_test {
namespace {

struct Charge {
  std::string code;
  int finished = 0;
  [[nodiscard]] static Downstream downstream() { return cannot_deduplicate("acquirer"); }
  static void prepare(pqxx::dbtransaction&, const CallContext&) {}
  static CallResult<int> call(const CallContext&) { return 1; }
  Decision finish(pqxx::dbtransaction& tx, const CallContext&, const int&) {
    if (++finished == 1) tx.exec("DO $$ BEGIN RAISE 'not now' USING errcode = '" + code + "'; END $$");
    return completed(text_response(201, ""));
  }
  static Response unknown(pqxx::dbtransaction&, const CallContext&) { return text_response(202, ""); }
};

TEST(FinishPassingFailure, AKnownAnswerIsNotMadeUnknownByAFailureThatPasses) {
  const TestDatabase database{};
  for (const char* code : {"55P03", "57014", "53200", "25006"}) {
    SCOPED_TRACE(code);
    Charge charge{code};
    const Request request{{"p", "op", code}, Fingerprinter{}({.operation = "op", .body = "{}"})};
    try {
      const Outcome outcome = external_call(
          database.backend(), [&] { return TestUnit{database}; }, request, charge);
      EXPECT_TRUE(std::holds_alternative<Executed>(outcome));
    } catch (const std::exception&) {
      ADD_FAILURE() << "passed on; the record is UNKNOWN, and a person has to find out what was known";
    }
  }
}

TEST(FinishPassingFailure, TheLastTransactionHasItsOwnBoundOfTries) {
  const TestDatabase database{};
  CallOptions options;
  options.retry.max_tries = 1;
  options.retry.pause = [](std::chrono::milliseconds) {};
  const auto pay = [&](const std::string& key) {
    Charge charge{"55P03"};
    const Request request{{"p", "op", key}, Fingerprinter{}({.operation = "op", .body = "{}"})};
    return external_call(
        database.backend(), [&] { return TestUnit{database}; }, request, charge, options);
  };
  options.settle_tries = 2;
  EXPECT_TRUE(std::holds_alternative<Executed>(pay("two")));
  options.settle_tries = 1;
  EXPECT_ANY_THROW((void)pay("one"));
  options.settle_tries = 0;
  EXPECT_THROW((void)pay("none"), InvalidArgument);
}

}  // namespace
}  // namespace idem::postgres_test
