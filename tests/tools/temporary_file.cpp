#include "tools/temporary_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace idem::test {

TemporaryFile::TemporaryFile(std::string_view content)
    : path_{(std::filesystem::temp_directory_path() / "idem-test-XXXXXX").string()} {
  const int file = ::mkstemp(path_.data());
  if (file < 0) throw std::system_error{errno, std::generic_category(), "mkstemp"};
  ::close(file);
  std::ofstream out{path_, std::ios::binary};
  out << content;
  if (!out.flush()) throw std::runtime_error{"cannot write " + path_};
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace idem::test
