// Who settles an UNKNOWN record, and on what evidence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "idem/base/clock.hpp"

namespace idem {
inline namespace v0 {

/// Why it is certain that the outside call took no effect and never will. "Not found" is none of these: a request that
/// was sent may still arrive.
enum class NoEffect {
  stored_decline,      ///< The downstream has stored its refusal of this very call.
  void_refuses_later,  ///< A void that also refuses a later arrival of the call.
  closed_settlement,   ///< The period that the call belongs to was settled without it, and is closed.
  operator_decision,   ///< A named person decided it (`who` is that person).
};

/// The evidence and the name under which `resolve` settles an UNKNOWN record.
struct Resolution {
  /// Who resolves: a person or a program. 1 to 255 bytes of UTF-8 without NUL; stored.
  std::string who;
  /// Why: 1 to 1,000 bytes of UTF-8 without NUL; stored. Never a card number or a token.
  std::string why;
  /// For COMPLETED: when the downstream made the charge. It must not be before the record's `created_at`. Give this, or
  /// the next.
  std::optional<TimePoint> effect_at{};
  /// For COMPLETED: the generation that the charge carries. It must be the record's.
  std::optional<std::int64_t> generation{};
  /// For FAILED: why there is certainly no effect.
  std::optional<NoEffect> no_effect{};
};

}  // namespace v0
}  // namespace idem
