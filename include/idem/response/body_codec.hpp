// How bodies are encoded where they are stored: encryption, compression, or both.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "idem/response/response.hpp"

namespace idem {
inline namespace v0 {

/// Encodes the bodies of stored answers; status and headers stay as they are. Derive from it, or take AesGcmCodec.
///
/// A codec is used by all threads at once, and every stored body has to stay decodable until its record expires.
class BodyCodec {
 public:
  virtual ~BodyCodec() = default;

  /// Stored with each body, so it is frozen: 1 to 64 of `a`-`z`, `0`-`9`, `+`, `-`, `.`. Another format is another name.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  /// The bytes to store for `body`, which may be empty. `associated_data` says which record the body belongs to: a codec
  /// that authenticates binds the body to it, one that wraps another hands it on. What it throws is passed on by complete()
  /// and the like, before anything was sent.
  [[nodiscard]] virtual std::vector<std::byte> encode(std::span<const std::byte> body,
                                                      std::span<const std::byte> associated_data) const = 0;

  /// The body that `stored` was made of. Throws BodyUnavailable, without any of the content, where this process cannot
  /// tell.
  [[nodiscard]] virtual std::vector<std::byte> decode(std::span<const std::byte> stored,
                                                      std::span<const std::byte> associated_data) const = 0;

 protected:
  BodyCodec() = default;
  BodyCodec(const BodyCodec&) = default;
  BodyCodec& operator=(const BodyCodec&) = default;
};

/// The header that marks a stored answer whose body is encoded; its value is the codec's name. Never seen in a replay.
/// Stored, so it is frozen.
inline constexpr std::string_view encoded_header = "idem-encoded";

/// The name of the codec that encoded the body, of an answer as it is stored (IdempotencyStore::find_stored()); empty where it
/// is not encoded. Valid while `response` lives.
[[nodiscard]] std::optional<std::string_view> encoded_by(const Response& response);

}  // namespace v0
}  // namespace idem
