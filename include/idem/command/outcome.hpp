// What a command came to, for the one who answers the client.
#pragma once

#include <utility>
#include <variant>

#include "idem/record/reservation.hpp"
#include "idem/request/fingerprint.hpp"
#include "idem/request/key.hpp"

namespace idem {
inline namespace v0 {

/// A command with its identity: the key names the intent, the fingerprint says what was asked.
struct Request {
  Key key;
  Fingerprint fingerprint;
};

/// What a handler decided: COMPLETED or FAILED, and the answer to store. Made by completed() and failed() only.
class Decision {
 public:
  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] const Response& response() const& noexcept { return response_; }
  [[nodiscard]] Response&& response() && noexcept { return std::move(response_); }

 private:
  friend Decision completed(Response response);
  friend Decision failed(Response response);
  Decision(State state, Response response) : state_{state}, response_{std::move(response)} {}

  State state_;
  Response response_;
};

/// The command was carried out.
[[nodiscard]] inline Decision completed(Response response) {
  return {State::completed, std::move(response)};
}

/// The command was decided against, such as a declined card. The business writes made so far are kept: a decline is a
/// fact too. For a passing failure throw instead, so that everything is rolled back and a retry runs again.
[[nodiscard]] inline Decision failed(Response response) {
  return {State::failed, std::move(response)};
}

/// The handler ran, and its decision is stored. Durable only once the transaction has committed.
struct Executed {
  State state = State::completed;
  Response response;
  /// After this the key is a new request.
  TimePoint expires_at;
};

/// Exactly one of five. Under `std::visit` a forgotten one is a compile error.
using Outcome = std::variant<Executed, Replay, InProgress, Mismatch, Unknown>;

}  // namespace v0
}  // namespace idem
