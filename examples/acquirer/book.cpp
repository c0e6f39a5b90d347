#include "book.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

namespace acquirer {
namespace {

using nlohmann::json;

TimePoint now() {
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

// The payments example's rule.
Outcome decide(Mode mode, const Charge& charge) {
  return mode == Mode::decline || charge.amount_cents % 100 == 13 ? Outcome::declined : Outcome::approved;
}

json members(const Entry& entry) {
  return {{"outcome", name(entry.outcome)},
          {"charge_id", entry.charge_id},
          {"key", entry.key},
          {"amount_cents", entry.amount_cents},
          {"currency", entry.currency},
          {"reference", entry.reference},
          {"at", rfc3339(entry.at)}};
}

// Made of the entry alone, so that a replay is the same bytes, after a restart too.
Answer answer(const Entry& entry) {
  return {entry.outcome == Outcome::approved ? 201 : 402, members(entry).dump()};
}

Answer conflict(const char* error) {
  return {409, json{{"error", error}}.dump()};
}

}  // namespace

Book::Book(Ledger& ledger) : ledger_{ledger} {
  for (std::size_t i = 0; i < ledger_.entries().size(); ++i) by_key_[ledger_.entries()[i].key] = i;
}

Answer Book::charge(const std::string& key, const Charge& charge) {
  std::unique_lock lock{mutex_};
  const bool deduplicate = behaviour_.deduplicate;
  if (deduplicate) {
    if (auto replay = known(key, charge)) return std::move(*replay);
  }
  const Behaviour behaviour = next_behaviour();
  if (behaviour.mode == Mode::timeout_before) return {0, "", Delivery::never};
  if (behaviour.mode != Mode::late) return take_effect(key, charge, behaviour.mode);

  if (deduplicate) in_progress_.emplace(key, charge);
  lock.unlock();
  std::this_thread::sleep_for(behaviour.effect_after);
  lock.lock();
  Answer answer = take_effect(key, charge, behaviour.mode);
  lock.unlock();
  std::this_thread::sleep_for(behaviour.delay);
  lock.lock();
  if (deduplicate) in_progress_.erase(key);
  return answer;
}

std::optional<Answer> Book::known(const std::string& key, const Charge& charge) const {
  if (const auto found = in_progress_.find(key); found != in_progress_.end()) {
    return conflict(found->second == charge ? "in_progress" : "key_reused");
  }
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return std::nullopt;
  const Entry& entry = ledger_.entries()[found->second];
  if (behaviour_.window && now() - entry.at >= *behaviour_.window) return std::nullopt;
  return made_of(entry, charge) ? answer(entry) : conflict("key_reused");
}

Behaviour Book::next_behaviour() {
  Behaviour next = behaviour_;
  if (behaviour_.count && --*behaviour_.count == 0) {
    behaviour_.mode = Mode::approve;
    behaviour_.count.reset();
  }
  return next;
}

Answer Book::take_effect(const std::string& key, const Charge& charge, Mode mode) {
  ledger_.append(enter(key, charge, decide(mode, charge), now()));
  by_key_[key] = ledger_.entries().size() - 1;
  Answer given = answer(ledger_.entries().back());
  if (mode == Mode::timeout_after) given.delivery = Delivery::never;
  if (mode == Mode::drop_answer) given.delivery = Delivery::cut;
  return given;
}

std::string Book::ledger() const {
  const std::lock_guard lock{mutex_};
  json lines = json::array();
  for (const Entry& entry : ledger_.entries()) lines.push_back(members(entry));
  return lines.dump();
}

std::string Book::control(std::string_view control) {
  const std::lock_guard lock{mutex_};
  behaviour_ = changed(behaviour_, control);
  json told{{"mode", name(behaviour_.mode)},
            {"count", nullptr},
            {"deduplicate", behaviour_.deduplicate},
            {"window_seconds", nullptr},
            {"effect_after_ms", behaviour_.effect_after.count()},
            {"delay_ms", behaviour_.delay.count()}};
  if (behaviour_.count) told["count"] = *behaviour_.count;
  if (behaviour_.window) told["window_seconds"] = behaviour_.window->count();
  return told.dump();
}

}  // namespace acquirer
