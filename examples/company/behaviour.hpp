// How a company is told to misbehave.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "entry.hpp"

namespace company {

enum class Mode {
  accept,          ///< By the company's own rule.
  refuse,          ///< Whatever it is.
  timeout_before,  ///< Nothing is done, and there is no answer: as though the request were lost on its way.
  timeout_after,   ///< Done, and there is no answer.
  drop_answer,     ///< Done, and the connection ends in the middle of the answer.
  late,            ///< Done and answered later.
};

[[nodiscard]] std::string name(const Words& words, Mode mode);

struct Behaviour {
  Mode mode = Mode::accept;
  std::optional<std::uint64_t> count;  ///< How many commands are left in this mode; without one, all.
  bool deduplicate = true;
  std::optional<std::chrono::seconds> window;  ///< How long a key is remembered; without one, for ever.
  std::chrono::milliseconds effect_after{0};   ///< late: from the request to the effect.
  std::chrono::milliseconds delay{0};          ///< late: from the effect to the answer.
};

/// The behaviour that a control's members make of this one. What it does not name stays; a mode brings its own
/// count and times. Throws BadRequest.
[[nodiscard]] Behaviour changed(const Words& words, Behaviour behaviour, const nlohmann::json& members);

}  // namespace company
