#include "idem/zlib/zlib_codec.hpp"

// Or what it reads would not be const.
#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include "idem/base/error.hpp"

namespace idem {
inline namespace v0 {
namespace {

using Bytes = std::span<const std::byte>;

// zlib's lengths are `uInt`, and a stream is at most a little longer than its body.
static_assert(std::numeric_limits<uInt>::max() >= 2 * ZlibCodec::largest_max_body_bytes);

const Bytef* chars(const std::byte* bytes) {
  return reinterpret_cast<const Bytef*>(bytes);
}

Bytef* chars(std::byte* bytes) {
  return reinterpret_cast<Bytef*>(bytes);
}

std::vector<std::byte> compressed(Bytes body) {
  uLongf size = compressBound(static_cast<uLong>(body.size()));
  std::vector<std::byte> stream(size);
  const int status = compress2(chars(stream.data()), &size, chars(body.data()),
                               static_cast<uLong>(body.size()), Z_DEFAULT_COMPRESSION);
  if (status == Z_MEM_ERROR) throw std::bad_alloc{};
  if (status != Z_OK) throw std::runtime_error{"zlib could not compress a body"};
  stream.resize(size);
  return stream;
}

class Inflation {
 public:
  explicit Inflation(Bytes stream) {
    stream_.next_in = chars(stream.data());
    stream_.avail_in = static_cast<uInt>(stream.size());
    if (inflateInit(&stream_) != Z_OK) throw std::bad_alloc{};
  }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;
  ~Inflation() { inflateEnd(&stream_); }

  // Adds what comes next to `body`; false after the last.
  bool read(std::vector<std::byte>& body) {
    stream_.next_out = chars(piece_.data());
    stream_.avail_out = static_cast<uInt>(piece_.size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc{};
    if (status != Z_OK && status != Z_STREAM_END) throw BodyUnavailable{not_whole};
    body.insert(body.end(), piece_.begin(), piece_.end() - stream_.avail_out);
    if (status == Z_OK) return true;
    if (stream_.avail_in != 0) throw BodyUnavailable{not_whole};
    return false;
  }

  static constexpr const char* not_whole =
      "the record's body is not one whole zlib stream: it was changed, or another codec made it";

 private:
  z_stream stream_{};
  std::array<std::byte, 16384> piece_{};
};

}  // namespace

ZlibCodec::ZlibCodec(std::shared_ptr<const BodyCodec> then, std::size_t max_body_bytes)
    : then_{std::move(then)}, name_{"zlib"}, max_body_bytes_{max_body_bytes} {
  if (max_body_bytes < 1 || max_body_bytes > largest_max_body_bytes) {
    throw InvalidArgument{"max_body_bytes must be 1 to 1073741824"};
  }
  if (then_) name_ += '+' + std::string{then_->name()};
}

std::vector<std::byte> ZlibCodec::encode(Bytes body, Bytes associated_data) const {
  if (body.size() > max_body_bytes_) {
    throw InvalidArgument{"the body has " + std::to_string(body.size()) +
                          " bytes, and the zlib codec's max_body_bytes is " +
                          std::to_string(max_body_bytes_)};
  }
  std::vector<std::byte> stream = compressed(body);
  return then_ ? then_->encode(stream, associated_data) : stream;
}

std::vector<std::byte> ZlibCodec::decode(Bytes stored, Bytes associated_data) const {
  std::vector<std::byte> kept;
  if (then_) {
    kept = then_->decode(stored, associated_data);
    stored = kept;
  }
  if (stored.size() > std::numeric_limits<uInt>::max()) throw BodyUnavailable{Inflation::not_whole};
  Inflation inflation{stored};
  std::vector<std::byte> body;
  while (inflation.read(body)) {
    if (body.size() > max_body_bytes_) break;
  }
  if (body.size() > max_body_bytes_) {
    throw BodyUnavailable{"the record's body has more bytes than the zlib codec's max_body_bytes, " +
                          std::to_string(max_body_bytes_) + ": give it the one that it was encoded with"};
  }
  return body;
}

}  // namespace v0
}  // namespace idem
