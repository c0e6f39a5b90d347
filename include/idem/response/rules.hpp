// How answers are stored: what is left out of them, and how their bodies are encoded.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "idem/response/response.hpp"

namespace idem {
inline namespace v0 {

/// Why a body was not kept.
enum class Withheld {
  too_large,  ///< The answer was over the backend's limit.
  card_data,  ///< It held what must not be stored: ResponseRules::must_not_store.
};

/// What settling does with an answer that cannot be stored whole.
enum class OnUnstorable {
  /// Throws InvalidArgument, before anything is sent: the command's work rolls back. After an outside call there is nothing
  /// to roll back, and its result is recorded as not known: choose the other there.
  refuse,
  /// Stores the status and the headers, marked. The first caller still gets the whole answer, unless its COMMIT lost its
  /// answer: then it gets what a retry gets.
  withhold_body,
};

/// Begins the names of the headers that idem itself stores, in any case of letters. Settling with a response that holds
/// such a name is refused.
inline constexpr std::string_view reserved_header_prefix = "idem-";

/// The header that marks a stored answer whose body was not kept, and its values. Stored, so they are frozen.
inline constexpr std::string_view withheld_header = "idem-withheld";
inline constexpr std::string_view withheld_too_large = "too-large";
inline constexpr std::string_view withheld_card_data = "card-data";

/// Why the body of a replayed `response` is missing; empty where it is whole. The command was done: never run it again, and
/// tell the client that its answer is not there any more.
[[nodiscard]] std::optional<Withheld> withheld(const Response& response);

/// Encodes the bodies of stored answers; status and headers stay as they are. Derive from it, or take AesGcmCodec.
///
/// A codec is used by all threads at once, and every stored body has to stay decodable until its record expires.
class BodyCodec {
 public:
  virtual ~BodyCodec() = default;

  /// Stored with each body, so it is frozen: 1 to 64 of `a`-`z`, `0`-`9`, `+`, `-`, `.`. Another format is another name.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  /// The bytes to store for `body`, which may be empty. `associated_data` says which record the body belongs to: a codec
  /// that authenticates binds the body to it, one that wraps another hands it on. What it throws is passed on by complete()
  /// and the like, before anything was sent.
  [[nodiscard]] virtual std::vector<std::byte> encode(std::span<const std::byte> body,
                                                      std::span<const std::byte> associated_data) const = 0;

  /// The body that `stored` was made of. Throws BodyUnavailable, without any of the content, where this process cannot
  /// tell.
  [[nodiscard]] virtual std::vector<std::byte> decode(std::span<const std::byte> stored,
                                                      std::span<const std::byte> associated_data) const = 0;

 protected:
  BodyCodec() = default;
  BodyCodec(const BodyCodec&) = default;
  BodyCodec& operator=(const BodyCodec&) = default;
};

/// The header that marks a stored answer whose body is encoded; its value is the codec's name. Never seen in a replay.
/// Stored, so it is frozen.
inline constexpr std::string_view encoded_header = "idem-encoded";

/// The name of the codec that encoded the body, of an answer as it is stored (IdempotencyStore::find_stored()); empty where it
/// is not encoded. Valid while `response` lives.
[[nodiscard]] std::optional<std::string_view> encoded_by(const Response& response);

/// What a backend does with every answer that it stores and replays. The default stores all of it as it is, and refuses
/// what is too large.
struct ResponseRules {
  /// For a response over the backend's limit (headers and body). Headers that are over it by themselves are refused always.
  OnUnstorable too_large = OnUnstorable::refuse;
  /// Whether a response holds what must not be stored, such as a card number. Asked before anything else; where it says
  /// yes, again about the headers without the body: where those hold it too, the status alone is kept. Called by all
  /// threads at once. What it throws is passed on by complete() and the like.
  std::function<bool(const Response&)> must_not_store{};
  /// For a response of which `must_not_store` said yes.
  OnUnstorable found = OnUnstorable::refuse;
  /// Encodes the bodies that are stored from now on, and decodes its own. Empty: bodies are stored as they are.
  std::shared_ptr<const BodyCodec> codec{};
  /// Others whose bodies this process decodes. To begin with a codec: give it to every process here, then make it `codec`.
  /// To leave one: put it here until the retention has passed.
  std::vector<std::shared_ptr<const BodyCodec>> also_decode{};
};

/// Throws InvalidArgument for a null codec in `also_decode`, a name that no codec may have, and a name given twice.
void validate(const ResponseRules& rules);

}  // namespace v0
}  // namespace idem
