#include "idem/request/key.hpp"

#include <span>

#include "base/digest.hpp"
#include "base/hex.hpp"
#include "base/utf8.hpp"
#include "idem/base/error.hpp"
#include "request/key_hash.hpp"

namespace idem {
inline namespace v0 {

namespace {

void validate_part(std::string_view part, const char* name) {
  if (part.empty()) throw InvalidKey{std::string{"the "} + name + " is empty: it must have 1 to 255 bytes"};
  if (part.size() > max_key_part_bytes) {
    throw InvalidKey{std::string{"the "} + name + " has " + std::to_string(part.size()) +
                     " bytes: at most 255 are allowed"};
  }
  if (part.find('\0') != std::string_view::npos) {
    throw InvalidKey{std::string{"the "} + name + " holds a NUL byte, which is not allowed"};
  }
  if (!is_valid_utf8(part)) throw InvalidKey{std::string{"the "} + name + " is not valid UTF-8"};
}

std::string readable(std::string_view prefix, std::span<const std::string_view> parts) {
  std::string value{prefix};
  for (const std::string_view part : parts) {
    value += std::to_string(part.size());
    value += ':';
    value += part;
    value += ',';
  }
  return value;
}

bool fits(std::string_view prefix, std::span<const std::string_view> parts) {
  // Counted before anything is built: a part may be megabytes.
  std::size_t bytes = prefix.size();
  for (const std::string_view part : parts) {
    if (part.size() > max_key_part_bytes || part.find('\0') != std::string_view::npos ||
        !is_valid_utf8(part)) {
      return false;
    }
    bytes += std::to_string(part.size()).size() + 2 + part.size();
    if (bytes > max_key_part_bytes) return false;
  }
  return true;
}

/// The parts behind `prefix` where a key can hold them, else their hash behind `hashed_prefix`, which is
/// hashed too.
std::string made_key(std::string_view prefix, std::string_view hashed_prefix,
                     std::span<const std::string_view> parts) {
  if (fits(prefix, parts)) return readable(prefix, parts);
  Digest digest;
  digest.part("idem made key v1").part(hashed_prefix);
  for (const std::string_view part : parts) digest.part(part);
  return std::string{hashed_prefix} + to_hex(digest.finish());
}

}  // namespace

void validate(const Key& key) {
  validate_part(key.principal, "principal");
  validate_part(key.operation, "operation");
  validate_part(key.value, "key");
}

std::string natural_key(std::initializer_list<std::string_view> parts) {
  if (parts.size() == 0) throw InvalidArgument{"a natural key needs at least one part"};
  return made_key("", "sha256:", parts);
}

std::string step_key(std::string_view saga, std::string_view step) {
  return made_key("step:", "step-sha256:", std::array{saga, step});
}

std::string compensation_key(std::string_view saga, std::string_view step) {
  return made_key("undo:", "undo-sha256:", std::array{saga, step});
}

Uuid deterministic_uuid(const Key& key, std::string_view purpose) {
  return uuid_v8(Digest{}
                     .part("idem deterministic uuid v1")
                     .part(key.principal)
                     .part(key.operation)
                     .part(key.value)
                     .part(purpose)
                     .finish());
}

}  // namespace v0
}  // namespace idem
