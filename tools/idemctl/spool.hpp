// Output that is too much for the memory and must not be printed before everything went well.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace idemctl {

/// Text in a temporary file without a name, which is gone with it. Each call throws Failure where that cannot be written or
/// read.
class Spool {
 public:
  void append(std::string_view text);
  /// Shows the text from its beginning, piece by piece.
  void read(const std::function<void(std::string_view)>& piece);
  /// The same, a line at a time without its line feed. The last one ends with one too.
  void read_lines(const std::function<void(const std::string&)>& line);

 private:
  struct Close {
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): std::unique_ptr owns it
    void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace idemctl
