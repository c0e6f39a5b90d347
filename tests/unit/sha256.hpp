// SHA-256 as the tests' own check, straight from OpenSSL.
#pragma once

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace idem::test {

inline std::array<std::byte, 32> sha256(std::span<const std::byte> bytes) {
  std::array<std::byte, 32> hash{};
  EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(hash.data()), nullptr, EVP_sha256(),
             nullptr);
  return hash;
}

inline std::string sha256_hex(std::string_view text) {
  std::string hex;
  for (const std::byte byte : sha256(std::as_bytes(std::span{text}))) {
    for (const auto digit : {byte >> 4, byte & std::byte{0x0f}}) {
      hex += "0123456789abcdef"[std::to_integer<unsigned>(digit)];
    }
  }
  return hex;
}

}  // namespace idem::test
