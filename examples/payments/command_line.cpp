#include "command_line.hpp"

#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

namespace payments {
namespace {

constexpr const char* usage =
    "usage: payments run --database-url URL --requests FILE.jsonl [--acquirer URL [CALL]] | "
    "payments sweep --database-url URL --acquirer URL [CALL] | payments repair --database-url URL | "
    "payments serve --listen HOST:PORT --database-url URL --acquirer URL [--status-mismatch N] [--no-page] "
    "[CALL] | "
    "payments client --url URL --principal NAME --intent FILE [--amount-cents N --currency C --offering O "
    "--token T], "
    "where CALL is --lease-ms N --deadline-ms N --no-deduplication";

}  // namespace

BadUsage::BadUsage() : std::runtime_error{usage} {}

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

std::optional<std::chrono::milliseconds> CommandLine::milliseconds(const std::string& name) {
  const auto text = take(name);
  if (!text) return std::nullopt;
  const auto number = positive_number(*text);
  if (!number) throw BadUsage{};
  return std::chrono::milliseconds{*number};
}

void CommandLine::end() const {
  if (!options_.empty()) throw BadUsage{};
}

std::optional<std::int64_t> positive_number(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc{} || stopped != end || number < 1) return std::nullopt;
  return number;
}

}  // namespace payments
