// A file for a program to read.
#pragma once

#include <string>
#include <string_view>

namespace idem::test {

/// A file with this content, gone with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace idem::test
