// The client's side: one intent has one key, and a rule says what to do with each answer.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "idem/http/problem.hpp"

namespace idem {
inline namespace v0 {
namespace http {

/// One intended effect: its key, and what is sent with it. The key is minted once and cannot be changed, and there is no
/// way to another one for a retry: only for another intent. A value; safe to share between threads.
///
/// Save it before the first attempt: a client that dies after it comes back with the same key.
class Intent {
 public:
  /// A new intent with a random key (a version 7 UUID, RFC 9562). `body` is what every attempt sends, byte for byte.
  [[nodiscard]] static Intent mint(std::string body);

  /// One that was saved. Throws InvalidArgument for what is none.
  [[nodiscard]] static Intent restore(std::string_view saved);

  /// All of it as bytes, for a file or a column. Holds the body: keep it as you would keep that. Frozen: `idem intent 1`, a
  /// line feed, the key, a line feed, the body.
  [[nodiscard]] std::string save() const;

  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  [[nodiscard]] const std::string& body() const noexcept { return body_; }
  /// The value of the header `Idempotency-Key`.
  [[nodiscard]] std::string header() const;

 private:
  Intent(std::string key, std::string body) : key_{std::move(key)}, body_{std::move(body)} {}

  std::string key_;
  std::string body_;
};

/// What a client has to know of an answer: give all of it, or another rule comes of it. Views: they must live during the call
/// only.
struct ReplyView {
  int status = 0;
  /// The header's value; empty where there is none.
  std::string_view retry_after{};
  std::string_view content_type{};
  /// The header's value; empty where there is none. A 202 that has it is to be asked for again.
  std::string_view idempotency_key{};
  std::string_view body{};
  /// Is it marked as a replay (`Idempotent-Replayed: true`)?
  bool replayed = false;
};

/// The answer is the command's, a decline too: keep it, and forget the intent.
struct Done {
  /// It was carried out, and this is only its status: the body was not kept.
  bool body_withheld = false;
  friend bool operator==(const Done&, const Done&) = default;
};

/// Send the same intent again, not before `delay`.
struct RetryAfter {
  std::chrono::milliseconds delay{0};
  friend bool operator==(const RetryAfter&, const RetryAfter&) = default;
};

/// Do not send it again by yourself.
struct Stop {
  enum class Why {
    mismatch,  ///< The key was used for another request: a bug in the client. A new intent needs a new key.
    refused,   ///< The request cannot be read, or its key: a bug in the client. This try did nothing.
    forbidden,  ///< Not signed in, or not allowed. This try did nothing; the same intent may be sent again after that.
    exhausted,  ///< As many tries as the rule allows. It may have been done: keep the intent, for another day.
    unexpected  ///< Not the service's answer: a redirect, or a 404 of something before it. Keep the intent.
  };
  Why why = Why::refused;
  friend bool operator==(const Stop&, const Stop&) = default;
};

using Advice = std::variant<Done, RetryAfter, Stop>;

/// The bounds of a client's patience.
struct ClientRuleOptions {
  /// Tries at the most, the first included; at least 1.
  int max_tries = 10;
  /// Where the server does not say when: a random time up to this, then up to twice the one before. Where it says 0: a
  /// random time up to this, each time.
  std::chrono::milliseconds first_pause{500};
  /// No pause is longer, one that the server asks for excepted.
  std::chrono::milliseconds longest_pause{std::chrono::seconds{60}};
  /// A server that asks for more than this is not waited for: Stop::Why::exhausted.
  std::chrono::milliseconds longest_retry_after{std::chrono::hours{1}};
  /// The intent comes from Intent::restore(): it may have been sent before.
  bool restored = false;
};

/// What to do after each attempt of one intent. It knows neither keys nor bodies, so it cannot mint another key: a retry is
/// always the same intent. Not thread-safe: one for each intent that is under way.
///
/// | answer | advice |
/// |---|---|
/// | any that is marked as a replay | Done: that is the command's answer |
/// | 2xx; 402 and every other 4xx that is not below | Done |
/// | 202 with `Idempotency-Key`; a problem `in-progress`, `unknown` or `unavailable` | RetryAfter |
/// | 409 without a problem of ours, 408, 423, 425, 429, each 5xx; a time-out, a lost connection | RetryAfter |
/// | a problem `key-reused`; 422 without a problem of ours | Stop, mismatch |
/// | a problem `key-missing`, `key-refused`, `request-refused`; 400, 405, 406, 411, 413 to 417, 421, 426, 431 | Stop, refused |
/// | 401, 403, 407, a problem `unauthenticated` | Stop, forbidden |
/// | 1xx, 3xx | Stop, unexpected |
/// | not the first answer, and a 4xx that would be Done; 402 and replays excepted | RetryAfter; the next time Stop, unexpected |
///
/// The last is for a 404 or 410 of something before the service (a proxy, a router in a deployment), which would hide what an
/// earlier try did: a decision of the service's own comes back marked as a replay.
///
/// A problem's type counts more than the status, as the statuses may be chosen otherwise: under 202, 400, 401, 409, 422, 423,
/// 425 and 503, and `answer-withheld` under every status. Elsewhere it is another's problem, as is one over 64 KiB.
class ClientRule {
 public:
  /// Throws InvalidArgument for an option out of bounds.
  explicit ClientRule(ClientRuleOptions options = {});

  /// After an answer that came whole.
  [[nodiscard]] Advice after(const ReplyView& reply);

  /// After none, or half of one: a time-out, a connection that was refused or lost. Nobody knows whether it was done.
  [[nodiscard]] Advice after_no_answer();

  /// How many attempts there were.
  [[nodiscard]] int tries() const noexcept { return tries_; }

 private:
  [[nodiscard]] Advice again(std::string_view retry_after);

  ClientRuleOptions options_;
  int tries_ = 0;
  bool doubted_ = false;  // Was a refusal asked for again?
  std::chrono::milliseconds bound_;
};

}  // namespace http
}  // namespace v0
}  // namespace idem
