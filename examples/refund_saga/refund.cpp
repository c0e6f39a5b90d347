#include "refund.hpp"

#include <algorithm>
#include <stdexcept>

namespace refund_saga {
namespace {

constexpr std::array<std::string_view, 5> step_states{"pending", "done", "failed", "compensated", "stuck"};
constexpr std::array<std::string_view, 4> refund_states{"in_progress", "done", "compensated", "stuck"};

bool is(const Progress& progress, const Step& step, StepState state) {
  const auto found = progress.find(step.name);
  return found != progress.end() && found->second == state;
}

bool is_stuck(const Progress& progress) {
  return std::ranges::any_of(steps, [&](const Step& step) { return is(progress, step, StepState::stuck); });
}

bool is_given_up(const Progress& progress) {
  return std::ranges::any_of(
      steps, [&](const Step& step) { return step.refusal_ends_it && is(progress, step, StepState::failed); });
}

}  // namespace

std::optional<Action> next(const Progress& progress) {
  if (is_stuck(progress)) return std::nullopt;
  if (is_given_up(progress)) {
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      if (!step->undo_path.empty() && is(progress, *step, StepState::done)) return Action{&*step, true};
    }
    return std::nullopt;
  }
  for (const Step& step : steps) {
    if (!is(progress, step, StepState::done) && !is(progress, step, StepState::failed)) {
      return Action{&step, false};
    }
  }
  return std::nullopt;
}

RefundState state_of(const Progress& progress) {
  if (is_stuck(progress)) return RefundState::stuck;
  if (next(progress)) return RefundState::in_progress;
  return is_given_up(progress) ? RefundState::compensated : RefundState::done;
}

std::string name(StepState state) {
  return std::string{step_states.at(static_cast<std::size_t>(state))};
}

std::string name(RefundState state) {
  return std::string{refund_states.at(static_cast<std::size_t>(state))};
}

StepState step_state(std::string_view name) {
  const auto* const found = std::ranges::find(step_states, name);
  if (found == step_states.end()) throw std::invalid_argument{"a step has no such state"};
  return static_cast<StepState>(found - step_states.begin());
}

}  // namespace refund_saga
