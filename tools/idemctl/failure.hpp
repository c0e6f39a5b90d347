// The two ways in which a command ends without an answer.
#pragma once

#include <stdexcept>

namespace idemctl {

/// Bad input or arguments, or something that could not be done: exit code 2. The message holds no input and
/// no argument.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What was asked for does not exist: exit code 1.
struct NotFound : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace idemctl
