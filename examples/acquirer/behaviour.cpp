#include "behaviour.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "request.hpp"

namespace acquirer {
namespace {

using nlohmann::json;

constexpr std::array modes{Mode::approve,       Mode::decline,     Mode::timeout_before,
                           Mode::timeout_after, Mode::drop_answer, Mode::late};

Mode mode(const json& value) {
  for (const Mode known : modes) {
    if (value == name(known)) return known;
  }
  throw BadRequest{"mode must be approve, decline, timeout_before, timeout_after, drop_answer or late"};
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

std::string_view name(Mode mode) {
  switch (mode) {
    case Mode::approve:
      return "approve";
    case Mode::decline:
      return "decline";
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

Behaviour changed(Behaviour behaviour, std::string_view control) {
  const json members = json::parse(control, nullptr, /*allow_exceptions=*/false);
  if (!members.is_object()) throw BadRequest{"the body must be a JSON object"};

  // First, as it brings the defaults of the others.
  if (const auto found = members.find("mode"); found != members.end()) {
    behaviour.mode = mode(*found);
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

}  // namespace acquirer
