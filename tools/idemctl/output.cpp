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

void write_output(Spool& first, std::string_view text) {
  const auto check = [](bool done) {
    if (!done) throw Failure{"standard output cannot be written: " + std::generic_category().message(errno)};
  };
  first.read([&](std::string_view piece) { check(write_all(STDOUT_FILENO, piece)); });
  check(write_all(STDOUT_FILENO, text) && ::close(STDOUT_FILENO) == 0);
}

void write_error(std::string_view message) noexcept {
  try {
    write_all(STDERR_FILENO, "idemctl: " + printable(message) + '\n');
  } catch (...) {
    write_all(STDERR_FILENO, "idemctl: out of memory\n");
  }
}

}  // namespace idemctl
