// Hashes of messages that are made of parts, each with its length in front, so that no two lists of parts
// make the same message.
#pragma once

#include <openssl/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "idem/base/uuid.hpp"

namespace idem {
inline namespace v0 {

/// One SHA-256 or HMAC-SHA-256 in the making. Not thread-safe. Every call throws std::runtime_error where
/// OpenSSL fails: no memory, or a provider without SHA-256.
class Digest {
 public:
  using Value = std::array<std::byte, 32>;

  /// SHA-256.
  Digest();
  /// HMAC-SHA-256 under `secret`.
  explicit Digest(std::span<const std::byte> secret);

  /// One byte as it is, with no length: versions and schemes.
  Digest& byte(std::uint8_t value);
  /// The length in bytes as 8 bytes, big endian, and the bytes.
  Digest& part(std::span<const std::byte> bytes);
  Digest& part(std::string_view text);

  /// The hash of all that was added. The last call on this object.
  [[nodiscard]] Value finish();

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const noexcept;
    void operator()(EVP_MAC_CTX* context) const noexcept;
  };

  void update(std::span<const std::byte> bytes);

  // Exactly one of the two is set.
  std::unique_ptr<EVP_MD_CTX, Free> plain_;
  std::unique_ptr<EVP_MAC_CTX, Free> keyed_;
};

/// The first 16 bytes of a hash as a version 8 UUID (RFC 9562 §5.8).
[[nodiscard]] Uuid uuid_v8(const Digest::Value& hash) noexcept;

}  // namespace v0
}  // namespace idem
