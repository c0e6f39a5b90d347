// A decision is COMPLETED or FAILED: nobody makes one in another state.
// expect: private
#include <idem/command/outcome.hpp>

idem::Decision decide() {
#ifdef MUST_NOT_COMPILE
  return idem::Decision{idem::State::unknown, idem::Response{}};
#else
  return idem::failed(idem::Response{});
#endif
}
