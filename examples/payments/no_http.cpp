// In the place of serve.cpp and client.cpp in a build without cpp-httplib.
#include <stdexcept>

#include "client.hpp"
#include "serve.hpp"

namespace payments {
namespace {

[[noreturn]] void refuse() {
  throw std::invalid_argument{
      "this program was built without cpp-httplib, so it has neither serve nor client"};
}

}  // namespace

void validate(const ServeOptions& /*options*/) {
  refuse();
}

void serve(const ServeOptions& /*options*/) {
  refuse();
}

int client(const ClientOptions& /*options*/, std::ostream& /*answers*/, std::ostream& /*errors*/) {
  refuse();
}

}  // namespace payments
