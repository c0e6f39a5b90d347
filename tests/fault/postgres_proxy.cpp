#include "fault/postgres_proxy.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace idem::fault_test {
namespace {

class Socket {
 public:
  explicit Socket(int socket) : socket_{socket} {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket(Socket&& other) noexcept : socket_{std::exchange(other.socket_, -1)} {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (socket_ >= 0) close(socket_);
  }
  [[nodiscard]] int get() const { return socket_; }

 private:
  int socket_;
};

int to_socket_in(const std::string& folder, const std::string& port) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder + "/.s.PGSQL." + port;
  // The address is all zeroes, so that the path's end is there already.
  if (path.size() >= std::size(address.sun_path)) return -1;
  std::ranges::copy(path, std::begin(address.sun_path));
  const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made >= 0 && connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return made;
  if (made >= 0) close(made);
  return -1;
}

int to_host(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return -1;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner{found, freeaddrinfo};
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const int made = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made >= 0 && connect(made, one->ai_addr, one->ai_addrlen) == 0) return made;
    if (made >= 0) close(made);
  }
  return -1;
}

void send_at_once(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

std::size_t read_length(std::string_view bytes) {
  std::size_t length = 0;
  for (const char byte : bytes.substr(0, 4)) length = length << 8 | static_cast<unsigned char>(byte);
  return length;
}

}  // namespace

// One client's connection.
struct PostgresProxy::Link {
  Socket client;
  Socket server;
  int generation = 0;
  bool started = false;  // The first message of a client has no type byte.
  std::string from_client{};
  std::string from_server{};
};

PostgresProxy::PostgresProxy(std::string host, std::string port)
    : host_{std::move(host)},
      server_port_{std::move(port)},
      listener_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)},
      wake_{eventfd(0, EFD_CLOEXEC)} {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (wake_ < 0 || bind(listener_, plain, size) != 0 || listen(listener_, SOMAXCONN) != 0 ||
      getsockname(listener_, plain, &size) != 0) {
    close(listener_);
    close(wake_);
    throw std::runtime_error{"the proxy cannot listen"};
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread{[this] { serve(); }};
}

PostgresProxy::~PostgresProxy() {
  const std::uint64_t one = 1;
  // An eventfd that is written to once takes it.
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
  thread_.join();
  close(listener_);
  close(wake_);
}

void PostgresProxy::plan(const Cut& cut) {
  const std::scoped_lock lock{mutex_};
  cut_ = cut;
  ++generation_;
  counted_ = 0;
  has_cut_ = false;
}

bool PostgresProxy::has_cut() const {
  const std::scoped_lock lock{mutex_};
  return has_cut_;
}

std::optional<Moment> PostgresProxy::cut_at(const Link& link, Direction direction) {
  const std::scoped_lock lock{mutex_};
  if (has_cut_ || link.generation != generation_ || direction != cut_.direction) return std::nullopt;
  if (++counted_ != cut_.message) return std::nullopt;
  has_cut_ = true;
  return cut_.moment;
}

void PostgresProxy::serve() {
  for (;;) {
    std::vector<pollfd> events{{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const auto& link : links_) {
      events.push_back({link->client.get(), POLLIN, 0});
      events.push_back({link->server.get(), POLLIN, 0});
    }
    if (poll(events.data(), events.size(), -1) < 0) continue;
    if (events[0].revents != 0) break;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      const bool open = (events[2 + 2 * i].revents == 0 || pass_on(*links_[i], Direction::to_server)) &&
                        (events[3 + 2 * i].revents == 0 || pass_on(*links_[i], Direction::to_client));
      if (!open) links_[i].reset();
    }
    std::erase(links_, nullptr);
    if (events[1].revents != 0) accept_one();
  }
  links_.clear();
}

void PostgresProxy::accept_one() {
  Socket client{accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)};
  if (client.get() < 0) return;
  Socket server{host_.starts_with('/') ? to_socket_in(host_, server_port_) : to_host(host_, server_port_)};
  if (server.get() < 0) return;
  send_at_once(client.get());
  send_at_once(server.get());
  const std::scoped_lock lock{mutex_};
  links_.push_back(std::make_unique<Link>(Link{std::move(client), std::move(server), generation_}));
}

bool PostgresProxy::pass_on(Link& link, Direction direction) {
  const bool to_server = direction == Direction::to_server;
  const int from = (to_server ? link.client : link.server).get();
  const int to = (to_server ? link.server : link.client).get();
  std::string& buffer = to_server ? link.from_client : link.from_server;

  std::array<char, 16384> part{};
  const ssize_t size = recv(from, part.data(), part.size(), 0);
  if (size <= 0) return false;
  buffer.append(part.data(), static_cast<std::size_t>(size));

  std::string_view rest = buffer;
  for (;;) {
    const std::size_t type = to_server && !link.started ? 0 : 1;
    if (rest.size() < type + 4) break;
    const std::size_t length = type + read_length(rest.substr(type));
    if (rest.size() < length) break;
    const std::optional<Moment> cut = cut_at(link, direction);
    if (cut == Moment::before || !send_all(to, rest.substr(0, length)) || cut) return false;
    if (to_server) link.started = true;
    rest.remove_prefix(length);
  }
  buffer.erase(0, buffer.size() - rest.size());
  return true;
}

}  // namespace idem::fault_test
