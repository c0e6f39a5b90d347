// UUIDs: the value type, and the two kinds that the library makes itself (attempts, event ids).
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace idem {
inline namespace v0 {

/// A UUID as its 16 bytes in network order (RFC 9562), which is also how PostgreSQL orders them. The default
/// is the nil UUID. A value: distinct objects may be used by distinct threads.
class Uuid {
 public:
  using Bytes = std::array<std::byte, 16>;

  constexpr Uuid() noexcept = default;

  /// Takes any 16 bytes as they are: no version or variant is asked for.
  [[nodiscard]] static constexpr Uuid from_bytes(std::span<const std::byte, 16> bytes) noexcept {
    Uuid uuid;
    for (std::size_t i = 0; i < bytes.size(); ++i) uuid.bytes_[i] = bytes[i];
    return uuid;
  }

  /// Reads the 36-character form in either case, any version and variant. Empty for everything else: braces,
  /// a URN prefix, missing hyphens, blanks.
  [[nodiscard]] static std::optional<Uuid> parse(std::string_view text) noexcept;

  /// The 36-character form in lower case.
  [[nodiscard]] std::string to_string() const;

  [[nodiscard]] constexpr const Bytes& bytes() const noexcept { return bytes_; }

  friend constexpr auto operator<=>(const Uuid&, const Uuid&) noexcept = default;

 private:
  Bytes bytes_{};
};

/// Makes a version 7 UUID (RFC 9562 §5.7) from a time and 80 random bits, of which 74 are used. Pure.
///
/// The time is cut to 48 bits of Unix milliseconds, which last until the year 10889; a time before 1970 or
/// beyond them throws InvalidArgument.
[[nodiscard]] Uuid make_uuid_v7(std::chrono::sys_time<std::chrono::milliseconds> time,
                                std::span<const std::byte, 10> random);

/// Makes a version 7 UUID from `now` and OpenSSL's random generator. Two made in one millisecond have no
/// order: no counter is kept, as nothing here is global. Safe to call from several threads. Throws
/// InvalidArgument as make_uuid_v7 does, and std::runtime_error where the generator has no entropy.
[[nodiscard]] Uuid random_uuid_v7(std::chrono::sys_time<std::chrono::milliseconds> now);

/// Makes a version 4 UUID (RFC 9562 §5.4) from OpenSSL's random generator. Safe to call from several threads.
/// Throws std::runtime_error where the generator has no entropy.
[[nodiscard]] Uuid random_uuid_v4();

/// The time inside a version 7 UUID; empty where the version or the variant is another. It is what the maker
/// of the UUID says, not a fact.
[[nodiscard]] std::optional<std::chrono::sys_time<std::chrono::milliseconds>> uuid_v7_time(
    const Uuid& uuid) noexcept;

}  // namespace v0
}  // namespace idem
