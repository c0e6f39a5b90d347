// "Conflicts and lost connections are retried within the bounds of the options" (external_call()).
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "idem/call/external_call.hpp"
#include "idem/memory/database.hpp"

namespace idem {
namespace {

struct Charge {
  int lost = 1;
  int calls = 0;
  [[nodiscard]] static Downstream downstream() {
    return deduplicates_for("acquirer", std::chrono::hours{24});
  }
  template <class Tx>
  void prepare(Tx&, const CallContext&) {
    // As a statement on a connection that the server has ended meanwhile: nothing is sent, nothing is committed.
    if (lost-- > 0) throw memory::CommitLost{"the connection was lost"};
  }
  CallResult<int> call(const CallContext&) { return ++calls; }
  template <class Tx>
  Decision finish(Tx&, const CallContext&, const int&) {
    return completed(text_response(201, ""));
  }
  template <class Tx>
  Response unknown(Tx&, const CallContext&) {
    return text_response(202, "");
  }
};

TEST(ExternalCall, AConnectionLostBeforeTheReservationsCommitIsRetriedAsIsOneOfTheOthers) {
  memory::Database database;
  Charge charge;
  const Request request{{"p", "op", "k"}, Fingerprinter{}({.operation = "op", .body = "{}"})};
  EXPECT_NO_THROW({
    const Outcome outcome = external_call(
        database, [&] { return database.begin(); }, request, charge);
    EXPECT_TRUE(std::holds_alternative<Executed>(outcome));
  });
  EXPECT_EQ(charge.calls, 1);
}

}  // namespace
}  // namespace idem
