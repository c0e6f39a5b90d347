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

namespace acquirer {
namespace {

using nlohmann::json;

std::string line_of(const Entry& entry) {
  return json{{"charge_id", entry.charge_id},
              {"key", entry.key},
              {"amount_cents", entry.amount_cents},
              {"currency", entry.currency},
              {"reference", entry.reference},
              {"outcome", name(entry.outcome)},
              {"at", rfc3339(entry.at)},
              {"parameters", entry.parameters}}
             .dump() +
         '\n';
}

// Throws nlohmann's exceptions and LedgerError.
Entry entry_of(std::string_view line) {
  const json members = json::parse(line);
  const auto at = from_rfc3339(members.at("at").get<std::string>());
  const auto outcome = members.at("outcome").get<std::string>();
  if (!at || (outcome != "approved" && outcome != "declined")) throw LedgerError{"no entry"};
  return {members.at("charge_id").get<std::string>(),
          members.at("key").get<std::string>(),
          members.at("amount_cents").get<std::int64_t>(),
          members.at("currency").get<std::string>(),
          members.at("reference").get<std::string>(),
          outcome == "approved" ? Outcome::approved : Outcome::declined,
          *at,
          members.at("parameters").get<std::string>()};
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

Ledger::Ledger(const std::string& path)
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): POSIX has it so
    : file_{open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600)} {
  if (file_ < 0) throw LedgerError{"cannot open " + path};
  try {
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) throw LedgerError{"another acquirer has " + path};
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
      entries_.push_back(entry_of(std::string_view{content}.substr(begin, end - begin)));
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
  const std::string line = line_of(entry);
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

}  // namespace acquirer
