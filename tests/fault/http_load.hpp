// Load on `payments serve` from several clients, while it is killed and started again. The acquirer's ledger is the judge.
#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace idem::fault_test {

struct LoadOptions {
  std::chrono::milliseconds duration{};  ///< New intents are begun for so long.
  int kills = 0;
  int clients = 16;
  std::chrono::milliseconds lease{2000};
  /// From a charge to its answer: a kill has to find some in between.
  std::chrono::milliseconds acquirer_delay{40};
  /// Planted: after no answer, each client tries again, under another key.
  bool mints_again = false;
  /// Planted: the acquirer charges whatever it is sent.
  bool acquirer_forgets = false;
  /// Planted: at the end, when each intent is asked for once more, the server fails.
  bool replays_fail = false;
  /// Planted: one of the clients throws.
  bool a_client_fails = false;
};

struct LoadReport {
  std::chrono::milliseconds duration{};
  std::uint64_t in_duration = 0;  ///< Requests that had an answer by its end.
  std::uint64_t intents = 0;
  std::uint64_t attempts = 0;     ///< Requests by the client's rule.
  std::uint64_t concurrent = 0;   ///< Duplicates beside an attempt, at the same moment on another connection.
  std::uint64_t late = 0;         ///< Duplicates after the answer.
  std::uint64_t asked_again = 0;  ///< One of each intent at the end; no duplicate of the load.
  std::uint64_t answers = 0;
  std::uint64_t replays = 0;
  std::uint64_t in_progress = 0;  ///< 409
  std::uint64_t failures = 0;     ///< 5xx
  std::uint64_t no_answers = 0;
  std::uint64_t vanished = 0;  ///< Clients that got no answer and came back only at the end.
  std::uint64_t exhausted =
      0;  ///< Clients whose rule had no more tries, and who began anew with the same intent.
  int kills = 0;
  std::uint64_t left_in_progress = 0;  ///< Keys, by the kills, summed up.
  std::uint64_t charges = 0;
  std::uint64_t declines = 0;
  std::uint64_t taken_over = 0;
  std::chrono::milliseconds lease{};
  std::chrono::milliseconds
      longest_in_progress{};  ///< From the reservation to the decision, by the database's clock.
  std::vector<std::string> violations;
};

/// The report, without the violations.
std::ostream& operator<<(std::ostream& out, const LoadReport& report);

/// Clients make intents, some of them declined ones, and send each by idem::http::ClientRule until it is decided; a fifth of
/// the requests are duplicates; every second kill comes between an approval and its answer, the others at any moment.
///
/// Then, with all of them gone, the sweep alone has to end what is left. Those who had vanished come back, each intent is
/// asked for once more, and it is judged:
///
/// - for each intent one entry in the ledger, as its amount demands, and none beside those;
/// - one payment, one event, one settled record, which agree with it; for an approved one a seat and a receipt, which the
///   consumer has applied once;
/// - no record in progress, and none unknown;
/// - all answers that decide are the same bytes, and a replay once one was given; a failure (5xx) is none then;
/// - no client has thrown.
///
/// Throws std::runtime_error where something does not run at all.
[[nodiscard]] LoadReport run_load(const LoadOptions& options);

}  // namespace idem::fault_test
