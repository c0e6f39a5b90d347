// How answers are stored: what is left out of them, and how their bodies are encoded.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "idem/response/body_codec.hpp"
#include "idem/response/response.hpp"
#include "idem/response/withheld.hpp"

namespace idem {
inline namespace v0 {

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
