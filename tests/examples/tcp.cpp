#include "examples/tcp.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace idem::examples_test {
namespace {

sockaddr_in local(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int new_socket() {
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) throw std::runtime_error{"no socket"};
  return made;
}

// Ample: only what hangs meets it.
void bound_reads(int socket) {
  const timeval patience{60, 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

}  // namespace

Connection::Connection(const std::string& url) : socket_{new_socket()} {
  bound_reads(socket_);
  const sockaddr_in address = local(std::stoi(url.substr(url.rfind(':') + 1)));
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(socket_);
    throw std::runtime_error{"cannot connect to " + url};
  }
}

Connection::Connection(int socket) : socket_{socket} {
  bound_reads(socket_);
}

Connection::Connection(Connection&& other) noexcept : socket_{std::exchange(other.socket_, -1)} {}

Connection::~Connection() {
  if (socket_ >= 0) close(socket_);
}

bool Connection::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t size = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

std::string Connection::receive_request() const {
  std::string request;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t size = recv(socket_, part.data(), part.size(), 0);
    if (size <= 0) return request;
    request.append(part.data(), static_cast<std::size_t>(size));
    // The bodies sent here are objects without objects in them.
    if (request.find("\r\n\r\n") != std::string::npos && request.ends_with('}')) return request;
  }
}

std::string Connection::receive_all() const {
  std::string all;
  std::array<char, 4096> part{};
  for (ssize_t size = 0; (size = recv(socket_, part.data(), part.size(), 0)) > 0;) {
    all.append(part.data(), static_cast<std::size_t>(size));
  }
  return all;
}

bool Connection::silent() const {
  pollfd event{socket_, POLLIN, 0};
  return poll(&event, 1, 0) == 0;
}

void Connection::end_sending() const {
  shutdown(socket_, SHUT_WR);
}

void Connection::reset_when_closed() const {
  const linger none{1, 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

Listener::Listener(std::function<void(const Connection&)> serve)
    : socket_{new_socket()}, serve_{std::move(serve)} {
  const sockaddr_in address = local(0);
  if (bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(socket_, SOMAXCONN) != 0) {
    close(socket_);
    throw std::runtime_error{"cannot listen"};
  }
  thread_ = std::thread{[this] {
    for (int accepted = 0; (accepted = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      ++connections_;
      serve_(Connection{accepted});
    }
  }};
}

Listener::~Listener() {
  shutdown(socket_, SHUT_RDWR);  // Ends the accept.
  thread_.join();
  close(socket_);
}

std::string Listener::url() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
  return "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

}  // namespace idem::examples_test
