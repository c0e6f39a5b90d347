// The HTTP boundary: one request in, its one answer out, whatever the command came to.
#pragma once

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "idem/base/error.hpp"
#include "idem/command/outcome.hpp"
#include "idem/http/idempotency_key.hpp"
#include "idem/http/problem.hpp"
#include "idem/http/request.hpp"
#include "idem/http/storing.hpp"
#include "idem/request/fingerprint.hpp"

namespace idem {
inline namespace v0 {
namespace http {

/// How the boundary reads and answers.
struct BoundaryOptions {
  KeyHeaderOptions key{};
  FingerprintOptions fingerprint{};
  StorePolicy store{};
  /// Of a key that is being carried out: 409, 202, 423 or 425.
  int in_progress_status = 409;
  /// Of a key that was used for another request: 422, 409 or 400.
  int mismatch_status = 422;
  /// Of an outside call whose result is not known, where the operation has stored no answer of its own: 202 or 503.
  int unknown_status = 503;
  /// When its client is to ask again (`Retry-After`): a person, or a settlement, has to decide it meanwhile. 1 s to a day.
  std::chrono::seconds unknown_retry_after{60};
  /// What problem types begin with: a URI of your documentation, or the default `urn:`.
  std::string problem_types{default_problem_types};
  /// The header that marks a replay, and its value; an empty name for none. ClientRule needs the mark to tell a stored 4xx
  /// from one that somebody before the service made.
  Header replayed{"Idempotent-Replayed", "true"};
};

class Boundary;

/// One handler's answer to one request. Made by Boundary::handle(), for one thread.
class Answer {
 public:
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer() = default;

  /// What a handler returns for `response`: completed() below 400, failed() from there on, with those headers that the
  /// policy stores. The first caller is sent all of it; of a decision other than the last one, what was stored.
  ///
  /// Throws InvalidArgument for a status that is not 200 to 599, and NotStored where the policy does not store such an
  /// answer, so that the transaction is rolled back: let it pass.
  /// Only for handlers that run in one transaction: an outside call's answer is always stored.
  [[nodiscard]] Decision decide(Response response);

 private:
  friend class Boundary;
  explicit Answer(const StorePolicy& policy) : policy_{policy} {}

  // What the first caller is sent: the last response that was decided, where `stored` was made of it. Another try of the
  // transaction may have decided that one, or the handler may have returned another decision.
  [[nodiscard]] Response in_place_of(Response stored) &&;

  const StorePolicy& policy_;
  std::optional<Response> whole_{};
};

/// Carries an answer that is not stored out of the transaction. Boundary::handle() sends it.
class NotStored : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override {
    return "the answer is not to be stored: the transaction is rolled back";
  }
};

/// Turns requests into commands and outcomes into responses, by one set of options. Tied to no server library, to no
/// backend and to no shape. Immutable; safe to share between threads.
///
///     const idem::http::Boundary boundary;
///     idem::Response answer = boundary.handle(principal, view, [&](const idem::Request& request, idem::http::Answer& answer) {
///       return idem::transact(backend, begin, request, [&](pqxx::work& tx, const idem::Lease&) {
///         return answer.decide(pay(tx, view.body));
///       });
///     });
class Boundary {
 public:
  /// Throws InvalidArgument for an option out of bounds.
  explicit Boundary(BoundaryOptions options = {});

  /// The command's one answer. `principal` is who your authentication says is calling, never a part of the body; empty for
  /// nobody, who is sent a 401 and whose key is not looked up. `run(request, answer)`, or `run(request)`, calls execute(),
  /// transact() or external_call() and returns the outcome once it is durable.
  ///
  /// | | status | body |
  /// |---|---|---|
  /// | nobody | 401 | problem `unauthenticated` |
  /// | no key | 400 | problem `key-missing` |
  /// | two lines, an empty key, one too long or malformed | 400 | problem `key-refused` |
  /// | a body without one meaning | 400 | problem `request-refused` |
  /// | Executed | the handler's | the handler's, with all its headers |
  /// | Replay | the first one's | byte for byte, with the policy's headers and `Idempotent-Replayed: true` |
  /// | Replay of an answer whose body was withheld | the first one's | problem `answer-withheld`, if any |
  /// | InProgress | 409 by default | problem `in-progress`, with `Retry-After`; a 202 with `Idempotency-Key` too |
  /// | Mismatch | 422 by default | problem `key-reused` |
  /// | Unknown | the operation's, or 503 by default | the operation's, or problem `unknown`; with `Idempotency-Key` and `Retry-After` |
  /// | an answer that is not stored (Answer::decide) | the handler's | the handler's |
  /// | CommitUnknown, TransactionConflict, TooEarly | 503 | problem `unavailable`, with `Retry-After` |
  ///
  /// `run` is called for a request with a key, a principal and a body that can be read, and for no other: nothing is
  /// looked up before that. What else it throws is passed on: the caller's 500, and the client may come back with the same
  /// key. Then nothing was stored in one transaction; with an outside call its record stays, for the retry or the sweep.
  /// Throws InvalidKey for a principal or operation that is no valid part of a key.
  template <class Run>
  [[nodiscard]] Response handle(std::string_view principal, const RequestView& request, Run&& run) const {
    std::variant<Request, Response> read = this->read(principal, request);
    if (auto* refused = std::get_if<Response>(&read)) return std::move(*refused);
    const Request& command = std::get<Request>(read);
    Answer answer{options_.store};
    try {
      if constexpr (std::is_invocable_v<Run&, const Request&, Answer&>) {
        return respond(command, run(command, answer), std::move(answer));
      } else {
        return respond(command, run(command), std::move(answer));
      }
    } catch (const NotStored&) {
      if (!answer.whole_) throw;
      return *std::move(answer.whole_);
    } catch (const Error& failure) {
      if (failure.next_step() == NextStep::stop) throw;
      return unavailable();
    }
  }

  /// The command that the request is, or the response that refuses it. For flows that handle() does not fit.
  [[nodiscard]] std::variant<Request, Response> read(std::string_view principal,
                                                     const RequestView& request) const;

  /// The response that `outcome` is. For flows that handle() does not fit. Throws InvalidKey for an Unknown whose key is not
  /// printable ASCII: no header could tell it. read() makes none such.
  [[nodiscard]] Response respond(const Request& command, Outcome outcome) const;

  [[nodiscard]] const BoundaryOptions& options() const noexcept { return options_; }

 private:
  [[nodiscard]] Response respond(const Request& command, Outcome outcome, Answer&& answer) const;
  [[nodiscard]] Response problem(Problem problem, int status, std::string detail = {}) const;
  [[nodiscard]] Response unavailable() const;
  [[nodiscard]] Response replayed(Response stored) const;
  [[nodiscard]] Response without_its_body(Response kept) const;
  [[nodiscard]] Response not_known(const Request& command, std::optional<Response> told) const;

  BoundaryOptions options_;
  Fingerprinter fingerprinter_;
};

}  // namespace http
}  // namespace v0
}  // namespace idem
