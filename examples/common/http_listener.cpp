#include "http_listener.hpp"

#include <sys/socket.h>

#include <stdexcept>

namespace examples {

HttpListener::HttpListener(httplib::Server& server) : server_{server} {
  server_.set_tcp_nodelay(true);
  server_.set_socket_options([this](int made) {
    listening_ = made;
    // And not SO_REUSEPORT, the library's own choice: two processes would share a port, and the effects with it.
    const int yes = 1;
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
}

int HttpListener::listen(const ListenAddress& address) {
  int port = address.port;
  if (port == 0) {
    port = server_.bind_to_any_port(address.host);
  } else if (!server_.bind_to_port(address.host, port)) {
    port = -1;
  }
  // Again: the library's own queue holds 5, and a connection that finds no room is tried again a second later.
  if (port < 0 || ::listen(listening_, SOMAXCONN) != 0) {
    throw std::runtime_error{"cannot listen on " + address.host};
  }
  return port;
}

}  // namespace examples
