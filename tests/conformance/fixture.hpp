// What the suites ask of a backend's tests, and what they have in common.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/backend.hpp"
#include "idem/base/clock.hpp"
#include "idem/command/outcome.hpp"
#include "idem/event/outbox_store.hpp"
#include "idem/response/rules.hpp"
#include "testing/conformance_test.hpp"

namespace idem::conformance {

/// A backend with nothing in it, and a service's own tables beside it. Made anew for each test.
class Fixture {
 public:
  virtual ~Fixture() = default;

  [[nodiscard]] virtual const Backend& backend() const = 0;
  /// Safe between threads. The unit's commit() throws TransactionConflict where a race refuses it.
  [[nodiscard]] virtual std::unique_ptr<Unit> begin() = 0;
  /// How many units are alive.
  [[nodiscard]] virtual std::size_t open_units() const = 0;

  /// As in store_conformance.hpp.
  virtual void advance(std::chrono::milliseconds duration) = 0;
  [[nodiscard]] virtual bool keeps_its_snapshot() const = 0;
  /// The store's clock, and whether it moves but for advance().
  [[nodiscard]] virtual TimePoint now() const = 0;
  [[nodiscard]] virtual bool clock_stands_still() const = 0;

  /// Throws what a serialization failure of this backend throws.
  virtual void conflict(Tx& tx) = 0;
  /// The which-th commit from now (1: the next), or the next one, throws as a lost connection does. The second is lost by
  /// the backend itself where it can do that.
  virtual void lose_commit(int which, bool applied) = 0;
  virtual void lose_next_commit(bool applied) = 0;

  /// Needed before the functions below.
  virtual void make_tables() = 0;
  /// A payment, unique by id: a row that must not be there yet; one that is added or whose state is replaced; how many are
  /// committed, and in which state one is.
  virtual void pay(Tx& tx, const std::string& id) = 0;
  virtual void put(Tx& tx, const std::string& id, const std::string& state) = 0;
  [[nodiscard]] virtual std::size_t payments() = 0;
  [[nodiscard]] virtual std::optional<std::string> state(const std::string& id) = 0;
  /// A seat, of a table without a unique key, and how many are committed.
  virtual void enrol(Tx& tx, const std::string& id) = 0;
  [[nodiscard]] virtual std::size_t enrolled() = 0;

  /// What is committed: the outbox, by sequence, and how many events consumers have seen.
  [[nodiscard]] virtual std::vector<OutboxEvent> outbox() = 0;
  [[nodiscard]] virtual std::size_t inbox_rows() = 0;
};

/// How the backend stores answers.
struct FixtureOptions {
  ResponseRules responses{};
  std::size_t max_response_bytes = std::size_t{16} << 20;
};

/// A payment; each `content` is another request.
[[nodiscard]] Request payment_request(std::string key, char content);

/// A test on such a fixture.
class Conformance : public ::testing::Test {
 public:
  using MakeFixture = std::function<std::unique_ptr<Fixture>(FixtureOptions)>;

 protected:
  explicit Conformance(const MakeFixture& make) : fixture_{make({})}, fixture{*fixture_} {}

  static Request request(std::string key = "k1", char content = 'a') {
    return payment_request(std::move(key), content);
  }
  const Backend& backend() const { return fixture.backend(); }
  auto begin() {
    return [this] { return fixture.begin(); };
  }
  std::optional<Record> find(const Request& of = request());

 private:
  const std::unique_ptr<Fixture> fixture_;

 protected:
  Fixture& fixture;
};

}  // namespace idem::conformance
