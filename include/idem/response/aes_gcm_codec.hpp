// Bodies encrypted at rest: AES-256-GCM under keys that rotate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "idem/response/rules.hpp"

namespace idem {
inline namespace v0 {

/// 32 secret bytes; overwritten in memory when the object dies. A value: every copy is one more place where the secret is.
class AesSecret {
 public:
  static constexpr std::size_t size = 32;

  /// Copies them; the caller's own bytes are the caller's to overwrite. Throws InvalidArgument unless there are 32.
  explicit AesSecret(std::span<const std::byte> bytes);
  AesSecret(const AesSecret&) = default;
  AesSecret& operator=(const AesSecret&) = default;
  ~AesSecret();

  [[nodiscard]] std::span<const std::byte, size> bytes() const noexcept { return bytes_; }

 private:
  std::array<std::byte, size> bytes_{};
};

/// A key. The id is stored with each body, in clear: never give an id to a second secret.
struct AesKey {
  std::uint32_t id = 0;
  AesSecret secret;  ///< From a random source or a KMS, never from a password.
};

/// AES-256-GCM by OpenSSL. Immutable; safe to share between threads.
///
/// The envelope of version 1, frozen:
///
/// | bytes | |
/// |---|---|
/// | 1 | the version, 0x01 |
/// | 4 | the key's id, big endian |
/// | 12 | the nonce, random for each body |
/// | as many as the body | the ciphertext |
/// | 16 | the tag, over ciphertext, the five bytes of version and id, and the associated data |
///
/// Random nonces bound what one key may encode: 2^32 bodies, after which a nonce twice is too likely (NIST SP 800-38D, 8.3).
/// Rotate well before that.
///
/// To rotate: give every process the new key in `also_decode`, then make it the one that encodes with the old one in
/// `also_decode`, and drop the old one when the longest retention has passed and no UNKNOWN record is older than the change.
class AesGcmCodec final : public BodyCodec {
 public:
  /// `key` encodes and decodes; `also_decode` only decode. Throws InvalidArgument for an id given twice.
  explicit AesGcmCodec(AesKey key, std::vector<AesKey> also_decode = {});

  /// `aes-256-gcm`.
  [[nodiscard]] std::string_view name() const noexcept override;
  /// Throws std::runtime_error where OpenSSL fails: no memory, no randomness, a provider without AES-256-GCM.
  [[nodiscard]] std::vector<std::byte> encode(std::span<const std::byte> body,
                                              std::span<const std::byte> associated_data) const override;
  /// Throws BodyUnavailable for a key that is not among these, a tag that does not verify, and what is no envelope of
  /// version 1; std::runtime_error as encode().
  [[nodiscard]] std::vector<std::byte> decode(std::span<const std::byte> stored,
                                              std::span<const std::byte> associated_data) const override;

 private:
  std::vector<AesKey> keys_;  // the first one encodes
};

}  // namespace v0
}  // namespace idem
