#include "book.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "request.hpp"

namespace company {
namespace {

using nlohmann::json;

TimePoint now() {
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

// Made of the entry alone, so that a replay is the same bytes, after a restart too.
Answer answer(const Words& words, const Entry& entry) {
  return {entry.accepted ? 201 : 402, told(words, entry).dump()};
}

Answer conflict(const char* error) {
  return {409, json{{"error", error}}.dump()};
}

}  // namespace

Book::Book(const Company& company, Ledger& ledger) : company_{company}, ledger_{ledger} {
  for (const std::string& service : company_.services) behaviours_[service];
  for (std::size_t i = 0; i < ledger_.entries().size(); ++i) by_key_[ledger_.entries()[i].key] = i;
}

Answer Book::carry_out(const std::string& key, const Command& command) {
  std::unique_lock lock{mutex_};
  const bool deduplicate = behaviours_.at(command.service).deduplicate;
  if (deduplicate) {
    if (auto replay = known(key, command)) return std::move(*replay);
  }
  const Behaviour behaviour = next_behaviour(command.service);
  if (behaviour.mode == Mode::timeout_before) return {0, "", Delivery::never};
  if (behaviour.mode != Mode::late) return take_effect(key, command, behaviour.mode);

  // Also where this one is not deduplicated: others may be by then.
  const auto under_way = in_progress_.emplace(key, command);
  lock.unlock();
  std::this_thread::sleep_for(behaviour.effect_after);
  lock.lock();
  Answer answer = take_effect(key, command, behaviour.mode);
  lock.unlock();
  std::this_thread::sleep_for(behaviour.delay);
  lock.lock();
  in_progress_.erase(under_way);
  return answer;
}

std::optional<Answer> Book::known(const std::string& key, const Command& command) const {
  if (const auto found = in_progress_.find(key); found != in_progress_.end()) {
    return conflict(found->second == command ? "in_progress" : "key_reused");
  }
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return std::nullopt;
  const Entry& entry = ledger_.entries()[found->second];
  const auto& window = behaviours_.at(command.service).window;
  if (window && now() - entry.at >= *window) return std::nullopt;
  return made_of(entry, command) ? answer(company_.words, entry) : conflict("key_reused");
}

Behaviour Book::next_behaviour(const std::string& service) {
  Behaviour& behaviour = behaviours_.at(service);
  Behaviour next = behaviour;
  if (behaviour.count && --*behaviour.count == 0) {
    behaviour.mode = Mode::accept;
    behaviour.count.reset();
  }
  return next;
}

Answer Book::take_effect(const std::string& key, const Command& command, Mode mode) {
  const bool accepted = mode != Mode::refuse && !command.refused;
  ledger_.append(enter(company_.words, key, command, accepted, now()));
  by_key_[key] = ledger_.entries().size() - 1;
  Answer given = answer(company_.words, ledger_.entries().back());
  if (mode == Mode::timeout_after) given.delivery = Delivery::never;
  if (mode == Mode::drop_answer) given.delivery = Delivery::cut;
  return given;
}

std::string Book::ledger() const {
  const std::lock_guard lock{mutex_};
  json lines = json::array();
  for (const Entry& entry : ledger_.entries()) lines.push_back(told(company_.words, entry));
  return lines.dump();
}

std::string Book::control(std::string_view control) {
  json members = read_object(control);
  std::string service;
  if (const auto named = members.find("service"); named != members.end() && named->is_string()) {
    service = named->get<std::string>();
    members.erase(named);
  }
  const std::lock_guard lock{mutex_};
  const auto found = behaviours_.find(service);
  if (found == behaviours_.end()) throw BadRequest{"service must name one that there is"};
  Behaviour& behaviour = found->second;
  behaviour = changed(company_.words, behaviour, members);
  json told{{"mode", name(company_.words, behaviour.mode)},
            {"count", nullptr},
            {"deduplicate", behaviour.deduplicate},
            {"window_seconds", nullptr},
            {"effect_after_ms", behaviour.effect_after.count()},
            {"delay_ms", behaviour.delay.count()}};
  if (behaviour.count) told["count"] = *behaviour.count;
  if (behaviour.window) told["window_seconds"] = behaviour.window->count();
  if (!service.empty()) told["service"] = service;
  return told.dump();
}

}  // namespace company
