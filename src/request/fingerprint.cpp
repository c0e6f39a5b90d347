#include "idem/request/fingerprint.hpp"

#include <algorithm>
#include <bitset>
#include <utility>

#include "base/digest.hpp"
#include "base/hex.hpp"
#include "request/media_type.hpp"

namespace idem {
inline namespace v0 {

namespace {

constexpr std::uint8_t max_hmac_id = 127;
constexpr std::size_t min_secret_bytes = 16;

void check_keys(const FingerprintOptions& options) {
  std::bitset<max_hmac_id + 1> seen;
  const auto check = [&seen](const HmacKey& key) {
    const std::string name = "HMAC key " + std::to_string(key.id);
    if (key.id > max_hmac_id) throw InvalidArgument{name + ": the id must be 0 to 127"};
    if (key.secret.size() < min_secret_bytes) {
      throw InvalidArgument{name + ": the secret must have at least 16 bytes"};
    }
    if (seen[key.id]) throw InvalidArgument{name + " is given twice"};
    seen[key.id] = true;
  };
  if (options.hmac) check(*options.hmac);
  std::for_each(options.also_hmac.begin(), options.also_hmac.end(), check);
}

/// What of a body goes into the message.
struct Content {
  std::string content_class;
  std::string canonical;  // owns the content where it is JSON
  std::string_view raw;   // refers to the request where it is not
  [[nodiscard]] std::string_view bytes() const noexcept { return raw.empty() ? canonical : raw; }
};

Content content_of(const RequestContent& request, const CanonicalJsonOptions& json,
                   const JsonProjection& projection) {
  if (request.body.empty()) return {"none", {}, {}};
  std::string type = media_type(request.content_type);
  if (is_json(type)) {
    return {json.numbers == JsonNumbers::rfc8785 ? "json-rfc8785" : "json",
            canonical_json(request.body, json, projection),
            {}};
  }
  if (!projection.keeps_everything()) {
    throw InvalidArgument{
        "the body has to be JSON, of which members are compared, and its content type is another: send "
        "Content-Type: application/json"};
  }
  return {"raw:" + std::move(type), {}, request.body};
}

Fingerprint::Bytes hash(std::uint8_t scheme, Digest digest, const RequestContent& request,
                        const Content& content) {
  const Digest::Value value = digest.byte(scheme)
                                  .part("idem fingerprint v1")
                                  .part(request.method)
                                  .part(request.operation)
                                  .part(request.query)
                                  .part(content.content_class)
                                  .part(content.bytes())
                                  .finish();
  Fingerprint::Bytes bytes{std::byte{scheme}};
  std::copy(value.begin(), value.end(), bytes.begin() + 1);
  return bytes;
}

Fingerprint::Bytes plain_hash(const RequestContent& request, const Content& content) {
  return hash(Fingerprint::sha256_scheme, Digest{}, request, content);
}

Fingerprint::Bytes keyed_hash(const HmacKey& key, const RequestContent& request, const Content& content) {
  const auto scheme = static_cast<std::uint8_t>(Fingerprint::hmac_scheme_base + key.id);
  return hash(scheme, Digest{key.secret}, request, content);
}

std::string scheme_name(std::uint8_t scheme) {
  if (scheme == Fingerprint::sha256_scheme) return "SHA-256";
  if (scheme >= Fingerprint::hmac_scheme_base) {
    return "HMAC key " + std::to_string(scheme - Fingerprint::hmac_scheme_base);
  }
  return "scheme " + std::to_string(scheme) + ", which this version does not know";
}

}  // namespace

Fingerprint Fingerprint::from_bytes(std::span<const std::byte> bytes) {
  if (bytes.size() != size) {
    throw StoredDataError{"a stored fingerprint has " + std::to_string(bytes.size()) +
                          " bytes instead of 33"};
  }
  Bytes copy{};
  std::copy(bytes.begin(), bytes.end(), copy.begin());
  return Fingerprint{copy};
}

std::string Fingerprint::hex() const {
  return to_hex(bytes_);
}

std::optional<Fingerprint> Fingerprint::under(std::uint8_t scheme) const {
  if (scheme == this->scheme()) return *this;
  for (const Bytes& other : others_) {
    if (other[0] == std::byte{scheme}) return Fingerprint{other};
  }
  return std::nullopt;
}

bool Fingerprint::matches(const Fingerprint& stored) const {
  if (const std::optional<Fingerprint> same_scheme = under(stored.scheme())) return *same_scheme == stored;
  throw FingerprintUnavailable{"the record's fingerprint was made under " + scheme_name(stored.scheme()) +
                               ", and this request's was not computed under it"};
}

Fingerprinter::Fingerprinter(FingerprintOptions options)
    : options_{std::move(options)}, projection_{options_.include, options_.exclude} {
  check_keys(options_);
}

Fingerprint Fingerprinter::operator()(const RequestContent& request) const {
  const Content content = content_of(request, options_.json, projection_);
  Fingerprint fingerprint{options_.hmac ? keyed_hash(*options_.hmac, request, content)
                                        : plain_hash(request, content)};
  for (const HmacKey& key : options_.also_hmac)
    fingerprint.others_.push_back(keyed_hash(key, request, content));
  if (options_.hmac && options_.also_sha256) fingerprint.others_.push_back(plain_hash(request, content));
  return fingerprint;
}

}  // namespace v0
}  // namespace idem
