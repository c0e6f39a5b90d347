#include "connection_of.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <string>

namespace examples {

// The one with the request's other end.
int connection_of(const httplib::Request& request) {
  // The library itself serves no descriptor beyond.
  for (int candidate = 0; candidate < FD_SETSIZE; ++candidate) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    auto* address = reinterpret_cast<sockaddr*>(&peer);
    if (getpeername(candidate, address, &size) != 0) continue;
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> port{};
    if (getnameinfo(address, size, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0 &&
        request.remote_addr == host.data() && std::to_string(request.remote_port) == port.data()) {
      return candidate;
    }
  }
  return -1;
}

}  // namespace examples
