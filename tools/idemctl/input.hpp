// Standard input, in bounded memory.
#pragma once

#include <cstddef>
#include <string>

namespace idemctl {

/// Everything on standard input, but never more than one byte over `limit`: that byte says that it was too
/// much. Throws Failure where it cannot be read.
[[nodiscard]] std::string read_input(std::size_t limit);

}  // namespace idemctl
