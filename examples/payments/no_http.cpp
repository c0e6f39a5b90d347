// In the place of serve.cpp in a build without cpp-httplib.
#include <stdexcept>

#include "serve.hpp"

namespace payments {

void validate(const ServeOptions& /*options*/) {
  throw std::invalid_argument{"this program was built without cpp-httplib, so it cannot serve"};
}

void serve(const ServeOptions& options) {
  validate(options);
}

}  // namespace payments
