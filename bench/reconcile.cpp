// bench_reconcile [THOUSANDS [FILE]]: a settlement of 1,000,000 entries (THOUSANDS: another number) against as many
// records of the downstream. Of 1,000 entries one is missing, one declined, one charged twice, and one record is UNKNOWN.
// Prints the time and the most memory that this process had; exits with 1 where a finding is not the one planted. With
// FILE the settlement is written there as CSV instead, for idemctl reconcile, and nothing is compared.
#include <chrono>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string>
#include <vector>

#include "idem/call/downstream_key.hpp"
#include "idem/postgres/reconcile.hpp"
#include "idem/postgres/schema.hpp"
#include "measure.hpp"

namespace {

using idem::SettlementEntry;
using idem::SettlementOutcome;

idem::Fingerprint fingerprint() {
  return idem::Fingerprint::from_bytes(std::vector<std::byte>(33, std::byte{1}));
}

// COMPLETED each, but every 1,000th is UNKNOWN.
void fill(pqxx::connection& connection, long count) {
  pqxx::work tx{connection};
  idem::postgres::install_schema(tx);
  tx.exec(
      "INSERT INTO idem_record (key_hash, principal, operation, idempotency_key, fingerprint, state, fence, "
      "attempt, generation, reserved_xact, resumable, downstream, call_deadline, lease_until, retention, "
      "response_status, response_headers, response_body, created_at, finished_at, expires_at) "
      "SELECT md5(n::text)::uuid, 'alice', 'POST /payments', n::text, decode(repeat('01', 33), 'hex'), "
      "CASE n % 1000 WHEN 0 THEN 4 ELSE 2 END, 1, md5(n::text)::uuid, 1, pg_current_xact_id(), false, "
      "'acquirer', interval '0', now(), interval '72 hours', 201, '', convert_to(repeat('x', 100), 'UTF8'), "
      "now() - interval '1 day', CASE n % 1000 WHEN 0 THEN NULL ELSE now() END, "
      "CASE n % 1000 WHEN 0 THEN NULL ELSE now() + interval '2 days' END "
      "FROM generate_series(1, " +
      std::to_string(count) + ") AS n");
  tx.commit();
  pqxx::nontransaction{connection}.exec("VACUUM ANALYZE idem_record");
}

// Made while they are read, so that the memory is that of the comparison alone.
class Settlement {
 public:
  explicit Settlement(long count) : count_{count} {}

  std::optional<SettlementEntry> next() {
    if (repeat_) {
      repeat_ = false;
      return entry_;
    }
    if (++n_ % 1000 == 1) ++n_;  // the missing one
    if (n_ > count_) return std::nullopt;
    const std::string key = std::to_string(n_);
    entry_ = {.downstream_key = idem::downstream_key({"alice", "POST /payments", key}, stored_),
              .outcome = n_ % 1000 == 2 ? SettlementOutcome::declined : SettlementOutcome::charged,
              .amount = n_,
              .reference = "charge-" + key};
    repeat_ = n_ % 1000 == 3;
    return entry_;
  }

 private:
  long count_;
  long n_ = 0;
  bool repeat_ = false;
  SettlementEntry entry_;
  idem::Fingerprint stored_ = fingerprint();
};

void write(const std::string& path, long count) {
  std::ofstream file{path};
  file << "downstream_key,outcome,amount,reference\r\n";
  Settlement settlement{count};
  for (auto entry = settlement.next(); entry; entry = settlement.next()) {
    file << entry->downstream_key << ',' << idem::to_string(entry->outcome) << ',' << entry->amount << ','
         << entry->reference << "\r\n";
  }
  if (!file.flush()) throw std::runtime_error{"the file cannot be written"};
}

long peak_kib() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    long kib = 0;
    status >> kib;
    return kib;
  }
  throw std::runtime_error{"/proc/self/status does not tell the peak"};
}

int run(long count) {
  pqxx::connection connection{bench::database_url()};
  const long before = peak_kib();
  const auto begin = std::chrono::steady_clock::now();
  pqxx::work tx{connection};
  Settlement settlement{count};
  long shown = 0;
  const auto summary = idem::postgres::reconcile(
      tx, {}, {.downstream = "acquirer"}, [&] { return settlement.next(); },
      [&](const idem::Finding& finding) {
        if (finding.kind != idem::FindingKind::matched) ++shown;
      });
  tx.commit();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << "reconcile: " << summary.entries << " entries against " << count << " records, "
            << took.count() << " s: " << summary.matched << " matched, " << summary.ours_only
            << " ours only, " << summary.theirs_only << " theirs only, " << summary.differing
            << " differing (" << summary.charged_twice << " charged twice); peak of the client " << peak_kib()
            << " KiB, before it " << before << " KiB\n";
  const auto planted = static_cast<std::uint64_t>(count / 1000);
  const idem::ReconcileSummary right{.entries = static_cast<std::uint64_t>(count),
                                     .matched = static_cast<std::uint64_t>(count) - 3 * planted,
                                     .ours_only = planted,
                                     .theirs_only = planted,
                                     .differing = 2 * planted,
                                     .charged_twice = planted};
  return summary == right && shown == 4 * count / 1000 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> words(argv, argv + argc);
    const long count = (words.size() > 1 ? std::stol(words[1]) : 1000) * 1000;
    if (words.size() > 2) {
      write(words[2], count);
      return 0;
    }
    pqxx::connection connection{bench::database_url()};
    fill(connection, count);
    return run(count);
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 2;
  }
}
