#include "input.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "failure.hpp"

namespace idemctl {

std::string read_input(std::size_t limit) {
  std::string text;
  std::array<char, 65536> block{};
  while (text.size() <= limit) {
    const ssize_t bytes = ::read(STDIN_FILENO, block.data(), std::min(block.size(), limit + 1 - text.size()));
    if (bytes == 0) break;
    if (bytes < 0) {
      if (errno == EINTR) continue;
      throw Failure{"standard input cannot be read: " + std::generic_category().message(errno)};
    }
    text.append(block.data(), static_cast<std::size_t>(bytes));
  }
  return text;
}

}  // namespace idemctl
