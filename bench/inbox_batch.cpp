// bench_inbox_batch: 500 events delivered one by one, in one batch, and by hand-written SQL that does the same.
//
// Each round runs the three on new events, in another order each time, so that what else the machine does meets all
// alike. Run it under scripts/with-postgres, which flushes to disk as a real server does.
#include <array>
#include <iostream>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "idem/event/inbox.hpp"
#include "idem/postgres/backend.hpp"
#include "idem/postgres/schema.hpp"
#include "measure.hpp"

namespace {

constexpr int events_of_a_round = 500;

struct SeatTaken {
  idem::EventIdentity identity;
};

std::string row(pqxx::dbtransaction& tx, const std::string& id) {
  return "(" + tx.quote(id) + ", 'cpp-20', clock_timestamp())";
}

// The business write, the same for all three: one statement for however many seats.
void take_seats(pqxx::dbtransaction& tx, const std::vector<std::string>& ids) {
  std::string rows;
  for (const std::string& id : ids) rows += (rows.empty() ? "" : ", ") + row(tx, id);
  tx.exec("INSERT INTO seat (id, offering, taken_at) VALUES " + rows);
}

struct Enrolment {
  static constexpr std::string_view name = "enrolment";

  void apply(pqxx::dbtransaction& tx, const SeatTaken& event) { take_seats(tx, {event.identity.id}); }
  void apply_batch(pqxx::dbtransaction& tx, std::span<const SeatTaken* const> events) {
    std::vector<std::string> ids;
    ids.reserve(events.size());
    for (const SeatTaken* event : events) ids.push_back(event->identity.id);
    take_seats(tx, ids);
  }
};

class Bench {
 public:
  explicit Bench(pqxx::connection& connection) : connection_{connection} {
    pqxx::work tx{connection_};
    idem::postgres::install_schema(tx);
    tx.exec("CREATE TABLE seat (id text PRIMARY KEY, offering text NOT NULL, taken_at timestamptz NOT NULL)");
    tx.exec(
        "CREATE TABLE by_hand (consumer text, source text, event_id text, received_at timestamptz NOT NULL, "
        "PRIMARY KEY (consumer, source, event_id))");
    tx.commit();
  }

  void one_by_one() {
    for (const SeatTaken& event : new_events()) {
      pqxx::work tx{connection_};
      (void)inbox_.deliver(static_cast<pqxx::dbtransaction&>(tx), event);
      tx.commit();
    }
  }
  void batch() {
    const auto events = new_events();
    pqxx::work tx{connection_};
    (void)inbox_.deliver_batch(static_cast<pqxx::dbtransaction&>(tx), events);
    tx.commit();
  }
  void by_hand() {
    const auto events = new_events();
    pqxx::work tx{connection_};
    std::string rows;
    for (const SeatTaken& event : events) {
      rows += (rows.empty() ? "('enrolment', " : ", ('enrolment', ") + tx.quote(event.identity.source) +
              ", " + tx.quote(event.identity.id) + ", clock_timestamp())";
    }
    const pqxx::result marked =
        tx.exec("INSERT INTO by_hand (consumer, source, event_id, received_at) VALUES " + rows +
                " ON CONFLICT DO NOTHING RETURNING event_id");
    std::vector<std::string> ids;
    for (const auto& each : marked) ids.push_back(each[0].as<std::string>());
    take_seats(tx, ids);
    tx.commit();
  }

 private:
  std::vector<SeatTaken> new_events() {
    std::vector<SeatTaken> events;
    events.reserve(events_of_a_round);
    const auto now =
        std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    for (int i = 0; i < events_of_a_round; ++i) {
      events.push_back({{"payments", idem::random_uuid_v7(now).to_string(), std::nullopt}});
    }
    return events;
  }

  pqxx::connection& connection_;
  idem::postgres::Backend backend_;
  Enrolment enrolment_;
  idem::Inbox<Enrolment, idem::postgres::Backend> inbox_{backend_, enrolment_};
};

}  // namespace

int main() {
  pqxx::connection connection{bench::database_url()};
  Bench bench{connection};
  constexpr int rounds = 21;
  const auto medians = bench::paired_medians(
      rounds, {[&] { bench.one_by_one(); }, [&] { bench.batch(); }, [&] { bench.by_hand(); }});
  std::cout << "inbox, " << events_of_a_round << " events, medians of " << rounds << " rounds: one by one "
            << bench::milliseconds(medians[0]) << " ms, one batch " << bench::milliseconds(medians[1])
            << " ms, by hand " << bench::milliseconds(medians[2]) << " ms\n"
            << "inbox, batch against one by one: " << medians[0] / medians[1] << " times as fast\n"
            << "inbox, batch against hand-written SQL: " << medians[2] / medians[1] << " of its speed\n";
}
