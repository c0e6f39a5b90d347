// A response that is too large to be replayed is refused, not left out.
#include <gtest/gtest.h>

#include <pqxx/pqxx>
#include <string>

#include "idem/base/error.hpp"
#include "idem/command/execute.hpp"
#include "idem/request/fingerprint.hpp"
#include "postgres/test_database.hpp"

namespace idem::postgres_test {
namespace {

// Fault 39.
TEST(ResponseLimit, ALargerResponseIsRefusedAndNothingIsCommittedUnsettled) {
  const TestDatabase database{{.max_response_bytes = 10}};
  const Request request{{"p", "op", "k"}, Fingerprinter{}({.operation = "op", .body = "{}"})};
  int handled = 0;
  const auto answer = [&](const std::string& body) {
    const auto connection = database.connect();
    pqxx::work tx{*connection};
    Outcome outcome = execute(database.backend(), tx, request, [&](pqxx::work&, const Lease&) {
      ++handled;
      return completed(text_response(201, body));
    });
    tx.commit();
    return outcome;
  };
  EXPECT_THROW(static_cast<void>(answer("11 bytes...")), InvalidArgument);
  EXPECT_EQ(database.number("SELECT count(*) FROM idem_record"), 0);
  EXPECT_TRUE(std::holds_alternative<Executed>(answer("10 bytes..")));
  EXPECT_EQ(std::get<Replay>(answer("never")).response, text_response(201, "10 bytes.."));
  EXPECT_EQ(handled, 2);
}

TEST(ResponseLimit, HeadersCountAndTheLeaseStillHolds) {
  const TestDatabase database{{.max_response_bytes = 10}};
  const Key key{"p", "op", "k"};
  const auto connection = database.connect();
  pqxx::work tx{*connection};
  auto store = database.backend().store(tx);
  const auto reservation = store->reserve(key, Fingerprinter{}({.operation = "op", .body = "{}"}));
  const Lease lease = std::get<Acquired>(reservation).lease;
  // A name, a value, and the two characters that they are stored with.
  EXPECT_THROW(store->complete(lease, {201, {{"Name", "value"}}, {}}), InvalidArgument);
  EXPECT_NO_THROW(store->complete(lease, {201, {{"Name", "valu"}}, {}}));
}

}  // namespace
}  // namespace idem::postgres_test
