// What must hold after every schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "idem/record/record.hpp"
#include "interleavings/session.hpp"

namespace idem::interleavings {

// A committed row of the business table.
struct Effect {
  std::size_t session;
  std::size_t transaction;
  std::int64_t generation;
};

// What the tables hold for the key when all sessions have ended.
struct Tables {
  std::vector<Effect> effects;
  std::optional<Record> record;
};

// What is wrong, a sentence each. `history` is in the order in which the steps ended.
[[nodiscard]] std::vector<std::string> violations(const std::vector<Event>& history, const Tables& tables,
                                                  bool has_record);

}  // namespace idem::interleavings
