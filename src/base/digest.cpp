#include "base/digest.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace idem {
inline namespace v0 {

namespace {

void check(bool ok, const char* what) {
  if (!ok) throw std::runtime_error{std::string{"OpenSSL could not "} + what};
}

}  // namespace

void Digest::Free::operator()(EVP_MD_CTX* context) const noexcept {
  EVP_MD_CTX_free(context);
}
void Digest::Free::operator()(EVP_MAC_CTX* context) const noexcept {
  EVP_MAC_CTX_free(context);
}

Digest::Digest() : plain_{EVP_MD_CTX_new()} {
  check(plain_ && EVP_DigestInit_ex(plain_.get(), EVP_sha256(), nullptr) == 1, "start SHA-256");
}

Digest::Digest(std::span<const std::byte> secret) {
  EVP_MAC* const hmac = EVP_MAC_fetch(nullptr, OSSL_MAC_NAME_HMAC, nullptr);
  check(hmac != nullptr, "find HMAC");
  keyed_.reset(EVP_MAC_CTX_new(hmac));
  EVP_MAC_free(hmac);  // the context holds a reference of its own
  std::string hash_name{"SHA256"};
  const std::array<OSSL_PARAM, 2> params{
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, hash_name.data(), 0),
      OSSL_PARAM_construct_end()};
  check(keyed_ && EVP_MAC_init(keyed_.get(), reinterpret_cast<const unsigned char*>(secret.data()),
                               secret.size(), params.data()) == 1,
        "start HMAC-SHA-256");
}

void Digest::update(std::span<const std::byte> bytes) {
  if (plain_) {
    check(EVP_DigestUpdate(plain_.get(), bytes.data(), bytes.size()) == 1, "continue SHA-256");
  } else {
    check(
        EVP_MAC_update(keyed_.get(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()) == 1,
        "continue HMAC-SHA-256");
  }
}

Digest& Digest::byte(std::uint8_t value) {
  const std::array<std::byte, 1> bytes{std::byte{value}};
  update(bytes);
  return *this;
}

Digest& Digest::part(std::span<const std::byte> bytes) {
  std::array<std::byte, 8> length{};
  std::uint64_t rest = bytes.size();
  for (auto place = length.rbegin(); place != length.rend(); ++place, rest >>= 8)
    *place = std::byte(rest & 0xff);
  update(length);
  update(bytes);
  return *this;
}

Digest& Digest::part(std::string_view text) {
  return part(std::as_bytes(std::span{text}));
}

Digest::Value Digest::finish() {
  Value value{};
  auto* const out = reinterpret_cast<unsigned char*>(value.data());
  if (plain_) {
    check(EVP_DigestFinal_ex(plain_.get(), out, nullptr) == 1, "finish SHA-256");
  } else {
    std::size_t length = 0;
    check(EVP_MAC_final(keyed_.get(), out, &length, value.size()) == 1 && length == value.size(),
          "finish HMAC-SHA-256");
  }
  return value;
}

Uuid uuid_v8(const Digest::Value& hash) noexcept {
  Uuid::Bytes bytes{};
  std::copy_n(hash.begin(), bytes.size(), bytes.begin());
  bytes[6] = (bytes[6] & std::byte{0x0f}) | std::byte{0x80};
  bytes[8] = (bytes[8] & std::byte{0x3f}) | std::byte{0x80};
  return Uuid::from_bytes(bytes);
}

}  // namespace v0
}  // namespace idem
