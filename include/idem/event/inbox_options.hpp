// How late an event may arrive, and what becomes of one whose age is not known.
#pragma once

#include <chrono>

namespace idem {
inline namespace v0 {

/// What an inbox does with an event whose age cannot be told: it has no time, or one further in the future than the
/// skew.
enum class UnknownAge {
  refuse,  ///< `beyond_horizon`: it cannot be proven unseen, so a person or a dead letter decides.
  apply,   ///< As one made now. The caller vouches that none is redelivered after the horizon.
};

/// Give every inbox of one consumer equal ones. A mark is kept as long as the options of the inbox that received the
/// event say: another inbox with a longer horizon, or a longer one later, may apply an event again whose mark was
/// purged.
struct InboxOptions {
  /// How long after it was made an event may still be delivered, the first time or again. At least 0, at most ten years;
  /// default 7 days. At least what the broker retains and redelivers. Milliseconds.
  std::chrono::milliseconds horizon{std::chrono::days{7}};
  /// How far the maker's clock may be ahead of the store's. At least 0, at most ten years; default 5 minutes.
  std::chrono::milliseconds skew{std::chrono::minutes{5}};
  UnknownAge unknown_age = UnknownAge::refuse;
};

/// Throws InvalidArgument, naming the option and its limit, where `options` break one.
void validate(const InboxOptions& options);

}  // namespace v0
}  // namespace idem
