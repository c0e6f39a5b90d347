#include "demo_fault.hpp"

#include <csignal>
#include <string>
#include <utility>
#include <variant>

namespace payments {

std::optional<DemoFault> demo_fault_named(std::string_view name) {
  if (name == "drop-answer") return DemoFault::drop_answer;
  if (name == "kill-after-approval") return DemoFault::kill_after_approval;
  return std::nullopt;
}

Charging killed_after_approval(Charging charging) {
  charging.ask = [ask = std::move(charging.ask)](const std::string& key, const Charge& charge,
                                                 std::chrono::milliseconds deadline) {
    ChargeAnswer answer = ask(key, charge, deadline);
    // Nothing runs after this: no destructor, no rollback, no goodbye to the database.
    if (std::holds_alternative<Approved>(answer)) (void)std::raise(SIGKILL);
    return answer;
  };
  return charging;
}

}  // namespace payments
