#include "entry.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <ctime>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <utility>

namespace company {
namespace {

std::string hex(std::span<const unsigned char> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

std::string random_id(const std::string& prefix) {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    throw std::runtime_error{"no randomness"};
  return prefix + hex(bytes);
}

// Under the entry's random id, so that equal secrets cannot be told from equal digests.
std::string digest(const std::string& id, const Command& command) {
  std::string message;
  for (const std::string& part : {id, command.service, command.shown.dump(), command.secret}) {
    message += std::to_string(part.size()) + ':' + part;
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  if (EVP_Digest(message.data(), message.size(), bytes.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error{"no SHA-256"};
  }
  return hex(std::span{bytes}.first(size));
}

}  // namespace

Entry enter(const Words& words, std::string key, const Command& command, bool accepted, TimePoint at) {
  std::string id = random_id(words.id_prefix);
  std::string parameters = digest(id, command);
  return {std::move(id), std::move(key), command.shown, accepted, at, std::move(parameters)};
}

bool made_of(const Entry& entry, const Command& command) {
  return entry.parameters == digest(entry.id, command);
}

nlohmann::json told(const Words& words, const Entry& entry) {
  nlohmann::json members = entry.shown;
  members["outcome"] = entry.accepted ? words.accepted : words.refused;
  members[words.id] = entry.id;
  members["key"] = entry.key;
  members["at"] = rfc3339(entry.at);
  return members;
}

std::string rfc3339(TimePoint time) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t seconds = second.time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  const std::string micros = std::to_string((time - second).count());
  return std::string{text.data(), size} + '.' + std::string(6 - micros.size(), '0') + micros + 'Z';
}

std::optional<TimePoint> from_rfc3339(const std::string& text) {
  std::tm parts{};
  const char* fraction = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (!fraction) return std::nullopt;
  const std::string_view rest{fraction};
  if (rest.size() != 8 || rest.front() != '.' || rest.back() != 'Z') return std::nullopt;
  int micros = 0;
  const char* end = rest.data() + 7;
  const auto [stopped, failed] = std::from_chars(rest.data() + 1, end, micros);
  if (failed != std::errc{} || stopped != end || micros < 0) return std::nullopt;
  return TimePoint{std::chrono::seconds{timegm(&parts)} + std::chrono::microseconds{micros}};
}

}  // namespace company
