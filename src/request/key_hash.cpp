#include "request/key_hash.hpp"

#include <span>

#include "base/digest.hpp"

namespace idem {
inline namespace v0 {

KeyHash hash_key(const Key& key) {
  constexpr std::uint8_t version = 0x01;
  const Digest::Value hash =
      Digest{}.byte(version).part(key.principal).part(key.operation).part(key.value).finish();
  const std::span<const std::byte, 32> bytes{hash};
  std::uint64_t lock = 0;
  for (const std::byte byte : bytes.subspan<16, 8>())
    lock = (lock << 8) | std::to_integer<std::uint64_t>(byte);
  return {Uuid::from_bytes(bytes.first<16>()), static_cast<std::int64_t>(lock)};
}

}  // namespace v0
}  // namespace idem
