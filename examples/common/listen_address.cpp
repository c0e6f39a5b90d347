#include "listen_address.hpp"

#include <charconv>
#include <cstddef>
#include <system_error>

namespace examples {
namespace {

std::optional<int> port_in(std::string_view text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc{} || stopped != end || number < 0 || number > 65535) return std::nullopt;
  return number;
}

}  // namespace

std::optional<ListenAddress> listen_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const auto port = port_in(text.substr(colon + 1));
  std::string_view host = text.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (!port || host.empty()) return std::nullopt;
  return ListenAddress{std::string{host}, *port};
}

std::string http_url(const std::string& host, int port) {
  const bool version_6 = host.find(':') != std::string::npos;
  return "http://" + (version_6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

}  // namespace examples
