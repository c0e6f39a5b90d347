#include "idem/base/uuid.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "base/hex.hpp"
#include "idem/base/error.hpp"

namespace idem {
inline namespace v0 {

namespace {

constexpr int not_hex = -1;

int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return not_hex;
}

constexpr bool is_hyphen_place(std::size_t i) noexcept {
  return i == 8 || i == 13 || i == 18 || i == 23;
}

void fill_randomly(std::span<std::byte> bytes) {
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) != 1) {
    throw std::runtime_error{"OpenSSL's random generator failed"};
  }
}

void set_version_and_variant(Uuid::Bytes& bytes, unsigned version) noexcept {
  bytes[6] = (bytes[6] & std::byte{0x0f}) | std::byte(version << 4);
  bytes[8] = (bytes[8] & std::byte{0x3f}) | std::byte{0x80};
}

}  // namespace

std::optional<Uuid> Uuid::parse(std::string_view text) noexcept {
  if (text.size() != 36) return std::nullopt;
  Uuid uuid;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_hyphen_place(i)) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const int value = hex_value(text[i]);
    if (value == not_hex) return std::nullopt;
    std::byte& byte = uuid.bytes_[digits / 2];
    byte = (byte << 4) | std::byte(value);
    ++digits;
  }
  return uuid;
}

std::string Uuid::to_string() const {
  std::string text = to_hex(bytes_);
  for (const std::size_t place : {8U, 13U, 18U, 23U}) text.insert(place, 1, '-');
  return text;
}

Uuid make_uuid_v7(std::chrono::sys_time<std::chrono::milliseconds> time,
                  std::span<const std::byte, 10> random) {
  const std::int64_t milliseconds = time.time_since_epoch().count();
  if (milliseconds < 0 || milliseconds >= std::int64_t{1} << 48) {
    throw InvalidArgument{"the time of a version 7 UUID must be between the years 1970 and 10889"};
  }
  Uuid::Bytes bytes{};
  for (std::size_t i = 0; i < 6; ++i) bytes[i] = std::byte((milliseconds >> (40 - 8 * i)) & 0xff);
  std::copy(random.begin(), random.end(), bytes.begin() + 6);
  set_version_and_variant(bytes, 7);
  return Uuid::from_bytes(bytes);
}

Uuid random_uuid_v7(std::chrono::sys_time<std::chrono::milliseconds> now) {
  std::array<std::byte, 10> random{};
  fill_randomly(random);
  return make_uuid_v7(now, random);
}

Uuid random_uuid_v4() {
  Uuid::Bytes bytes{};
  fill_randomly(bytes);
  set_version_and_variant(bytes, 4);
  return Uuid::from_bytes(bytes);
}

std::optional<std::chrono::sys_time<std::chrono::milliseconds>> uuid_v7_time(const Uuid& uuid) noexcept {
  const Uuid::Bytes& bytes = uuid.bytes();
  if ((bytes[6] & std::byte{0xf0}) != std::byte{0x70} || (bytes[8] & std::byte{0xc0}) != std::byte{0x80}) {
    return std::nullopt;
  }
  std::int64_t milliseconds = 0;
  for (std::size_t i = 0; i < 6; ++i)
    milliseconds = (milliseconds << 8) | std::to_integer<std::int64_t>(bytes[i]);
  return std::chrono::sys_time<std::chrono::milliseconds>{std::chrono::milliseconds{milliseconds}};
}

}  // namespace v0
}  // namespace idem
