// Standard output and standard error.
#pragma once

#include <string_view>

#include "spool.hpp"

namespace idemctl {

/// Writes all of `first` and of `text` to standard output and closes it, so that no error is left to come. Throws Failure.
void write_output(Spool& first, std::string_view text);

/// Writes one line to standard error, whatever `message` holds.
void write_error(std::string_view message) noexcept;

}  // namespace idemctl
