#include "idem/response/aes_gcm_codec.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "idem/base/error.hpp"

namespace idem {
inline namespace v0 {
namespace {

constexpr std::byte version{0x01};
constexpr std::size_t prefix_size = 5;  // version and key id: what the tag covers besides the associated data
constexpr std::size_t nonce_size = 12;
constexpr std::size_t tag_size = 16;

using Bytes = std::span<const std::byte>;

struct Free {
  void operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, Free>;

enum class Way : int { decrypt = 0, encrypt = 1 };

void check(bool ok, const char* what) {
  if (!ok) throw std::runtime_error{std::string{"OpenSSL could not "} + what};
}

const unsigned char* chars(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

unsigned char* chars(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

Context begin(Way way, const AesKey& key, Bytes nonce) {
  Context context{EVP_CIPHER_CTX_new()};
  check(context &&
            EVP_CipherInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, chars(key.secret.bytes().data()),
                              chars(nonce.data()), static_cast<int>(way)) == 1,
        "start AES-256-GCM");
  return context;
}

// Takes `in` in pieces whose length an int can hold. What comes of them goes to `out`, which is as long; where there is none,
// they are authenticated only.
void update(EVP_CIPHER_CTX& context, Bytes in, std::span<std::byte> out = {}) {
  constexpr std::size_t piece = std::size_t{1} << 30;
  while (!in.empty()) {
    const std::size_t size = std::min(in.size(), piece);
    int written = 0;
    check(EVP_CipherUpdate(&context, out.empty() ? nullptr : chars(out.data()), &written, chars(in.data()),
                           static_cast<int>(size)) == 1,
          "continue AES-256-GCM");
    in = in.subspan(size);
    if (!out.empty()) out = out.subspan(size);
  }
}

void append_id(std::vector<std::byte>& envelope, std::uint32_t id) {
  for (const int shift : {24, 16, 8, 0}) envelope.push_back(std::byte((id >> shift) & 0xff));
}

std::uint32_t read_id(Bytes bytes) {
  std::uint32_t id = 0;
  for (const std::byte byte : bytes) id = id << 8 | std::to_integer<std::uint32_t>(byte);
  return id;
}

}  // namespace

AesSecret::AesSecret(std::span<const std::byte> bytes) {
  if (bytes.size() != size) throw InvalidArgument{"an AES-256 secret has 32 bytes"};
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
}

AesSecret::~AesSecret() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

AesGcmCodec::AesGcmCodec(AesKey key, std::vector<AesKey> also_decode) {
  keys_.reserve(also_decode.size() + 1);
  keys_.push_back(std::move(key));
  std::move(also_decode.begin(), also_decode.end(), std::back_inserter(keys_));
  std::set<std::uint32_t> ids;
  for (const AesKey& each : keys_) {
    if (!ids.insert(each.id).second)
      throw InvalidArgument{"AES key " + std::to_string(each.id) + " is given twice"};
  }
}

std::string_view AesGcmCodec::name() const noexcept {
  return "aes-256-gcm";
}

std::vector<std::byte> AesGcmCodec::encode(std::span<const std::byte> body,
                                           std::span<const std::byte> associated_data) const {
  const AesKey& key = keys_.front();
  std::vector<std::byte> envelope;
  envelope.reserve(prefix_size + nonce_size + body.size() + tag_size);
  envelope.push_back(version);
  append_id(envelope, key.id);
  envelope.resize(prefix_size + nonce_size + body.size() + tag_size);

  const std::span whole{envelope};
  const auto nonce = whole.subspan(prefix_size, nonce_size);
  check(RAND_bytes(chars(nonce.data()), static_cast<int>(nonce_size)) == 1, "make random bytes");
  const Context context = begin(Way::encrypt, key, nonce);
  update(*context, whole.first(prefix_size));
  update(*context, associated_data);
  update(*context, body, whole.subspan(prefix_size + nonce_size, body.size()));
  const auto tag = whole.last(tag_size);
  int written = 0;
  check(EVP_CipherFinal_ex(context.get(), chars(tag.data()), &written) == 1 && written == 0 &&
            EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, static_cast<int>(tag_size),
                                tag.data()) == 1,
        "finish AES-256-GCM");
  return envelope;
}

std::vector<std::byte> AesGcmCodec::decode(std::span<const std::byte> stored,
                                           std::span<const std::byte> associated_data) const {
  if (stored.size() < prefix_size + nonce_size + tag_size || stored.front() != version) {
    throw BodyUnavailable{
        "the record's body is no AES-256-GCM envelope of version 1: it was changed, or a newer version wrote "
        "it"};
  }
  const std::uint32_t id = read_id(stored.subspan(1, prefix_size - 1));
  const auto key =
      std::find_if(keys_.begin(), keys_.end(), [id](const AesKey& each) { return each.id == id; });
  if (key == keys_.end()) {
    throw BodyUnavailable{"the record's body was encoded under AES key " + std::to_string(id) +
                          ", which this process was not given"};
  }
  const auto ciphertext =
      stored.subspan(prefix_size + nonce_size, stored.size() - prefix_size - nonce_size - tag_size);
  std::array<std::byte, tag_size> tag{};
  std::copy_n(stored.last(tag_size).begin(), tag_size, tag.begin());

  const Context context = begin(Way::decrypt, *key, stored.subspan(prefix_size, nonce_size));
  update(*context, stored.first(prefix_size));
  update(*context, associated_data);
  std::vector<std::byte> body(ciphertext.size());
  update(*context, ciphertext, body);
  check(
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, static_cast<int>(tag_size), tag.data()) == 1,
      "set the tag of AES-256-GCM");
  std::array<unsigned char, tag_size> rest{};
  int written = 0;
  if (EVP_CipherFinal_ex(context.get(), rest.data(), &written) != 1) {
    OPENSSL_cleanse(body.data(), body.size());  // whoever made it, it is nobody's answer
    throw BodyUnavailable{
        "the record's body does not verify under AES key " + std::to_string(id) +
        ": body, status, headers or key were changed, or the secret of that id is another one"};
  }
  return body;
}

}  // namespace v0
}  // namespace idem
