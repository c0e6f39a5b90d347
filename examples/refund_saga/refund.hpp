// A refund, its steps, and what is to be done next. Pure: knows no database and no service.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace refund_saga {

/// What was asked for.
struct Refund {
  std::string id;
  std::string
      payment;  ///< Names the charge, the seat that it paid for and the learner, at each of the services.
  std::int64_t amount_cents = 0;

  friend bool operator==(const Refund&, const Refund&) = default;
};

/// One call to another service, and how it is undone.
struct Step {
  std::string_view name;
  std::string_view path;
  std::string_view undo_path;   ///< Empty: it cannot be undone.
  bool refusal_ends_it = true;  ///< Refused, the refund is given up, and what was done is undone.
};

/// In their order. What cannot be undone comes after what can; and once the money has moved the refund is a fact, so an
/// e-mail that is refused undoes nothing.
inline constexpr std::array<Step, 3> steps{{
    {"enrolment", "/enrolment/withdraw", "/enrolment/reinstate"},
    {"payments", "/payments/refund", ""},
    {"email", "/email/send", "", /*refusal_ends_it=*/false},
}};

/// A step that was not begun has no state.
enum class StepState {
  pending,      ///< Begun. Its effect is there or not: only its stored answer says so.
  done,         ///< The service did it, and its answer is stored.
  failed,       ///< The service refused it, and its answer is stored.
  compensated,  ///< Was done, and is undone.
  stuck,  ///< Its compensation was refused, or its answer cannot be had any more: a person has to decide.
};

enum class RefundState { in_progress, done, compensated, stuck };

/// The steps that were begun, by name.
using Progress = std::map<std::string, StepState, std::less<>>;

/// One call that is to be made.
struct Action {
  const Step* step = nullptr;
  bool undo = false;

  friend bool operator==(const Action&, const Action&) = default;
};

/// Empty where nothing is to be done any more.
[[nodiscard]] std::optional<Action> next(const Progress& progress);
[[nodiscard]] RefundState state_of(const Progress& progress);

/// As they are stored and told.
[[nodiscard]] std::string name(StepState state);
[[nodiscard]] std::string name(RefundState state);
/// Throws std::invalid_argument for another name.
[[nodiscard]] StepState step_state(std::string_view name);

}  // namespace refund_saga
