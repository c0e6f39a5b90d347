// The library's own errors, sorted by what the caller does next.
//
// Failures of the database itself are not wrapped: they reach the caller as the pqxx exceptions that it
// already handles. No message holds a body, a fingerprint, a key's value or any other content of a request.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace idem {
inline namespace v0 {

/// What the caller of a failed call does next.
enum class NextStep {
  retry_call,         ///< Call again later, with the same key. Nothing else has to change.
  retry_transaction,  ///< Roll back, and run the whole transaction again from its beginning.
  stop,  ///< Repeating changes nothing: a caller's error, or a decision that a person has to take.
};

/// The root of every error that this library makes. Immutable; safe to copy between threads.
class Error : public std::runtime_error {
 public:
  Error(NextStep next, const std::string& message) : std::runtime_error{message}, next_{next} {}
  /// What to do about it.
  [[nodiscard]] NextStep next_step() const noexcept { return next_; }

 private:
  NextStep next_;
};

/// An argument that breaks a documented limit or rule. Nothing was changed by the call. Stop: mend the caller.
class InvalidArgument : public Error {
 public:
  explicit InvalidArgument(const std::string& message) : Error{NextStep::stop, message} {}
};

/// A principal, operation or key that is empty, too long, holds a NUL or is not UTF-8. Told before any statement
/// is sent. Stop: the client's request is refused (400 over HTTP).
class InvalidKey : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

/// An event whose identity is missing a part, too long, holds a NUL or is not UTF-8, or whose time cannot be read. Told
/// before any statement is sent. Stop: it goes where a person decides (a dead letter).
class InvalidEvent : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

/// A body, header or payload holds a card's number or security code and is not stored. The message tells the kind and
/// where it was, never the match. Nothing was changed. Stop: mend what puts it there; an event goes to the dead letter.
class CardDataFound : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

/// JSON that is refused, never guessed. Stop: the client's request is refused (400 over HTTP).
class InvalidJson : public InvalidArgument {
 public:
  InvalidJson(std::size_t offset, const std::string& reason)
      : InvalidArgument{"invalid JSON at byte " + std::to_string(offset) + ": " + reason},
        offset_{offset},
        reason_{reason} {}
  /// The first byte, counted from 0, that cannot be accepted.
  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }
  /// Why, without any of the content.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  std::size_t offset_;
  std::string reason_;
};

/// The record was made under a fingerprint scheme or HMAC key that this process was not given, so it cannot say
/// whether the request is the same one. Never answered as a mismatch. Nothing was changed. Stop: give the
/// fingerprinter the key of that scheme (`FingerprintOptions::also_hmac`, `also_sha256`), then call again.
class FingerprintUnavailable : public Error {
 public:
  explicit FingerprintUnavailable(const std::string& message) : Error{NextStep::stop, message} {}
};

/// The record was found, but its body cannot be decoded here: an encoding key or a codec that this process was not given, or
/// bytes that do not verify. The command is never run a second time. Nothing was changed and the transaction is usable.
/// Stop: give the process that key or codec (`ResponseRules`), then call again; or look at the row.
class BodyUnavailable : public Error {
 public:
  explicit BodyUnavailable(const std::string& message) : Error{NextStep::stop, message} {}
};

/// This very transaction already holds the key under another attempt. Nothing was changed and the transaction is
/// usable. Stop: one command runs inside another with the same key.
class AlreadyReserved : public Error {
 public:
  explicit AlreadyReserved(const std::string& message) : Error{NextStep::stop, message} {}
};

/// The record is no longer held under this fence and attempt: another worker took it over, or it was released.
///
/// Nothing was changed, and the transaction can no longer commit anything, also where this exception is swallowed.
/// Roll it back whole (never only to a savepoint that was set after the business writes). The answer for the
/// client is then what `find` shows in a new transaction: a settled record's response, else "in progress". Never
/// call `reserve` for it: that may acquire the key.
class LeaseLost : public Error {
 public:
  explicit LeaseLost(const std::string& message) : Error{NextStep::stop, message} {}
};

/// The record was already completed, failed or resolved. The same consequences as LeaseLost hold.
class AlreadySettled : public LeaseLost {
 public:
  using LeaseLost::LeaseLost;
};

/// A race for the key was lost in a way that only a new transaction can answer (SQLSTATE 40001, 40P01, or 23505 on
/// our own key under SERIALIZABLE). Roll back and run the whole transaction again.
class TransactionConflict : public Error {
 public:
  explicit TransactionConflict(const std::string& message) : Error{NextStep::retry_transaction, message} {}
};

/// The transaction was already committed, rolled back or aborted by an earlier error, so nothing was sent. Stop: the
/// call belongs inside an open transaction.
class TransactionClosed : public Error {
 public:
  explicit TransactionClosed(const std::string& message) : Error{NextStep::stop, message} {}
};

/// A COMMIT's answer was lost and could not be settled within the bounds given. The effect happened once or not at
/// all. Call again later with the same key: the record tells which.
class CommitUnknown : public Error {
 public:
  explicit CommitUnknown(const std::string& message) : Error{NextStep::retry_call, message} {}
};

/// A record cannot be settled this way yet: a call that was sent may still arrive. Nothing was changed and the
/// transaction is usable. Call again after the time that the message names.
class TooEarly : public Error {
 public:
  explicit TooEarly(const std::string& message) : Error{NextStep::retry_call, message} {}
};

/// What is stored cannot be used by this version of the library: the schema is missing or another version, or a
/// row holds a value that no version writes. Stop: apply the migrations, or look at the row.
class StoredDataError : public Error {
 public:
  explicit StoredDataError(const std::string& message) : Error{NextStep::stop, message} {}
};

}  // namespace v0
}  // namespace idem
