// Stored bodies compressed by zlib; before another codec encrypts them, or alone.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "idem/response/rules.hpp"

namespace idem {
inline namespace v0 {

/// Compresses bodies to zlib streams (RFC 1950), and hands them on to another codec where one is given. Immutable; safe to
/// share between threads where that one is.
///
/// Compressing before encrypting tells by the stored length how much of a body repeats itself: only for answers in which no
/// secret stands beside something that an attacker chooses.
///
/// Bodies are bounded, as a small stream may unpack to a very large one.
class ZlibCodec final : public BodyCodec {
 public:
  static constexpr std::size_t default_max_body_bytes = std::size_t{16} << 20;
  static constexpr std::size_t largest_max_body_bytes = std::size_t{1} << 30;

  /// `then` encodes what was compressed; null for nothing more. No body over `max_body_bytes`, 1 to 1 GiB, is encoded or
  /// decoded: at least the backend's `max_response_bytes`, and never less than it was for bodies still stored. Throws
  /// InvalidArgument for other numbers.
  explicit ZlibCodec(std::shared_ptr<const BodyCodec> then = nullptr,
                     std::size_t max_body_bytes = default_max_body_bytes);

  /// `zlib`, or `zlib+` and the name of the other codec.
  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  /// Throws InvalidArgument for a body over the bound, which could not be decoded; std::bad_alloc; what the other codec throws.
  [[nodiscard]] std::vector<std::byte> encode(std::span<const std::byte> body,
                                              std::span<const std::byte> associated_data) const override;
  /// Throws BodyUnavailable for what is not one whole zlib stream, or one that unpacks to more than the bound; what the other
  /// codec throws.
  [[nodiscard]] std::vector<std::byte> decode(std::span<const std::byte> stored,
                                              std::span<const std::byte> associated_data) const override;

 private:
  std::shared_ptr<const BodyCodec> then_;
  std::string name_;
  std::size_t max_body_bytes_;
};

}  // namespace v0
}  // namespace idem
