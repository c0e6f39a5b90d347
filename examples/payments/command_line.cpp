#include "command_line.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>

namespace payments {
namespace {

constexpr std::array usages{
    "payments run --database-url URL --requests FILE.jsonl [--acquirer URL [CALL]]",
    "payments sweep --database-url URL --acquirer URL [CALL]", "payments repair --database-url URL",
    "payments serve --listen HOST:PORT --database-url URL --acquirer URL [--status-mismatch N] [--no-page] "
    "[CALL]",
    "payments client --url URL --principal NAME --intent FILE [--amount-cents N --currency C --offering O "
    "--token T]"};
constexpr const char* call = "where CALL is --lease-ms N --deadline-ms N --no-deduplication";

std::string usage_with(const std::string& between, const std::string& before_call) {
  std::string told = "usage: ";
  for (const char* one : usages) told += (one == usages.front() ? "" : between) + one;
  return told + before_call + call;
}

}  // namespace

// In one line.
BadUsage::BadUsage() : std::runtime_error{usage_with(" | ", ", ")} {}

std::string usage() {
  return usage_with("\n       ", "\n") + '\n';
}

CommandLine::CommandLine(std::span<const std::string> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& name = words[i];
    std::string value;
    if (name != "--no-deduplication" && name != "--no-page") {
      if (++i == words.size()) throw BadUsage{};
      value = words[i];
    }
    if (!options_.emplace(name, std::move(value)).second) throw BadUsage{};
  }
}

std::optional<std::string> CommandLine::take(const std::string& name) {
  auto found = options_.extract(name);
  if (found.empty()) return std::nullopt;
  return std::move(found.mapped());
}

std::string CommandLine::need(const std::string& name) {
  auto value = take(name);
  if (!value || value->empty()) throw BadUsage{};
  return *std::move(value);
}

std::optional<std::int64_t> CommandLine::number(const std::string& name) {
  const auto text = take(name);
  if (!text) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = std::to_address(text->cend());
  const auto [stopped, failed] = std::from_chars(text->data(), end, number);
  if (failed != std::errc{} || stopped != end || number < 1) {
    throw BadUsage{name + " must be a whole number from 1 to " +
                   std::to_string(std::numeric_limits<std::int64_t>::max())};
  }
  return number;
}

std::optional<std::chrono::milliseconds> CommandLine::milliseconds(const std::string& name) {
  const auto given = number(name);
  if (!given) return std::nullopt;
  return std::chrono::milliseconds{*given};
}

void CommandLine::end() const {
  if (!options_.empty()) throw BadUsage{};
}

}  // namespace payments
