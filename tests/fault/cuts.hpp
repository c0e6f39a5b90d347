// The connection to the database lost at every protocol message, in each direction, before and after it
// arrives.
#pragma once

#include <exception>
#include <functional>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "fault/postgres_proxy.hpp"
#include "fault/settling.hpp"
#include "fault/told.hpp"
#include "postgres/test_database.hpp"

namespace idem::fault_test {

struct Cuts : Judged {
  int to_server = 0;  ///< Of the points.
  int errors = 0;     ///< Clients that were told nothing.
};

inline const std::vector<Direction> both_directions{Direction::to_server, Direction::to_client};

/// Asks once. Its connections end with it.
using Client = std::function<Told()>;

/// A test's database, reached through a proxy.
class ProxiedDatabase {
 public:
  explicit ProxiedDatabase(const postgres_test::TestDatabase& database);

  /// With the database's schema as its search path.
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] PostgresProxy& proxy() { return proxy_; }

  /// The server may still be carrying out what arrived before a cut: until it has ended that.
  void wait_for_the_server() const;

 private:
  ProxiedDatabase(const postgres_test::TestDatabase& database, pqxx::connection& connection);

  const postgres_test::TestDatabase& database_;
  PostgresProxy proxy_;
  std::string url_;
};

/// `open(url, key)` makes a client. The harness brings what it leaves to its end and judges it, by
/// `settle(key, then, ask, told)`.
template <class Harness, class Open>
Cuts cut_at_every_message(Harness& harness, const Open& open, Then then,
                          const std::vector<Direction>& directions = both_directions) {
  ProxiedDatabase database{harness.database()};
  Cuts cuts;
  const auto one = [&](const Cut& cut) {  // False where it did not come.
    const std::string key = std::string{cut.moment == Moment::before ? "before" : "after"} + " message " +
                            std::to_string(cut.message) +
                            (cut.direction == Direction::to_server ? " to the server" : " to the client") +
                            " in " + harness.database().schema();
    database.proxy().plan(cut);
    Client client = open(database.url(), key);
    const auto ask = [&]() -> Told {
      try {
        return client();
      } catch (const std::exception& failure) {
        return {"error", failure.what()};
      }
    };
    std::vector<Told> told{ask()};
    const bool has_cut = database.proxy().has_cut();
    if (told.back().kind == "error") ++cuts.errors;
    if (then == Then::sweep_alone) {
      // A sweep comes later than that.
      client = nullptr;
      database.wait_for_the_server();
    }
    cuts.add(harness.settle(key, then, ask, told));
    return has_cut;
  };
  for (const Direction direction : directions) {
    for (const Moment moment : {Moment::before, Moment::after}) {
      for (int message = 1; one({message, direction, moment}); ++message) {
        ++cuts.points;
        if (direction == Direction::to_server) ++cuts.to_server;
      }
    }
  }
  return cuts;
}

}  // namespace idem::fault_test
