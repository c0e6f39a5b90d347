// bench_purge [MILLIONS]: two purgers side by side over a table of 1,000,000 expired and 1,000,000 live records
// (MILLIONS: another number of each). Prints the median transaction; exits with 1 where a live record is gone or an
// expired one left.
#include <chrono>
#include <exception>
#include <iostream>
#include <mutex>
#include <pqxx/pqxx>
#include <string>
#include <thread>
#include <vector>

#include "idem/command/purge.hpp"
#include "idem/postgres/backend.hpp"
#include "idem/postgres/schema.hpp"
#include "measure.hpp"

namespace {

// Expired and live ones side by side on every page: the worst place for them.
void fill(pqxx::connection& connection, long count) {
  pqxx::work tx{connection};
  idem::postgres::install_schema(tx);
  tx.exec(
      "INSERT INTO idem_record (key_hash, principal, operation, idempotency_key, fingerprint, state, fence, "
      "attempt, "
      "generation, reserved_xact, resumable, call_deadline, lease_until, retention, response_status, "
      "response_headers, "
      "response_body, created_at, finished_at, expires_at) "
      "SELECT md5(n::text)::uuid, 'alice', 'POST /payments', n::text, decode(repeat('01', 33), 'hex'), 2, 1, "
      "md5(n::text)::uuid, 1, pg_current_xact_id(), false, interval '0', now(), interval '72 hours', 201, "
      "'', "
      "convert_to(repeat('x', 100), 'UTF8'), now() - interval '4 days', now() - interval '4 days', "
      "now() + CASE n % 2 WHEN 0 THEN interval '-1 day' ELSE interval '1 day' END "
      "FROM generate_series(1, " +
      std::to_string(2 * count) + ") AS n");
  tx.commit();
  pqxx::nontransaction{connection}.exec("VACUUM ANALYZE idem_record");
}

// Times each transaction from its beginning to its COMMIT.
class Unit {
 public:
  Unit(pqxx::connection& connection, std::vector<double>& times) : work_{connection}, times_{times} {}
  pqxx::work& transaction() { return work_; }
  void commit() {
    work_.commit();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin_;
    times_.push_back(took.count());
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  pqxx::work work_;
  std::vector<double>& times_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  const long count = (words.size() > 1 ? std::stol(words[1]) : 1) * 1'000'000;
  pqxx::connection connection{bench::database_url()};
  fill(connection, count);

  const idem::postgres::Backend backend;
  std::mutex mutex;
  std::vector<double> all_times;
  std::vector<idem::PurgeReport> reports;
  std::vector<std::string> failures;
  const auto begin = std::chrono::steady_clock::now();
  {
    const auto purge = [&] {
      try {
        pqxx::connection own{bench::database_url()};
        std::vector<double> times;
        const auto report = idem::purge_records(backend, [&] { return std::make_unique<Unit>(own, times); });
        const std::scoped_lock lock{mutex};
        all_times.insert(all_times.end(), times.begin(), times.end());
        reports.push_back(report);
      } catch (const std::exception& failure) {
        const std::scoped_lock lock{mutex};
        failures.emplace_back(failure.what());
      }
    };
    std::jthread one{purge};
    std::jthread other{purge};
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  for (const std::string& failure : failures) std::cout << "a purger failed: " << failure << '\n';

  pqxx::work tx{connection};
  const pqxx::result rows = tx.exec(
      "SELECT count(*) FILTER (WHERE expires_at > now()), count(*) FILTER (WHERE expires_at <= now()) FROM "
      "idem_record");
  const long live = rows[0][0].as<long>();
  const long expired = rows[0][1].as<long>();
  std::size_t purged = 0;
  for (const auto& report : reports) purged += report.rows;
  std::cout << "purge: " << purged << " expired records in " << all_times.size()
            << " transactions of two purgers, " << took.count() << " s: median "
            << bench::milliseconds(bench::median(all_times)) << " ms; " << live
            << " live records still there, " << expired << " expired ones left\n";
  return live == count && expired == 0 && failures.empty() ? 0 : 1;
}
