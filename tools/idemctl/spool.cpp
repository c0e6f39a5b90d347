#include "spool.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include "failure.hpp"

namespace idemctl {
namespace {

[[noreturn]] void fail() {
  throw Failure{"a temporary file cannot be used: " + std::generic_category().message(errno)};
}

}  // namespace

void Spool::append(std::string_view text) {
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): std::unique_ptr owns it
  if (!file_) file_.reset(std::tmpfile());
  if (!file_ || std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) fail();
}

void Spool::read(const std::function<void(std::string_view)>& piece) {
  if (!file_) return;
  if (std::fflush(file_.get()) != 0 || std::fseek(file_.get(), 0, SEEK_SET) != 0) fail();
  std::array<char, 65536> block{};
  while (const std::size_t bytes = std::fread(block.data(), 1, block.size(), file_.get())) {
    piece({block.data(), bytes});
  }
  if (std::ferror(file_.get()) != 0) fail();
}

void Spool::read_lines(const std::function<void(const std::string&)>& line) {
  std::string text;
  read([&](std::string_view piece) {
    for (std::size_t end = piece.find('\n'); end != std::string_view::npos; end = piece.find('\n')) {
      text += piece.substr(0, end);
      line(text);
      text.clear();
      piece.remove_prefix(end + 1);
    }
    text += piece;
  });
}

}  // namespace idemctl
