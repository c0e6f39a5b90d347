// A company as a program.
#pragma once

#include "company.hpp"

namespace company {

/// `PROGRAM --listen HOST:PORT --ledger FILE`: answers until SIGTERM or SIGINT. Returns, or ends the process with, the exit
/// status: 0 after these, 1 where it cannot listen or the ledger fails, 2 for bad usage.
[[nodiscard]] int run(const Company& company, int argc, char** argv);

}  // namespace company
