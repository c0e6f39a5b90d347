// What makes two requests the same request: a hash of their meaning, not of their spelling.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "idem/base/error.hpp"
#include "idem/json/canonical_json.hpp"

namespace idem {
inline namespace v0 {

/// The fingerprint of a request: one scheme byte and 32 bytes of hash. A value: distinct objects may be used
/// by distinct threads.
///
/// Schemes are stored, so they are frozen: 0x01 is SHA-256 of the version 1 message, 0x80 + id is
/// HMAC-SHA-256 of it under the key with that id (0 to 127). There is no default: a fingerprint that all
/// requests share would answer one request with another's response.
class Fingerprint {
 public:
  static constexpr std::size_t size = 33;
  using Bytes = std::array<std::byte, size>;

  static constexpr std::uint8_t sha256_scheme = 0x01;
  static constexpr std::uint8_t hmac_scheme_base = 0x80;

  /// Takes the 33 bytes of a stored fingerprint, of any scheme, also one of a later version. Throws
  /// StoredDataError for another length.
  [[nodiscard]] static Fingerprint from_bytes(std::span<const std::byte> bytes);

  [[nodiscard]] std::uint8_t scheme() const noexcept { return std::to_integer<std::uint8_t>(bytes_[0]); }
  [[nodiscard]] const Bytes& bytes() const noexcept { return bytes_; }
  /// The bytes as 66 lower-case hex digits.
  [[nodiscard]] std::string hex() const;

  /// This request's fingerprint under another scheme: itself under its own, another where the fingerprinter
  /// was told to compute it (`FingerprintOptions::also_hmac`, `also_sha256`), else empty.
  [[nodiscard]] std::optional<Fingerprint> under(std::uint8_t scheme) const;

  /// Whether this request is the one that a record was made for, compared under the record's own scheme.
  ///
  /// Throws FingerprintUnavailable where this request's fingerprint under that scheme is not known: that says
  /// nothing about the requests.
  [[nodiscard]] bool matches(const Fingerprint& stored) const;

  /// Compares the 33 bytes. Across schemes it says nothing about the requests: see `matches`. Not in constant
  /// time: an attacker who tries bodies learns equal or not from the answer itself, and the hash is never a
  /// credential.
  friend bool operator==(const Fingerprint& a, const Fingerprint& b) noexcept { return a.bytes_ == b.bytes_; }

 private:
  friend class Fingerprinter;
  explicit Fingerprint(const Bytes& bytes) : bytes_{bytes} {}

  Bytes bytes_;
  std::vector<Bytes> others_;  // the same request under other schemes
};

/// A secret for keyed fingerprints. The id is stored with each fingerprint; never give an id to a second
/// secret.
struct HmacKey {
  std::uint8_t id = 0;              ///< 0 to 127.
  std::vector<std::byte> secret{};  ///< At least 16 bytes, random; 32 are right for SHA-256.
};

/// What counts in a request, and how it is hashed. A plain value.
struct FingerprintOptions {
  CanonicalJsonOptions json{};
  /// The JSON Pointers (RFC 6901) of the members that make the operation; empty for all. Best where the
  /// body's shape is known: a new member that clients add then changes nothing.
  std::vector<std::string> include{};
  /// The members that do not count. A client's timestamp or an attempt's id in the hash makes each retry a
  /// mismatch.
  std::vector<std::string> exclude{};
  /// Set: new fingerprints are keyed. Needed where bodies can hold card numbers or other guessable secrets,
  /// as their unkeyed hash can be searched. Not set: SHA-256.
  std::optional<HmacKey> hmac{};
  /// Other keys under which kept records were made, or will be by a newer deployment: the fingerprint is
  /// computed under each of them too, only to compare. To change keys: give every process the new key here,
  /// then make it `hmac` with the old one here, and drop the old one when the retention has passed.
  std::vector<HmacKey> also_hmac{};
  /// With `hmac`: compute the unkeyed hash too, only to compare, for records made before keys were used.
  bool also_sha256 = false;
};

/// The parts of a request that a fingerprint is made of. Views: they must live during the call only. Neither
/// the principal nor the idempotency key is among them, as they are in the Key.
struct RequestContent {
  std::string_view method{};     ///< Taken as it is: `POST`. Empty for commands that are not HTTP.
  std::string_view operation{};  ///< The command's stable name or route, not the raw URL.
  std::string_view query{};      ///< The chosen query parameters, in an order that the caller fixes.
  std::string_view content_type =
      "application/json";  ///< As in the header, parameters included; they do not count.
  std::string_view body{};
};

/// Makes fingerprints by one set of options. Immutable; safe to share between threads.
///
/// The message of version 1, frozen: the scheme byte; then `idem fingerprint v1`, method, operation, query,
/// class and content, each after its length in bytes as 8 bytes, big endian. By the body, class and content are
///
/// - empty: `none`, and nothing;
/// - `application/json`, `text/json`, `…+json`: `json`, or `json-rfc8785` in that mode, and the body's projected
///   canonical form;
/// - anything else: `raw:` and the type in lower case, without parameters, and the body's bytes.
class Fingerprinter {
 public:
  /// Throws InvalidArgument for a bad JSON Pointer, an HMAC key with an id above 127 or a secret below 16
  /// bytes, and an id given twice.
  explicit Fingerprinter(FingerprintOptions options = {});

  /// The request's fingerprint. Throws InvalidJson for a JSON body that is refused (see canonical_json), and
  /// InvalidArgument for a body that is not JSON where members are included or excluded: they cannot be found
  /// in it.
  [[nodiscard]] Fingerprint operator()(const RequestContent& request) const;

  /// How JSON bodies are read.
  [[nodiscard]] const CanonicalJsonOptions& json_options() const noexcept { return options_.json; }

 private:
  FingerprintOptions options_;
  JsonProjection projection_;
};

}  // namespace v0
}  // namespace idem
