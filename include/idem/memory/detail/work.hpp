// One open transaction of an in-memory database: its savepoints, what it wrote, whom it waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace idem {
inline namespace v0 {
namespace memory::detail {

struct Shared;

// One write to one row. Either is called once, with the mutex held.
class Change {
 public:
  virtual ~Change() = default;
  virtual void undo() noexcept = 0;
  virtual void publish() noexcept = 0;
};

// Belongs to one thread at a time, as its transaction does; others read only whom it waits for.
class Work {
 public:
  using LevelId = std::uint64_t;
  using Lock = std::unique_lock<std::mutex>;
  static constexpr LevelId outermost = 0;

  Work(Shared& shared, std::uint64_t number) : shared_{shared}, number_{number} {
    levels_.push_back({outermost, 0, 0, false});
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() = default;

  [[nodiscard]] Shared& shared() const noexcept { return shared_; }
  // Unlike an address, never another transaction's again.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] bool is_open(LevelId level) const noexcept;

  // Takes the mutex for a call made at `level`. Throws TransactionClosed where that level has ended or the
  // innermost one is spoiled.
  [[nodiscard]] Lock enter(LevelId level);

  // Opens a level inside the innermost one.
  [[nodiscard]] LevelId open_level(LevelId parent);
  // Ends `level` into the one around it; the outermost one's changes become visible to all.
  void commit(LevelId level);
  // Undoes what was done since `level` was opened, and ends it with all levels inside it.
  void rollback(LevelId level) noexcept;

  void on_commit(LevelId level, std::function<void()> call);
  void on_rollback(LevelId level, std::function<void()> call);

  // What follows is called inside enter().

  void log(std::unique_ptr<Change> change) { changes_.push_back(std::move(change)); }
  // Waits until some rows are given up, as `other` holds one that is needed here. Where `other` waits for
  // this one in the end: spoils the innermost level and throws TransactionConflict.
  void wait_for(Lock& lock, const Work& other);
  // What an error does to a transaction on PostgreSQL: undoes the innermost level, gives up its rows, and
  // refuses everything in it but its rollback.
  void spoil() noexcept;
  // The same to `level` and all levels inside it.
  void spoil(LevelId level) noexcept;

 private:
  struct Level {
    LevelId id;
    std::size_t changes;    // where its own begin
    std::size_t callbacks;  // likewise
    bool spoiled;
  };
  struct Callback {
    bool at_commit;
    std::function<void()> call;
  };

  void check_usable(LevelId level) const;
  void undo_since(std::size_t change) noexcept;
  void give_up_rows() noexcept;
  void commit_outermost();

  Shared& shared_;
  const std::uint64_t number_;
  std::vector<Level> levels_;
  LevelId last_level_ = outermost;
  std::vector<std::unique_ptr<Change>> changes_;
  std::vector<Callback> callbacks_;
  const Work* waits_for_ = nullptr;  // guarded by the mutex
};

// A transaction or subtransaction, as its object and its stores refer to it.
struct WorkLevel {
  std::shared_ptr<Work> work;
  Work::LevelId level = Work::outermost;
};

}  // namespace memory::detail
}  // namespace v0
}  // namespace idem
