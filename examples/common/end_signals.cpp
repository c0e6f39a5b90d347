#include "end_signals.hpp"

#include <pthread.h>

namespace examples {

EndSignals::EndSignals() {
  sigemptyset(&ends_);
  sigaddset(&ends_, SIGTERM);
  sigaddset(&ends_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends_, nullptr);
}

void EndSignals::wait() const {
  int signal = 0;
  sigwait(&ends_, &signal);
}

}  // namespace examples
