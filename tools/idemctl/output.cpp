#include "output.hpp"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "failure.hpp"
#include "text.hpp"

namespace idemctl {
namespace {

bool write_all(int file, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t bytes = ::write(file, text.data(), text.size());
    if (bytes < 0 && errno != EINTR) return false;
    if (bytes > 0) text.remove_prefix(static_cast<std::size_t>(bytes));
  }
  return true;
}

}  // namespace

void write_output(std::string_view text) {
  if (!write_all(STDOUT_FILENO, text) || ::close(STDOUT_FILENO) != 0) {
    throw Failure{"standard output cannot be written: " + std::generic_category().message(errno)};
  }
}

void write_error(std::string_view message) noexcept {
  try {
    write_all(STDERR_FILENO, "idemctl: " + printable(message) + '\n');
  } catch (...) {
    write_all(STDERR_FILENO, "idemctl: out of memory\n");
  }
}

}  // namespace idemctl
