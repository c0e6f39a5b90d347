// The key that is handed to a service called on the command's behalf.
#pragma once

#include <cstdint>
#include <string>

#include "idem/request/fingerprint.hpp"
#include "idem/request/key.hpp"

namespace idem {
inline namespace v0 {

/// The idempotency key for a downstream service: 36 characters, the same on every retry and takeover of a
/// record.
///
/// The client's own key would not do: two principals may send the same one, and downstream both are this
/// service's. Pass the fingerprint that the record holds, not one computed anew: after a change of HMAC key
/// they differ, and another key downstream is a second effect. The text of a version 8 UUID (RFC 9562 §5.8),
/// as downstream limits are 36 to 64 characters. Frozen: SHA-256 over `idem downstream key v1`, principal,
/// operation, value and the 33 bytes of the fingerprint, each after its length as 8 bytes, big endian; its
/// first 16 bytes with version and variant set.
[[nodiscard]] std::string downstream_key(const Key& key, const Fingerprint& stored);

/// The same for a downstream that never forgets a key (Downstream::key_per_generation): another one for each generation of
/// the record. Frozen: `idem downstream key v1 generation` instead, and after the fingerprint the generation in decimal
/// digits.
[[nodiscard]] std::string downstream_key(const Key& key, const Fingerprint& stored, std::int64_t generation);

}  // namespace v0
}  // namespace idem
