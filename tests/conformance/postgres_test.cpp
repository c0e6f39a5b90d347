// PostgreSQL runs the suites that every backend runs, in each kind of transaction that a caller may have.
#include <chrono>
#include <memory>
#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <utility>
#include <vector>

#include "base/hex.hpp"
#include "conformance/lossy_unit.hpp"
#include "conformance/suites.hpp"
#include "idem/event/outbox.hpp"
#include "postgres/row.hpp"
#include "postgres/test_database.hpp"
#include "postgres/test_unit.hpp"
#include "postgres/transaction_kind.hpp"

namespace idem::conformance {
namespace {

using postgres_test::TransactionKind;

class PostgresFixture final : public Fixture {
 public:
  PostgresFixture(const TransactionKind& kind, FixtureOptions options)
      : database_{
            {.max_response_bytes = options.max_response_bytes, .responses = std::move(options.responses)},
            kind} {}

  const Backend& backend() const override { return backend_; }
  std::unique_ptr<Unit> begin() override {
    return std::make_unique<LossyUnit<postgres_test::TestUnit, pqxx::in_doubt_error>>(losses_, database_);
  }
  std::size_t open_units() const override { return static_cast<std::size_t>(losses_.units.load()); }

  void advance(std::chrono::milliseconds duration) override { database_.advance(duration); }
  bool keeps_its_snapshot() const override { return database_.kind().keeps_its_snapshot(); }
  TimePoint now() const override {
    return TimePoint{std::chrono::microseconds{
        database_.number("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")}};
  }
  bool clock_stands_still() const override { return false; }

  void conflict(Tx& tx) override { real(tx).exec("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$"); }
  void lose_commit(int which, bool applied) override { losses_.lose(which, applied); }
  void lose_next_commit(bool applied) override { losses_.lose(1, applied); }

  void make_tables() override {
    database_.execute(
        "CREATE TABLE payment (id text PRIMARY KEY, state text NOT NULL); CREATE TABLE seat (id text NOT "
        "NULL)");
  }
  // With the schema's name: through the pooler there is no search path.
  void pay(Tx& tx, const std::string& id) override {
    real(tx).exec("INSERT INTO " + table("payment") + " VALUES (" + real(tx).quote(id) + ", 'PAID')");
  }
  void put(Tx& tx, const std::string& id, const std::string& state) override {
    real(tx).exec("INSERT INTO " + table("payment") + " VALUES (" + real(tx).quote(id) + ", " +
                  real(tx).quote(state) + ") ON CONFLICT (id) DO UPDATE SET state = excluded.state");
  }
  std::size_t payments() override { return count("payment"); }
  std::optional<std::string> state(const std::string& id) override {
    const auto connection = database_.connect();
    pqxx::work tx{*connection};
    const pqxx::result rows = tx.exec("SELECT state FROM payment WHERE id = " + tx.quote(id));
    if (rows.empty()) return std::nullopt;
    return rows[0][0].as<std::string>();
  }
  void enrol(Tx& tx, const std::string& id) override {
    real(tx).exec("INSERT INTO " + table("seat") + " VALUES (" + real(tx).quote(id) + ")");
  }
  std::size_t enrolled() override { return count("seat"); }

  std::vector<OutboxEvent> outbox() override {
    const auto connection = database_.connect();
    pqxx::work tx{*connection};
    const pqxx::result rows = tx.exec(
        "SELECT event_id, aggregate_type, aggregate_id, event_type, encode(payload, 'hex'), encode(headers, "
        "'hex'), "
        "sequence, (extract(epoch FROM created_at) * 1000000)::bigint FROM idem_outbox ORDER BY sequence");
    std::vector<OutboxEvent> events;
    for (const auto& row : rows) {
      const auto headers = from_hex(row[5].as<std::string>()).value();
      events.push_back(
          {Uuid::parse(row[0].as<std::string>()).value(),
           {row[1].as<std::string>(), row[2].as<std::string>(), row[3].as<std::string>(),
            from_hex(row[4].as<std::string>()).value(),
            postgres::decode_headers({reinterpret_cast<const char*>(headers.data()), headers.size()})},
           row[6].as<std::int64_t>(),
           TimePoint{std::chrono::microseconds{row[7].as<std::int64_t>()}}});
    }
    return events;
  }
  std::size_t inbox_rows() override { return count("idem_inbox"); }

 private:
  static pqxx::dbtransaction& real(Tx& tx) { return real_transaction<pqxx::dbtransaction>(tx); }
  std::string table(const std::string& name) const { return '"' + database_.schema() + "\"." + name; }
  std::size_t count(const std::string& of) {
    return static_cast<std::size_t>(database_.number("SELECT count(*) FROM " + of));
  }

  postgres_test::TestDatabase database_;
  BackendOf<postgres::Backend, pqxx::dbtransaction> backend_{database_.backend()};
  CommitsToLose losses_;
};

const bool registered = [] {
  for (const TransactionKind& kind : postgres_test::transaction_kinds) {
    register_conformance(std::string{kind.name}, [kind](FixtureOptions options) {
      return std::make_unique<PostgresFixture>(kind, std::move(options));
    });
  }
  return true;
}();

}  // namespace
}  // namespace idem::conformance
