#include "idem/call/downstream_key.hpp"

#include <string_view>

#include "base/digest.hpp"

namespace idem {
inline namespace v0 {

namespace {

Digest digest_of(std::string_view domain, const Key& key, const Fingerprint& stored) {
  Digest digest;
  digest.part(domain).part(key.principal).part(key.operation).part(key.value).part(stored.bytes());
  return digest;
}

}  // namespace

std::string downstream_key(const Key& key, const Fingerprint& stored) {
  return uuid_v8(digest_of("idem downstream key v1", key, stored).finish()).to_string();
}

std::string downstream_key(const Key& key, const Fingerprint& stored, std::int64_t generation) {
  return uuid_v8(digest_of("idem downstream key v1 generation", key, stored)
                     .part(std::to_string(generation))
                     .finish())
      .to_string();
}

}  // namespace v0
}  // namespace idem
