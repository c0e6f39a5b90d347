#include "behaviour.hpp"

#include <array>
#include <string>

#include "request.hpp"

namespace company {
namespace {

using nlohmann::json;

constexpr std::array modes{Mode::accept,        Mode::refuse,      Mode::timeout_before,
                           Mode::timeout_after, Mode::drop_answer, Mode::late};

Mode mode(const Words& words, const json& value) {
  for (const Mode known : modes) {
    if (value == name(words, known)) return known;
  }
  throw BadRequest{"mode must be " + words.accept + ", " + words.refuse +
                   ", timeout_before, timeout_after, drop_answer or late"};
}

std::uint64_t number(const std::string& name, const json& value, std::uint64_t least) {
  constexpr std::uint64_t largest = 1'000'000'000;
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number >= least && number <= largest) return number;
  }
  throw BadRequest{name + " must be an integer from " + std::to_string(least) + " to " +
                   std::to_string(largest)};
}

std::chrono::milliseconds milliseconds(const std::string& name, const json& value) {
  return std::chrono::milliseconds{number(name, value, 0)};
}

}  // namespace

std::string name(const Words& words, Mode mode) {
  switch (mode) {
    case Mode::accept:
      return words.accept;
    case Mode::refuse:
      return words.refuse;
    case Mode::timeout_before:
      return "timeout_before";
    case Mode::timeout_after:
      return "timeout_after";
    case Mode::drop_answer:
      return "drop_answer";
    case Mode::late:
      return "late";
  }
  return "";
}

Behaviour changed(const Words& words, Behaviour behaviour, const json& members) {
  // First, as it brings the defaults of the others.
  if (const auto found = members.find("mode"); found != members.end()) {
    behaviour.mode = mode(words, *found);
    behaviour.count.reset();
    behaviour.effect_after = {};
    const bool late = behaviour.mode == Mode::late && !members.contains("effect_after_ms");
    behaviour.delay = std::chrono::milliseconds{late ? 1000 : 0};
  }
  for (const auto& [name, value] : members.items()) {
    if (name == "mode") continue;
    if (name == "count") {
      behaviour.count = number(name, value, 1);
    } else if (name == "deduplicate") {
      if (!value.is_boolean()) throw BadRequest{"deduplicate must be true or false"};
      behaviour.deduplicate = value.get<bool>();
    } else if (name == "window_seconds") {
      behaviour.window.reset();
      if (!value.is_null()) behaviour.window = std::chrono::seconds{number(name, value, 0)};
    } else if (name == "delay_ms" || name == "effect_after_ms") {
      if (behaviour.mode != Mode::late) throw BadRequest{name + " is for the mode late"};
      (name == "delay_ms" ? behaviour.delay : behaviour.effect_after) = milliseconds(name, value);
    } else {
      throw BadRequest{"a member of the control is unknown"};
    }
  }
  return behaviour;
}

}  // namespace company
