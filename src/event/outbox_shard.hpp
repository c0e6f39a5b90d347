// Which shard of the outbox an aggregate's events belong to.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/digest.hpp"

namespace idem {
inline namespace v0 {
namespace detail {

/// 0 to 255. Frozen, as it is stored: the first byte of SHA-256 over `idem outbox shard v1`, aggregate type and aggregate
/// id, each after its length as 8 bytes, big endian.
inline std::int64_t outbox_shard(std::string_view aggregate_type, std::string_view aggregate_id) {
  return std::to_integer<std::int64_t>(
      Digest{}.part("idem outbox shard v1").part(aggregate_type).part(aggregate_id).finish()[0]);
}

}  // namespace detail
}  // namespace v0
}  // namespace idem
