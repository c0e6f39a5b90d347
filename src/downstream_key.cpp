#include "idem/downstream_key.hpp"

#include "digest.hpp"

namespace idem::inline v0 {

std::string downstream_key(const Key& key, const Fingerprint& stored) {
  return uuid_v8(Digest{}
                     .part("idem downstream key v1")
                     .part(key.principal)
                     .part(key.operation)
                     .part(key.value)
                     .part(stored.bytes())
                     .finish())
      .to_string();
}

}  // namespace idem::inline v0
