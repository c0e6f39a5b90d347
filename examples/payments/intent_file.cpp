#include "intent_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace payments {
namespace {

// Closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_{number} {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  // Throws where it was not opened, or cannot be written to the disk.
  void sync(const std::runtime_error& failure) const {
    if (number_ < 0 || fsync(number_) != 0) throw failure;
  }
  void write(std::string_view bytes, const std::runtime_error& failure) const {
    while (!bytes.empty()) {
      const ssize_t size = ::write(number_, bytes.data(), bytes.size());
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) throw failure;
      bytes.remove_prefix(static_cast<std::size_t>(size));
    }
  }

 private:
  int number_;
};

// A file under a name of its own, gone with the object.
class Draft {
 public:
  // The system's mode for these is that only the owner may read it.
  explicit Draft(std::string name) : name_{std::move(name)}, file_{mkstemp(name_.data())} {}
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() { unlink(name_.c_str()); }

  [[nodiscard]] const char* name() const { return name_.c_str(); }
  [[nodiscard]] const Descriptor& file() const { return file_; }

 private:
  std::string name_;
  Descriptor file_;
};

// What was linked or unlinked in it is on the disk.
void sync_folder_of(const std::string& path, const std::runtime_error& failure) {
  const auto folder = std::filesystem::path{path}.parent_path();
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the system has it so
  Descriptor{open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)}.sync(failure);
}

}  // namespace

std::optional<idem::http::Intent> IntentFile::load() const {
  std::error_code failed;
  if (!std::filesystem::exists(path_, failed) && !failed) return std::nullopt;
  std::ifstream file{path_, std::ios::binary};
  const std::string saved{std::istreambuf_iterator<char>{file}, {}};
  if (!file.is_open() || file.bad()) throw std::runtime_error{"cannot read " + path_};
  return idem::http::Intent::restore(saved);
}

void IntentFile::create(const idem::http::Intent& intent) const {
  const std::runtime_error failure{"cannot create " + path_};
  const Draft draft{path_ + ".XXXXXX"};
  draft.file().write(intent.save(), failure);
  draft.file().sync(failure);
  // Whole or not at all, and not over another client's.
  if (link(draft.name(), path_.c_str()) != 0) throw failure;
  sync_folder_of(path_, failure);
}

void IntentFile::remove() const {
  const std::runtime_error failure{"cannot remove " + path_};
  if (unlink(path_.c_str()) != 0) throw failure;
  sync_folder_of(path_, failure);
}

}  // namespace payments
