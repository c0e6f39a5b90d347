// The two commands of the program, and what they tell.
#pragma once

#include <exception>
#include <iosfwd>
#include <string>

#include "refund.hpp"
#include "saga.hpp"

namespace examples {
class Session;
}

namespace refund_saga {

/// How a refund stands, as one line of JSON.
[[nodiscard]] std::string line_of(const std::string& refund_id, const Standing& standing);

/// Starts the refund, or goes on with it, and tells how it stands. Throws std::invalid_argument where there is another
/// refund with its id.
void run(Saga& saga, const Refund& refund, std::ostream& out);

/// Goes once over the refunds in progress, each of them as run() does. One that fails is told as fail() does, and holds up no
/// other. False where there was one.
[[nodiscard]] bool sweep(Saga& saga, examples::Session& session, std::ostream& out, std::ostream& err);

/// Tells, as one line, what failed of the refund; of no refund where the id is empty.
void fail(const std::string& refund_id, const std::exception& failure, std::ostream& err);

}  // namespace refund_saga
