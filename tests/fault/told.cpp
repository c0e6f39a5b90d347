#include "fault/told.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <variant>
#include <vector>

#include "base/hex.hpp"

namespace idem::fault_test {
namespace {

struct Teller {
  Told operator()(const Executed& executed) const { return {"executed", bytes_of(executed.response)}; }
  Told operator()(const Replay& replay) const { return {"replay", bytes_of(replay.response)}; }
  Told operator()(const InProgress&) const { return {"in_progress"}; }
  Told operator()(const Mismatch&) const { return {"mismatch"}; }
  Told operator()(const Unknown& unknown) const {
    return {"unknown", unknown.response ? bytes_of(*unknown.response) : std::string{}};
  }
};

}  // namespace

std::string bytes_of(const Response& response) {
  std::string bytes = std::to_string(response.status) + '\n';
  for (const Header& header : response.headers) bytes += header.name + ':' + header.value + '\n';
  bytes += '\n';
  bytes += body_text(response);
  return bytes;
}

Told told(const Outcome& outcome) {
  return std::visit(Teller{}, outcome);
}

std::string to_line(const Told& told) {
  return told.kind + ' ' + to_hex(std::as_bytes(std::span{told.bytes})) + '\n';
}

Told from_line(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || !line.ends_with('\n')) {
    throw std::runtime_error{"not what a client is told: " + std::string{line}};
  }
  const auto bytes = from_hex(line.substr(space + 1, line.size() - space - 2));
  if (!bytes) throw std::runtime_error{"not what a client is told: " + std::string{line}};
  return {std::string{line.substr(0, space)},
          std::string{reinterpret_cast<const char*>(bytes->data()), bytes->size()}};
}

}  // namespace idem::fault_test
