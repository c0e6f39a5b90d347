// How the acquirer is told to misbehave.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace acquirer {

enum class Mode {
  approve,         ///< By the rule: amounts that end in 13 are declined.
  decline,         ///< Whatever the amount.
  timeout_before,  ///< Nothing is charged, and there is no answer: as though the request were lost on its way.
  timeout_after,   ///< Charged, and there is no answer.
  drop_answer,     ///< Charged, and the connection ends in the middle of the answer.
  late,            ///< Charged and answered later.
};

[[nodiscard]] std::string_view name(Mode mode);

struct Behaviour {
  Mode mode = Mode::approve;
  std::optional<std::uint64_t> count;  ///< How many charges are left in this mode; without one, all.
  bool deduplicate = true;
  std::optional<std::chrono::seconds> window;  ///< How long a key is remembered; without one, for ever.
  std::chrono::milliseconds effect_after{0};   ///< late: from the request to the charge.
  std::chrono::milliseconds delay{0};          ///< late: from the charge to the answer.
};

/// The behaviour that a control's body makes of this one. What it does not name stays; a mode brings its own
/// count and times. Throws BadRequest.
[[nodiscard]] Behaviour changed(Behaviour behaviour, std::string_view control);

}  // namespace acquirer
