// The envelope of encoded bodies, which comes back from a table that others can write.
#include "idem/response/aes_gcm_codec.hpp"

#include <algorithm>
#include <optional>

#include "fuzz.hpp"
#include "idem/base/error.hpp"

namespace idem::fuzz {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t overhead = 1 + 4 + 12 + 16;

AesKey key(std::uint32_t id) {
  Bytes secret(AesSecret::size);
  for (std::size_t at = 0; at < secret.size(); ++at) secret[at] = std::byte(id + at);
  return {id, AesSecret{secret}};
}

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

// The body, or nothing where it is refused as the codec says.
std::optional<Bytes> decoded(const AesGcmCodec& codec, const Bytes& stored, const Bytes& associated_data,
                             std::string_view secret) {
  try {
    return codec.decode(stored, associated_data);
  } catch (const BodyUnavailable& refused) {
    expect(!quotes(refused.what(), secret), "a refusal holds nothing of the body");
    return std::nullopt;
  }
}

}  // namespace

void one_input(Input input) {
  static const AesGcmCodec codec{key(7), {key(9)}};
  static const AesGcmCodec before{key(9)};
  static const AesGcmCodec other{key(8)};
  const std::uint8_t choice = input.byte();
  const std::size_t place = std::size_t{input.byte()} * 256 + input.byte();
  const Bytes record = bytes_of(input.line());
  const std::string_view text = input.rest();
  const Bytes body = bytes_of(text);

  // As it is, and behind what an envelope under one of the keys begins with.
  Bytes foreign = body;
  if ((choice & 1U) != 0) {
    const std::array<std::byte, 5> prefix{std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0},
                                          std::byte{7}};
    foreign.insert(foreign.begin(), prefix.begin(), prefix.end());
  }
  if (const auto made = decoded(codec, foreign, record, text)) {
    expect(made->size() + overhead == foreign.size(), "an envelope is as long as its body and 33 bytes");
    foreign.back() ^= std::byte{1};
    expect(!decoded(codec, foreign, record, text), "an envelope with another tag is refused");
  }

  const bool old = (choice & 2U) != 0;
  const Bytes stored = (old ? before : codec).encode(body, record);
  expect(stored.size() == body.size() + overhead, "an envelope is as long as its body and 33 bytes");
  expect(decoded(codec, stored, record, text) == body, "what was encoded is decoded");
  expect(!decoded(other, stored, record, text), "a body under another key is unavailable");
  if (!old) expect(!decoded(before, stored, record, text), "a newer key is not known");

  Bytes changed = stored;
  changed[place / 8 % stored.size()] ^= std::byte{1} << (place % 8);
  expect(!decoded(codec, changed, record, text), "one bit that is changed is noticed");

  changed = stored;
  changed.resize(place % stored.size());
  expect(!decoded(codec, changed, record, text), "what is cut off is noticed");
  changed = stored;
  changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(place % (stored.size() + 1)),
                 std::byte{choice});
  expect(!decoded(codec, changed, record, text), "a byte more is noticed");

  changed = stored;
  const std::size_t from = place % stored.size();
  std::copy_n(body.begin(), std::min(body.size(), stored.size() - from),
              changed.begin() + static_cast<std::ptrdiff_t>(from));
  if (changed != stored) expect(!decoded(codec, changed, record, text), "foreign bytes in it are noticed");

  Bytes another = record;
  another.push_back(std::byte{choice});
  expect(!decoded(codec, stored, another, text), "a body belongs to one record");
}

}  // namespace idem::fuzz
