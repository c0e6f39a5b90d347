// One session of a schedule: its connection, its open transaction, and what it knows from its own earlier answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <pqxx/pqxx>
#include <string>

#include "idem/postgres/backend.hpp"
#include "idem/record/reservation.hpp"
#include "idem/request/key.hpp"

namespace idem::interleavings {

enum class Level { read_committed, repeatable_read, serializable };

[[nodiscard]] std::string name_of(Level level);

struct Settled {
  std::int64_t generation;
  State state;
  Response response;
};

// What one step did. A round is one choice of the explorer: a step that waited ends in a later round than it began.
struct Event {
  std::size_t session = 0;
  std::size_t transaction = 0;  // counted in each session
  std::string step{};
  std::string answer = "done";
  std::size_t started = 0;
  std::size_t ended = 0;
  std::optional<Reservation> reservation{};
  std::optional<Settled> settled{};    // not an answer to anybody before its transaction commits
  std::optional<std::int64_t> paid{};  // the generation that the business write belongs to
  bool committed = false;
  bool lost = false;     // LeaseLost
  bool expired = false;  // the stored answer expired, committed
  bool called = false;   // a call was sent to a downstream that cannot deduplicate
};

class Session {
 public:
  Session(std::size_t number, const postgres::Backend& backend, std::unique_ptr<pqxx::connection> connection,
          Level level)
      : number_{number}, backend_{backend}, connection_{std::move(connection)}, level_{level} {}

  // Rolls back what is open and forgets what is known.
  void begin_schedule(const Key& key);

  [[nodiscard]] std::size_t number() const { return number_; }
  [[nodiscard]] std::size_t transaction_number() const { return transaction_number_; }
  [[nodiscard]] int pid() const { return connection_->backendpid(); }
  [[nodiscard]] const Key& key() const { return key_; }

  // Begins one where none is open.
  pqxx::dbtransaction& transaction();
  [[nodiscard]] std::unique_ptr<IdempotencyStore> store() { return backend_.store(transaction()); }
  [[nodiscard]] const postgres::Backend& backend() const { return backend_; }
  [[nodiscard]] bool in_transaction() const { return transaction_ != nullptr; }

  // As a caller does who swallows every exception: a transaction that was lost is committed too. A session whose commit
  // fails gives up its lease.
  void commit(Event& event);
  void rollback();

  // Since an error, nothing but the end of the transaction is tried in it.
  void doom() { doomed_ = true; }
  [[nodiscard]] bool doomed() const { return doomed_; }
  [[nodiscard]] bool holds() const { return lease.has_value() && !doomed_; }

  std::optional<Lease> lease;
  std::optional<Record> found;

 private:
  void end_transaction();

  std::size_t number_;
  const postgres::Backend& backend_;
  std::unique_ptr<pqxx::connection> connection_;
  Level level_;
  Key key_;
  std::unique_ptr<pqxx::dbtransaction> transaction_;
  std::size_t transaction_number_ = 0;
  bool doomed_ = false;
};

}  // namespace idem::interleavings
