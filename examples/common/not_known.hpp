// What the other side did is not known.
#pragma once

#include <stdexcept>

namespace examples {

/// Nobody knows whether the command had its effect: no answer in time, a connection that was lost (at any moment, before
/// the request too), an answer that is no decision about this command. The same key asks again. Its message holds nothing
/// of what was sent or answered.
class NotKnown : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace examples
