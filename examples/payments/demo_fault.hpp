// What may go wrong on demand, so that a person sees what comes of it.
#pragma once

#include <optional>
#include <string_view>

#include "charge_operation.hpp"

namespace payments {

/// The header of `POST /payments` that asks for one. A header, so that the fingerprint knows nothing of it.
inline constexpr const char* demo_fault_header = "Demo-Fault";

enum class DemoFault {
  none,
  drop_answer,          ///< Carried out, and then the connection ends without an answer.
  kill_after_approval,  ///< The process kills itself when the acquirer has approved, before it can write that down.
};

/// `drop-answer` or `kill-after-approval`; empty for anything else.
[[nodiscard]] std::optional<DemoFault> demo_fault_named(std::string_view name);

/// The same, but its first approval ends this process by SIGKILL.
[[nodiscard]] Charging killed_after_approval(Charging charging);

}  // namespace payments
