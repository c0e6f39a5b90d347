#include "intent_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
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

#include "idem/idem.hpp"

namespace payments {

// Closed with the object.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_{number} {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (number_ >= 0) close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  // False where another process has locked it. The lock ends with the object.
  [[nodiscard]] bool lock() const { return flock(number_, LOCK_EX | LOCK_NB) == 0; }
  // Is it what the path leads to now?
  [[nodiscard]] bool is_at(const std::string& path) const {
    struct stat mine {};
    struct stat there {};
    return fstat(number_, &mine) == 0 && stat(path.c_str(), &there) == 0 && mine.st_dev == there.st_dev &&
           mine.st_ino == there.st_ino;
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

namespace {

constexpr std::string_view saved_head = "payments intent 1 ";

std::string folder_of(const std::string& path) {
  const auto folder = std::filesystem::path{path}.parent_path();
  return folder.empty() ? "." : folder.string();
}

// A file without a name, which is gone with the process. Where the file system has none, under a name of its own,
// gone with the object.
class Draft {
 public:
  explicit Draft(const std::string& path) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the system has it so
    int number = open(folder_of(path).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (number < 0) {
      name_ = path + ".XXXXXX";
      // The system's mode for these is the same.
      number = mkostemp(name_.data(), O_CLOEXEC);
    }
    file_ = std::make_unique<FileDescriptor>(number);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    if (!name_.empty()) unlink(name_.c_str());
  }

  [[nodiscard]] const FileDescriptor& file() const { return *file_; }
  [[nodiscard]] std::unique_ptr<FileDescriptor> take_file() { return std::move(file_); }
  // False where that is there already.
  [[nodiscard]] bool link_at(const std::string& path) const {
    const std::string from = name_.empty() ? "/proc/self/fd/" + std::to_string(file_->number()) : name_;
    return linkat(AT_FDCWD, from.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
  }

 private:
  std::string name_;
  std::unique_ptr<FileDescriptor> file_;
};

// What was linked or unlinked in it is on the disk.
void sync_folder_of(const std::string& path, const std::runtime_error& failure) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the system has it so
  FileDescriptor{open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)}.sync(failure);
}

}  // namespace

IntentFile::IntentFile(std::string path) : path_{std::move(path)} {}
IntentFile::~IntentFile() = default;

std::optional<IntentFile::Saved> IntentFile::load() {
  const auto failure = [this] { return std::runtime_error{"cannot read " + path_}; };
  do {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the system has it so
    locked_ = std::make_unique<FileDescriptor>(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!locked_->is_open()) {
      if (errno != ENOENT) throw failure();
      locked_.reset();
      return std::nullopt;
    }
    if (!locked_->lock()) throw std::runtime_error{"another client has " + path_};
    // Where it is not there any more, that client has just finished with it.
  } while (!locked_->is_at(path_));
  std::ifstream file{path_, std::ios::binary};
  const std::string saved{std::istreambuf_iterator<char>{file}, {}};
  if (!file.is_open() || file.bad()) throw failure();
  const auto end = saved.find('\n');
  if (!saved.starts_with(saved_head) || end == std::string::npos) {
    throw idem::InvalidArgument{"this is no saved intent of payments client"};
  }
  return Saved{saved.substr(saved_head.size(), end - saved_head.size()),
               idem::http::Intent::restore(std::string_view{saved}.substr(end + 1))};
}

void IntentFile::create(const Saved& saved) {
  const auto failure = [this] { return std::runtime_error{"cannot create " + path_}; };
  Draft draft{path_};
  draft.file().write(std::string{saved_head} + saved.principal + '\n' + saved.intent.save(), failure());
  draft.file().sync(failure());
  // Before anybody can find it.
  if (!draft.file().lock()) throw failure();
  // Whole or not at all, and not over another client's.
  if (!draft.link_at(path_)) throw failure();
  locked_ = draft.take_file();
  sync_folder_of(path_, failure());
}

void IntentFile::remove() {
  const auto failure = [this] { return std::runtime_error{"cannot remove " + path_}; };
  if (unlink(path_.c_str()) != 0) throw failure();
  sync_folder_of(path_, failure());
}

}  // namespace payments
