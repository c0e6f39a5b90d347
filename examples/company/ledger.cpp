#include "ledger.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace company {
namespace {

using nlohmann::json;

std::string line_of(const Words& words, const Entry& entry) {
  json members = told(words, entry);
  members["parameters"] = entry.parameters;
  return members.dump() + '\n';
}

// Throws nlohmann's exceptions.
std::string taken(json& members, const std::string& name) {
  auto text = members.at(name).get<std::string>();
  members.erase(name);
  return text;
}

// Throws nlohmann's exceptions and LedgerError.
Entry entry_of(const Words& words, std::string_view line) {
  json members = json::parse(line);
  Entry entry;
  entry.id = taken(members, words.id);
  entry.key = taken(members, "key");
  entry.parameters = taken(members, "parameters");
  const std::string outcome = taken(members, "outcome");
  entry.accepted = outcome == words.accepted;
  const auto at = from_rfc3339(taken(members, "at"));
  if (!at || (!entry.accepted && outcome != words.refused)) throw LedgerError{"no entry"};
  entry.at = *at;
  entry.shown = std::move(members);
  return entry;
}

// A new file is there after a power cut only if its folder says so.
bool sync_folder_of(const std::string& path) {
  const auto folder = std::filesystem::absolute(path).parent_path();
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): POSIX has it so
  const int opened = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return false;
  const bool synced = fsync(opened) == 0;
  close(opened);
  return synced;
}

std::string content_of(int file) {
  std::string content;
  std::array<char, 65536> part{};
  for (;;) {
    const ssize_t size = ::read(file, part.data(), part.size());
    if (size == 0) return content;
    if (size > 0) {
      content.append(part.data(), static_cast<std::size_t>(size));
    } else if (errno != EINTR) {
      throw LedgerError{"cannot read the ledger"};
    }
  }
}

}  // namespace

Ledger::Ledger(Words words, const std::string& path)
    : words_{std::move(words)},
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): POSIX has it so
      file_{open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600)} {
  if (file_ < 0) throw LedgerError{"cannot open " + path};
  try {
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) throw LedgerError{"another " + words_.program + " has " + path};
    read(path);
    if (!sync_folder_of(path)) throw LedgerError{"cannot write " + path};
  } catch (...) {
    close(file_);
    throw;
  }
}

Ledger::~Ledger() {
  close(file_);
}

void Ledger::read(const std::string& path) {
  const std::string content = content_of(file_);
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = content.find('\n', begin)) != std::string::npos; begin = end + 1) {
    try {
      entries_.push_back(entry_of(words_, std::string_view{content}.substr(begin, end - begin)));
    } catch (const std::exception&) {
      throw LedgerError{"line " + std::to_string(entries_.size() + 1) + " of " + path + " is no entry"};
    }
  }
  if (begin == content.size()) return;
  // Cut off, or the next line would be joined to it.
  if (ftruncate(file_, static_cast<off_t>(begin)) != 0 || fsync(file_) != 0) {
    throw LedgerError{"cannot write " + path};
  }
}

void Ledger::append(Entry entry) {
  const std::string line = line_of(words_, entry);
  for (std::string_view left = line; !left.empty();) {
    const ssize_t size = write(file_, left.data(), left.size());
    if (size >= 0) {
      left.remove_prefix(static_cast<std::size_t>(size));
    } else if (errno != EINTR) {
      throw LedgerError{"cannot write the ledger"};
    }
  }
  if (fsync(file_) != 0) throw LedgerError{"cannot write the ledger"};
  entries_.push_back(std::move(entry));
}

}  // namespace company
