// The number under which a key is stored and locked.
#pragma once

#include <cstdint>

#include "idem/base/uuid.hpp"
#include "idem/request/key.hpp"

namespace idem {
inline namespace v0 {

/// A key as the stores use it. A value: distinct objects may be used by distinct threads.
struct KeyHash {
  Uuid id;  ///< The primary key. All 128 bits are the hash: no version or variant is set.
  /// Half of the rest: what a store's advisory lock is made of. Two keys may share it by chance: it only costs a wait.
  std::int64_t lock = 0;

  friend bool operator==(const KeyHash&, const KeyHash&) = default;
};

/// Hashes a key. Pure, and does not validate: see `validate`.
///
/// The value is stored, so it is frozen: SHA-256 over the byte 0x01 and principal, operation and value, each
/// after its length in bytes as 8 bytes, big endian. `id` is bytes 0 to 15 of that, `lock` bytes 16 to 23 as
/// a big-endian two's complement number. The stores compare the three texts on every read, so even a
/// collision is no false replay.
[[nodiscard]] KeyHash hash_key(const Key& key);

}  // namespace v0
}  // namespace idem
