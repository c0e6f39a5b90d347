// The signals that end a server.
#pragma once

#include <csignal>

namespace examples {

/// SIGTERM and SIGINT, kept from this thread and from all that it starts: make it before the first of these.
class EndSignals {
 public:
  EndSignals();

  /// Returns when one has come.
  void wait() const;

 private:
  sigset_t ends_{};
};

}  // namespace examples
